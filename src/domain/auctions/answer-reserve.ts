import { PING } from '../shared/limits.ts'

/** How long it takes until half of what was seen is forgotten (ms). */
const HALF_LIFE_MS = 5_000
/** What is kept, as a multiple of what was seen. */
const MARGIN = 4
/** The most that is remembered (ms): more would reserve no more, of the longest budget half, but be forgotten later. */
const MOST_MS = PING.tmaxMs.max / 2 / MARGIN

/** What answers need beyond the time of their bidders, as lately seen. Times are in ms. */
export interface AnswerReserve {
  /** Records how long after the end of its bidders' time an auction was answered. */
  readonly note: (ms: number, now: number) => void
  /** How long before its end an auction has to stop waiting for bidders. */
  readonly at: (now: number) => number
}

/** Creates a reserve that rises with the longest time at once, and falls slowly. */
export function createAnswerReserve(): AnswerReserve {
  let longest = 0
  let seenAt = 0
  const remembered = (now: number) => longest * 0.5 ** (Math.max(0, now - seenAt) / HALF_LIFE_MS)
  return {
    note(ms, now) {
      if (ms <= remembered(now)) return
      longest = Math.min(ms, MOST_MS)
      seenAt = now
    },
    at: (now) => MARGIN * remembered(now),
  }
}

/** Bidders that would get less than this share of their time are not asked: they would fail, and count as failing, by this process's delay. */
const LEAST_SHARE = 1 / 4

/** The time (ms) that bidders get of what a decision has given them, where `leftMs` are left; 0: they are not asked. */
export function biddersTime(givenMs: number, leftMs: number): number {
  return leftMs < givenMs * LEAST_SHARE ? 0 : Math.min(givenMs, leftMs)
}
