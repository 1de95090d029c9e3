import type { Clock } from '../../ports/clock.ts'
import type { OperationalStore } from '../../ports/operational-store.ts'
import { pause } from '../pause.ts'

const SWEEP_EVERY_MS = 60_000

/** Removes what has expired from the operational store, once a minute until the signal; one of several processes does. */
export async function runSweeps(options: {
  readonly ops: Pick<OperationalStore, 'claim' | 'sweep'>
  readonly clock: Clock
  readonly signal: AbortSignal
  /** Names this process among those that share the store. */
  readonly owner: string
}): Promise<void> {
  const { ops, clock, signal, owner } = options
  while (!signal.aborted) {
    const now = clock.now()
    try {
      if (await ops.claim('claim:sweep', owner, now + SWEEP_EVERY_MS, now)) await ops.sweep(now)
    } catch {
      // A store that is away is swept when it is back.
    }
    await pause(clock, SWEEP_EVERY_MS, signal)
  }
}
