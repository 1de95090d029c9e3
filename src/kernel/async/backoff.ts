import { sleep } from './sleep.ts'
import type { Timer } from './timer.ts'

/** Delays of a back-off, in milliseconds. */
export interface BackOff {
  readonly firstMs?: number
  readonly maxMs?: number
  /** From 0 to 1: how much of the upper half of the delay is waited. 1, the default, waits the whole delay. */
  readonly jitter?: number
}

/**
 * Delay before the n-th retry (1, 2, …) in milliseconds: doubles from `firstMs` (50) up to `maxMs` (5,000). With jitter
 * it lies between half of that and the whole, so that processes which failed together do not retry together.
 */
export function backOffMs(attempt: number, { firstMs = 50, maxMs = 5_000, jitter = 1 }: BackOff = {}): number {
  const delay = Math.min(maxMs, firstMs * 2 ** Math.min(Math.max(attempt, 1) - 1, 30))
  return delay * (0.5 + jitter / 2)
}

/** Waits for the delay before the n-th retry, or until the signal aborts. */
export function waitBeforeRetry(timer: Timer, attempt: number, signal: AbortSignal, backOff?: BackOff): Promise<void> {
  return sleep(timer, backOffMs(attempt, backOff), signal)
}
