import { monitorEventLoopDelay } from 'node:perf_hooks'
import { within } from '../../kernel/async/within.ts'
import type { Clock } from '../../ports/clock.ts'

/** How late the event loop of a thread ran its timers since the last question (s). */
export interface LoopLag {
  readonly p99: number
  readonly max: number
}

/** Between two samples (ms), which Node counts as part of each delay. Each wakes the thread, also one that is at rest. */
const SAMPLE_MS = 50

/** Measures the loop of the calling thread from now on. Returns the function that tells its lag since it was last called. */
export function measureLoopLag(): () => LoopLag {
  const delays = monitorEventLoopDelay({ resolution: SAMPLE_MS })
  delays.enable()
  const lagOf = (nanoseconds: number) => Math.max(0, nanoseconds / 1e9 - SAMPLE_MS / 1e3)
  return () => {
    const lag = { p99: lagOf(delays.percentile(99)), max: lagOf(delays.max) }
    delays.reset()
    return lag
  }
}

/** How long a thread may take to answer (ms) before it counts as stalled. */
const ANSWER_MS = 1_000

/**
 * The lag of another thread, which it is asked for. One that does not answer is stalled: its lag is then the time since it was asked.
 * @throws StoreUnavailable once it has ended
 */
export function watchLoopLag(ask: () => Promise<LoopLag>, clock: Clock): () => Promise<LoopLag> {
  let open: { readonly since: number; readonly answer: Promise<LoopLag> } | null = null
  return async () => {
    if (open === null) {
      const answer = ask()
      const done = () => {
        open = null
      }
      answer.then(done, done)
      open = { since: clock.now(), answer }
    }
    const { since, answer } = open
    const lag = await within(clock, ANSWER_MS, answer)
    if (lag !== null) return lag
    const seconds = (clock.now() - since) / 1_000
    return { p99: seconds, max: seconds }
  }
}
