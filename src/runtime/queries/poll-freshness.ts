import type { Timer } from '../../kernel/async/timer.ts'
import { READ_WAIT_MS } from '../projections/checkpoint-tracker.ts'

/** Polls that have been frequent for so long (ms) tell of what changed before. */
const SETTLED_MS = 100

/**
 * Creates the question whether polled positions are fresh enough to judge a cached response by. They are polled seldom while nobody
 * asks: the question makes the polls frequent by `hurry`, for as long as it is asked, and is answered with no until they have been so
 * for a moment.
 */
export function createPollFreshness(clock: Pick<Timer, 'now'>, hurry: () => void): () => boolean {
  let since = Number.NEGATIVE_INFINITY
  let until = Number.NEGATIVE_INFINITY
  return () => {
    const now = clock.now()
    if (now >= until) since = now
    // Not with every question, which would cost a message to another thread.
    if (now >= until - READ_WAIT_MS / 2) {
      until = now + READ_WAIT_MS
      hurry()
    }
    return now - since >= SETTLED_MS
  }
}
