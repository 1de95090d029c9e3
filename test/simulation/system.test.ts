import { describe, expect, test } from 'vitest'
import { WITHOUT_FAULTS } from '../support/simulation/profile.ts'
import { runSystem } from '../support/simulation/system.ts'
import { buildSimulatedWorld } from '../support/simulation/world.ts'
import { halves, testRuns } from './system-runs.ts'

/** Runs in which one process does everything. */
const ORDERED_SEEDS = 6

describe('the whole system in simulated time under faults', () => {
  testRuns(halves[0])

  test('queues the events of each call for each endpoint in their order while nothing fails', async () => {
    const world = await buildSimulatedWorld()
    const profile = { ...WITHOUT_FAULTS, processes: 1, endpoints: true }
    for (let seed = 1; seed <= ORDERED_SEEDS; seed += 1) {
      const run = await runSystem(world, { seed, profile })
      expect(run.violations).toEqual([])
      expect(run.events.some(({ type }) => type === 'DeliveryQueued')).toBe(true)
    }
  })

  test('gives the same events for the same seed', async () => {
    const world = await buildSimulatedWorld()
    for (const seed of [3, 4]) {
      const [one, other] = [await runSystem(world, { seed }), await runSystem(await buildSimulatedWorld(), { seed })]
      expect(other.digest).toBe(one.digest)
      expect(other.steps).toBe(one.steps)
    }
    const [three, four] = [await runSystem(world, { seed: 3 }), await runSystem(world, { seed: 4 })]
    expect(three.digest).not.toBe(four.digest)
  })
})
