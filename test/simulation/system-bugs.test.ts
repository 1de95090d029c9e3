import { expect, test } from 'vitest'
import { bugs } from '../support/simulation/bugs.ts'
import type { SimulationRun } from '../support/simulation/system.ts'
import { runSeeds } from './system.ts'

/** Runs within which a bug must be found. */
const SEEDS = 100

test.each([
  [bugs.forgottenCap, /over its dailyCap/],
  [bugs.forgottenPosts, /had \d+ calls at once, over|took \d+ calls in/],
  [bugs.forgottenReservation, /had \d+ calls at once, over|took \d+ calls in/],
  [bugs.claimedTwice, /claimed the offer of \S+ which \S+ has claimed already/],
  [bugs.settledTwice, /CallSettled of call-\S+ happened twice/],
  [bugs.firedTwice, /was queued for \S+ once too often/],
  [bugs.unrecordedAttempt, /Attempt 1 of req_\w+ \(\S+\) to \S+ is not in the log/],
  [bugs.lostRelease, /is open in the ledger|has \d+ live/],
])('$name is found', { timeout: 120_000 }, async (bug, sentence) => {
  let found: SimulationRun | null = null
  await runSeeds({ from: 1, count: SEEDS }, bug, (run) => {
    if (run.violations.length > 0) found = run
    return found !== null
  })
  expect(found).toMatchObject({ violations: expect.arrayContaining([expect.stringMatching(sentence)]) })
})
