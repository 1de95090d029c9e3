import { backOffMs } from '../../kernel/async/backoff.ts'
import { sleep } from '../../kernel/async/sleep.ts'
import type { Clock } from '../../ports/clock.ts'
import { START } from '../../ports/event-log.ts'
import type { ReadStore } from '../../ports/read-store.ts'
import { readActivePositions } from './build-alias.ts'

/** Known checkpoints of the projections, and a barrier for read-your-writes (Supplement 1.6, 1.7). */
export interface CheckpointTracker {
  /** Position of a projection; START when unknown. */
  readonly positionOf: (name: string) => number
  /** The lowest position of the projections; null for an empty list. */
  readonly lowestOf: (names: readonly string[]) => number | null
  /** Records that a projection's documents reflect a position; lower positions are ignored. */
  readonly advance: (name: string, position: number) => void
  /** Resolves to true when all projections have reached the position, to false after `timeoutMs`. */
  readonly waitFor: (names: readonly string[], position: number, timeoutMs: number) => Promise<boolean>
}

interface Waiter {
  readonly names: readonly string[]
  readonly position: number
  readonly done: () => void
}

/** Creates a tracker that knows no position yet. */
export function createCheckpointTracker(clock: Clock): CheckpointTracker {
  const known = new Map<string, number>()
  // Waiters by the first projection that they still wait for.
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

/** Polls the store's checkpoints until the signal, while another process runs the projections. */
export async function pollCheckpoints(options: {
  readonly store: ReadStore
  readonly positions: Pick<CheckpointTracker, 'advance'>
  /** Whether polling is needed now; default: always. */
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
      // Queries report an unavailable store; here it only means that no progress is known.
      failures += 1
    }
    await sleep(clock, failures === 0 ? intervalMs : backOffMs(failures), signal)
  }
}
