import type { Clock } from '../../ports/clock.ts'
import { START } from '../../ports/event-log.ts'
import type { ReadStore } from '../../ports/read-store.ts'
import { backOff, pause } from '../pause.ts'
import { activePositions } from './build-names.ts'

/** How far each projection has read, as this process knows it, and waiting for it (Supplement 1.6, 1.7). */
export interface Positions {
  /** START for a projection that nothing is known of. */
  readonly of: (name: string) => number
  /** The position that all of them have passed; null for none of them. */
  readonly least: (names: readonly string[]) => number | null
  /** Tells that a projection's documents stand at a position; going back is ignored. */
  readonly advance: (name: string, position: number) => void
  /** True as soon as all have read to the position; false when they have not within `timeoutMs`. */
  readonly wait: (names: readonly string[], position: number, timeoutMs: number) => Promise<boolean>
}

interface Waiter {
  readonly names: readonly string[]
  readonly position: number
  readonly done: () => void
}

/** Positions, all unknown at first. */
export function createPositions(clock: Clock): Positions {
  const known = new Map<string, number>()
  // Each waiter stands with the first projection that it still waits for.
  const waiting = new Map<string, Set<Waiter>>()
  const of = (name: string) => known.get(name) ?? START
  const behind = (waiter: Waiter) => waiter.names.find((name) => of(name) < waiter.position)

  const stand = (waiter: Waiter) => {
    const name = behind(waiter)
    if (name === undefined) return waiter.done()
    const others = waiting.get(name)
    if (others) others.add(waiter)
    else waiting.set(name, new Set([waiter]))
  }

  return {
    of,
    least: (names) => (names.length === 0 ? null : Math.min(...names.map(of))),
    advance(name, position) {
      if (position <= of(name)) return
      known.set(name, position)
      const here = waiting.get(name)
      if (!here) return
      for (const waiter of here) {
        if (waiter.position > position) continue
        here.delete(waiter)
        stand(waiter)
      }
    },
    wait: (names, position, timeoutMs) =>
      new Promise((resolve) => {
        if (names.every((name) => of(name) >= position)) return resolve(true)
        let cancel = () => {}
        const waiter: Waiter = {
          names,
          position,
          done: () => {
            cancel()
            resolve(true)
          },
        }
        cancel = clock.at(clock.now() + timeoutMs, () => {
          for (const others of waiting.values()) others.delete(waiter)
          resolve(false)
        })
        stand(waiter)
      }),
  }
}

/** Keeps positions from the store's checkpoints, while the projections are run by another process, until the signal. */
export async function pollPositions(options: {
  readonly store: ReadStore
  readonly positions: Pick<Positions, 'advance'>
  /** Whether they are needed just now; always, by default. */
  readonly wanted?: () => boolean
  readonly clock: Clock
  readonly signal: AbortSignal
  readonly intervalMs?: number
}): Promise<void> {
  const { store, positions, clock, signal, wanted = () => true, intervalMs = 25 } = options
  let failures = 0
  while (!signal.aborted) {
    try {
      if (wanted()) for (const [name, position] of await activePositions(store)) positions.advance(name, position)
      failures = 0
    } catch {
      // The queries themselves report a store that is away; here it only means that nothing is known to have moved.
      failures += 1
    }
    await pause(clock, failures === 0 ? intervalMs : backOff(failures), signal)
  }
}
