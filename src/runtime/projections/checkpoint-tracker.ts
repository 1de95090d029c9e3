import { backOffMs } from '../../kernel/async/backoff.ts'
import { sleep } from '../../kernel/async/sleep.ts'
import type { Clock } from '../../ports/clock.ts'
import { START } from '../../ports/event-log.ts'
import type { ReadStore } from '../../ports/read-store.ts'
import { readActivePositions } from './build-alias.ts'

/** How far each projection has read, as this process knows it, and waiting for it (Supplement 1.6, 1.7). */
export interface CheckpointTracker {
  /** START for a projection that nothing is known of. */
  readonly positionOf: (name: string) => number
  /** The position that all of them have passed; null for none of them. */
  readonly lowestOf: (names: readonly string[]) => number | null
  /** Tells that a projection's documents stand at a position; going back is ignored. */
  readonly advance: (name: string, position: number) => void
  /** True as soon as all have read to the position; false when they have not within `timeoutMs`. */
  readonly waitFor: (names: readonly string[], position: number, timeoutMs: number) => Promise<boolean>
}

interface Waiter {
  readonly names: readonly string[]
  readonly position: number
  readonly done: () => void
}

/** Positions, all unknown at first. */
export function createCheckpointTracker(clock: Clock): CheckpointTracker {
  const known = new Map<string, number>()
  // Each waiter stands with the first projection that it still waits for.
  const waiting = new Map<string, Set<Waiter>>()
  const positionOf = (name: string) => known.get(name) ?? START
  const behind = (waiter: Waiter) => waiter.names.find((name) => positionOf(name) < waiter.position)

  const enqueue = (waiter: Waiter) => {
    const name = behind(waiter)
    if (name === undefined) return waiter.done()
    const others = waiting.get(name)
    if (others) others.add(waiter)
    else waiting.set(name, new Set([waiter]))
  }

  return {
    positionOf,
    lowestOf: (names) => (names.length === 0 ? null : Math.min(...names.map(positionOf))),
    advance(name, position) {
      if (position <= positionOf(name)) return
      known.set(name, position)
      const here = waiting.get(name)
      if (!here) return
      for (const waiter of here) {
        if (waiter.position > position) continue
        here.delete(waiter)
        enqueue(waiter)
      }
    },
    waitFor: (names, position, timeoutMs) =>
      new Promise((resolve) => {
        if (names.every((name) => positionOf(name) >= position)) return resolve(true)
        let cancel = () => {}
        const waiter: Waiter = {
          names,
          position,
          done: () => {
            cancel()
            resolve(true)
          },
        }
        cancel = clock.schedule(clock.now() + timeoutMs, () => {
          for (const others of waiting.values()) others.delete(waiter)
          resolve(false)
        })
        enqueue(waiter)
      }),
  }
}

/** Keeps positions from the store's checkpoints, while the projections are run by another process, until the signal. */
export async function pollCheckpoints(options: {
  readonly store: ReadStore
  readonly positions: Pick<CheckpointTracker, 'advance'>
  /** Whether they are needed just now; always, by default. */
  readonly isNeeded?: () => boolean
  readonly clock: Clock
  readonly signal: AbortSignal
  readonly intervalMs?: number
}): Promise<void> {
  const { store, positions, clock, signal, isNeeded = () => true, intervalMs = 25 } = options
  let failures = 0
  while (!signal.aborted) {
    try {
      if (isNeeded()) for (const [name, position] of await readActivePositions(store)) positions.advance(name, position)
      failures = 0
    } catch {
      // The queries themselves report a store that is away; here it only means that nothing is known to have moved.
      failures += 1
    }
    await sleep(clock, failures === 0 ? intervalMs : backOffMs(failures), signal)
  }
}
