import { sleep } from '../../kernel/async/sleep.ts'
import type { Clock } from '../../ports/clock.ts'
import type { OperationalStore } from '../../ports/operational-store.ts'

const CLEAN_EVERY_MS = 60_000

/** Deletes expired entries of the operational store, once a minute until the signal, in one of the processes that share it. */
export async function runExpiryCleaner(options: {
  readonly ops: Pick<OperationalStore, 'claim' | 'deleteExpired'>
  readonly clock: Clock
  readonly signal: AbortSignal
  /** Name of this process among those that share the store. */
  readonly owner: string
}): Promise<void> {
  const { ops, clock, signal, owner } = options
  while (!signal.aborted) {
    const now = clock.now()
    try {
      if (await ops.claim('claim:sweep', owner, now + CLEAN_EVERY_MS, now)) await ops.deleteExpired(now)
    } catch {
      // The next turn cleans what this one could not, when the store is available again.
    }
    await sleep(clock, CLEAN_EVERY_MS, signal)
  }
}
