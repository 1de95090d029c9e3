import type { Clock } from '../ports/clock.ts'

/** Milliseconds before the n-th retry (1, 2, …): doubling from `first` up to `most`. */
export function backOff(attempt: number, first = 50, most = 5_000): number {
  return Math.min(most, first * 2 ** Math.min(attempt - 1, 30))
}

/** Wakes a loop: by hand, at an instant, or when its signal aborts. */
export interface Bell {
  /** Ends the rest that is on, or the next one. */
  readonly ring: () => void
  /** Resolves when rung, at the instant (ms since the epoch; null for no instant), or when the signal aborts. */
  readonly rest: (until: number | null) => Promise<void>
}

/** A bell over a clock. One loop rests on it at a time. */
export function createBell(clock: Clock, signal: AbortSignal): Bell {
  let rung = false
  let wake: (() => void) | null = null
  const ring = () => {
    rung = true
    wake?.()
  }
  signal.addEventListener('abort', ring, { once: true })
  return {
    ring,
    rest: (until) =>
      new Promise((resolve) => {
        if (rung || signal.aborted) {
          rung = false
          resolve()
          return
        }
        let cancel = () => {}
        wake = () => {
          wake = null
          rung = false
          cancel()
          resolve()
        }
        if (until !== null) cancel = clock.at(until, ring)
      }),
  }
}

/** Resolves after some milliseconds, or at once when the signal aborts. */
export function pause(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) {
      resolve()
      return
    }
    let cancel = () => {}
    const done = () => {
      cancel()
      signal.removeEventListener('abort', done)
      resolve()
    }
    signal.addEventListener('abort', done, { once: true })
    cancel = clock.at(clock.now() + ms, done)
  })
}

/** Lets timers and messages of the thread have their turn between two batches. */
export function breathe(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

/** What went wrong, as one sentence for a status. */
export function sentenceOf(error: unknown): string {
  return error instanceof Error ? `${error.name}: ${error.message}` : String(error)
}

const AWAY: ReadonlySet<string> = new Set(['LogUnavailable', 'StoreUnavailable', 'CarrierUnavailable'])

/** Whether an error says that a log, a store or the carrier is away, so that trying again later is right, however often. */
export function isAway(error: unknown): boolean {
  return error instanceof Error && AWAY.has(error.name)
}
