import type { Clock } from '../ports/clock.ts'

/** Milliseconds before the n-th retry (1, 2, …): doubling from `first` up to `most`. */
export function backOffMs(attempt: number, first = 50, most = 5_000): number {
  return Math.min(most, first * 2 ** Math.min(attempt - 1, 30))
}

/** Wakes a loop: by hand, at an instant, or when its signal aborts. */
export interface WakeSignal {
  /** Ends the rest that is on, or the next one. */
  readonly notify: () => void
  /** Resolves when rung, at the instant (ms since the epoch; null for no instant), or when the signal aborts. */
  readonly wait: (until: number | null) => Promise<void>
}

/** A bell over a clock. One loop rests on it at a time. */
export function createWakeSignal(clock: Clock, signal: AbortSignal): WakeSignal {
  let rung = false
  let wake: (() => void) | null = null
  const notify = () => {
    rung = true
    wake?.()
  }
  signal.addEventListener('abort', notify, { once: true })
  return {
    notify,
    wait: (until) =>
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
        if (until !== null) cancel = clock.schedule(until, notify)
      }),
  }
}

/** Resolves after some milliseconds, or at once when the signal aborts. */
export function sleep(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
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
    cancel = clock.schedule(clock.now() + ms, done)
  })
}

/** Lets timers and messages of the thread have their turn between two batches. */
export function yieldToEventLoop(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

/** What went wrong, as one sentence for a status. */
export function errorMessage(error: unknown): string {
  return error instanceof Error ? `${error.name}: ${error.message}` : String(error)
}

const UNAVAILABLE: ReadonlySet<string> = new Set(['LogUnavailable', 'StoreUnavailable', 'CarrierUnavailable'])

/** Whether an error says that a log, a store or the carrier is away, so that trying again later is right, however often. */
export function isUnavailable(error: unknown): boolean {
  return error instanceof Error && UNAVAILABLE.has(error.name)
}
