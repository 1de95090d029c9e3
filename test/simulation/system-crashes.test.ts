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
}
const SEED = 11

describe.each([false, true])('a process that dies over an append (written: %s)', (landed) => {
  test('leaves nothing undone at any append of a run: another process recovers its work', {
    timeout: 180_000,
  }, async () => {
    const world = await buildSimulatedWorld()
    const whole = await runSystem(world, { seed: SEED, profile: CALM })
    expect([whole.violations, whole.crashes]).toEqual([[], 0])
    for (let append = 1; append <= whole.appends; append += 1) {
      const run = await runSystem(world, { seed: SEED, profile: CALM, dyingAt: { append, landed } })
      expect([append, run.violations.length > 0 ? replayOf(run) : null, run.crashes]).toEqual([append, null, 1])
    }
  })
})
