import { type BackOff, backOffMs } from '../kernel/async/backoff.ts'
import { errorMessage } from '../kernel/async/errors.ts'
import type { WakeSignal } from '../kernel/async/wake-signal.ts'
import { yieldToEventLoop } from '../kernel/async/yield-to-event-loop.ts'
import type { Clock } from '../ports/clock.ts'

/** A loop of a runner. */
export interface RunLoop {
  /** Why the last turn failed; null when it did not. */
  readonly problem: () => string | null
  /** Resolves when the signal has aborted and the last turn and `onStop` are done. */
  readonly done: Promise<void>
}

/**
 * Runs turns until the signal aborts. A turn resolves to the instant (ms since the epoch) until which there is nothing
 * to do, or to null when there is more to do at once. A turn that throws, because log or store are unavailable, is
 * retried with back-off for as long as it takes.
 */
export function startRunLoop(options: {
  readonly turn: () => Promise<number | null>
  readonly wake: WakeSignal
  readonly clock: Clock
  readonly signal: AbortSignal
  /** Between turns that throw. */
  readonly backOff?: BackOff
  readonly onStop?: () => Promise<void>
}): RunLoop {
  const { turn, wake, clock, signal, backOff, onStop } = options
  let failures = 0
  let problem: string | null = null

  async function run(): Promise<void> {
    while (!signal.aborted) {
      try {
        const until = await turn()
        failures = 0
        problem = null
        if (until === null) await yieldToEventLoop()
        else await wake.wait(until)
      } catch (error) {
        failures += 1
        problem = errorMessage(error)
        await wake.wait(clock.now() + backOffMs(failures, backOff))
      }
    }
    await onStop?.()
  }

  return { problem: () => problem, done: run() }
}
