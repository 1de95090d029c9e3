import { sleep } from '../../kernel/async/sleep.ts'
import type { Clock } from '../../ports/clock.ts'
import type { PauseWork } from './running-lane.ts'

/**
 * While live events arrive, work in the background pauses for as long as its last piece took, times this, and never longer (ms): a
 * piece that a server's collection of garbage held up is no reason to pause for seconds.
 */
const PAUSE = { factor: 12, maxMs: 500 } as const
/** How long after a live event (ms) others arrive as well. */
export const ARRIVING_MS = 2_000

/** Pauses for a multiple of the time since the last one, up to a limit. `share`: how much of that, from 0 to 1. */
export function createPause(clock: Clock, signal: AbortSignal, share: () => number): PauseWork {
  let since = clock.now()
  return async () => {
    const ms = share() * Math.min(PAUSE.maxMs, PAUSE.factor * (clock.now() - since))
    if (ms > 0) await sleep(clock, ms, signal)
    since = clock.now()
  }
}
