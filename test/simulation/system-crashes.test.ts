import { describe, expect, test } from 'vitest'
import { type Profile, WITHOUT_FAULTS } from '../support/simulation/profile.ts'
import { runSystem } from '../support/simulation/system.ts'
import { buildSimulatedWorld } from '../support/simulation/world.ts'
import { replayOf } from './system.ts'

/** No faults except the one crash. */
const CALM: Partial<Profile> = {
  processes: 2,
  shards: [1, 4, 2],
  calls: 3,
  pings: 2,
  span: 20,
  aftermath: 60,
  ...WITHOUT_FAULTS,
  endpoints: false,
}
/** One call, which endpoints hear of. */
const HEARD: Partial<Profile> = {
  ...CALM,
  calls: 1,
  pings: 0,
  timeStepsMs: [500, 2_000],
  endpoints: true,
  receivers: { fails: 0.3, silent: 0.05, breaks: 0.1 },
}
const SEED = 11

describe.each([
  ['calls', false, CALM],
  ['calls', true, CALM],
  ['deliveries', false, HEARD],
  ['deliveries', true, HEARD],
] as const)('a process that dies over an append of %s (written: %s)', (_what, landed, profile) => {
  test('leaves nothing undone at any append of a run: another process recovers its work', {
    timeout: 180_000,
  }, async () => {
    const world = await buildSimulatedWorld()
    const whole = await runSystem(world, { seed: SEED, profile })
    expect([whole.violations, whole.crashes]).toEqual([[], 0])
    for (let append = 1; append <= whole.appends; append += 1) {
      const run = await runSystem(world, { seed: SEED, profile, dyingAt: { append, landed } })
      expect([append, run.violations.length > 0 ? replayOf(run) : null, run.crashes]).toEqual([append, null, 1])
    }
  })
})
