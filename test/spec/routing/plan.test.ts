import fc from 'fast-check'
import { Map as PersistentMap } from 'immutable'
import { describe, expect, it } from 'vitest'
import { orderedPlan } from '../../../src/domain/routing/plan.ts'
import { anotherTarget, callWorld, changeSteps } from '../../support/fixtures/call-world.ts'
import type { SetupStep } from '../../support/fixtures/workspace-fixture.ts'

const orderOf = (steps: readonly SetupStep[], seed = 1) => {
  const { reads, campaign } = callWorld(...steps)
  return orderedPlan(reads.workspace, campaign, seed).map(({ targetName }) => targetName)
}
const mode = (routingMode: string) => changeSteps.campaign({ routingMode })

describe('the targets of a plan', () => {
  it('are those in use with an active route; a paused one stays on the plan and is skipped later', () => {
    const { reads, campaign } = callWorld(
      ...anotherTarget(1, {}, { active: false }),
      ...anotherTarget(2),
      changeSteps.targetStatus('paused', 2),
      ...anotherTarget(3).filter(([{ name }]) => name !== 'set-target-status'),
      ...anotherTarget(4),
      changeSteps.targetStatus('archived', 4),
    )
    const names = orderedPlan(reads.workspace, campaign, 1).map(({ targetName }) => targetName)
    expect(names.toSorted()).toEqual(['Front desk', 'Target 2'])
  })

  it('have present prices and thresholds: the route’s price before the target’s, and 0 for a delivery target', () => {
    const { reads, campaign } = callWorld(
      changeSteps.target({ durationThresholdSeconds: 45 }),
      ...anotherTarget(1, { revenueCents: 0 }, { priority: 200, revenueOverrideCents: 900 }),
      ...anotherTarget(2, {}, { priority: 300, revenueOverrideCents: 900 }),
      ...anotherTarget(3, {}, { priority: 400, revenueOverrideCents: 0 }),
    )
    expect(orderedPlan(reads.workspace, campaign, 1)).toMatchObject([
      { targetName: 'Front desk', revenueCents: 4_000, durationThresholdSeconds: 45, priority: 100, weight: 100 },
      { targetName: 'Target 1', revenueCents: 0, durationThresholdSeconds: 0 },
      { targetName: 'Target 2', revenueCents: 900 },
      { targetName: 'Target 3', revenueCents: 0 },
    ])
  })

  it('are none for a campaign without routes', () => {
    const { reads, campaign } = callWorld()
    expect(orderedPlan({ ...reads.workspace, routes: PersistentMap() }, campaign, 1)).toEqual([])
  })
})

describe('a plan by priority', () => {
  it('puts the smaller priority first', () => {
    const steps = [...anotherTarget(1, {}, { priority: 99 }), ...anotherTarget(2, {}, { priority: 101 })]
    for (const seed of [1, 2, 3]) expect(orderOf(steps, seed)).toEqual(['Target 1', 'Front desk', 'Target 2'])
  })

  it('orders equal priorities at random by weight, weight 0 last', () => {
    const { reads, campaign } = callWorld(
      changeSteps.route({ weight: 300 }),
      ...anotherTarget(1, {}, { weight: 100 }),
      ...anotherTarget(2, {}, { weight: 0 }),
      ...anotherTarget(3, {}, { priority: 101, weight: 1_000 }),
    )
    let firsts = 0
    for (let seed = 0; seed < 2_000; seed += 1) {
      const names = orderedPlan(reads.workspace, campaign, seed).map(({ targetName }) => targetName)
      expect(names.slice(2)).toEqual(['Target 2', 'Target 3'])
      if (names[0] === 'Front desk') firsts += 1
    }
    expect(firsts / 2_000).toBeCloseTo(0.75, 1.1)
  })
})

describe('a weighted plan', () => {
  it('ignores priority; weight determines how often a target comes first', () => {
    const { reads, campaign } = callWorld(
      mode('weighted'),
      changeSteps.route({ weight: 100, priority: 1_000 }),
      ...anotherTarget(1, {}, { weight: 400, priority: 1 }),
      ...anotherTarget(2, {}, { weight: 0, priority: 1 }),
    )
    let firsts = 0
    for (let seed = 0; seed < 2_000; seed += 1) {
      const names = orderedPlan(reads.workspace, campaign, seed).map(({ targetName }) => targetName)
      expect(names[2]).toBe('Target 2')
      if (names[0] === 'Front desk') firsts += 1
    }
    expect(firsts / 2_000).toBeCloseTo(0.2, 1.1)
  })
})

describe('a plan by the highest bid', () => {
  it('puts the highest price first, ties by priority, then by the older route', () => {
    const steps = [
      mode('highest_bid'),
      ...anotherTarget(1, { revenueCents: 4_000 }, { priority: 50 }),
      ...anotherTarget(2, { revenueCents: 4_000 }),
      ...anotherTarget(3, { revenueCents: 5_000 }),
    ]
    for (const seed of [1, 2, 3, 4])
      expect(orderOf(steps, seed)).toEqual(['Target 3', 'Target 1', 'Front desk', 'Target 2'])
  })
})

describe('a plan of the same inputs', () => {
  const steps = Array.from({ length: 11 }, (_, n) => anotherTarget(n + 1)).flat()

  it('is the same in any order in which the routes were created', () => {
    for (const routingMode of ['priority', 'weighted']) {
      const { reads, campaign, campaignId } = callWorld(mode(routingMode), ...steps)
      const routes = [...(reads.workspace.routes.get(campaignId)?.entries() ?? [])]
      fc.assert(
        fc.property(fc.shuffledSubarray(routes, { minLength: routes.length }), fc.nat(), (shuffled, seed) => {
          const other = { ...reads.workspace, routes: PersistentMap([[campaignId, PersistentMap(shuffled)]]) }
          expect(orderedPlan(other, campaign, seed)).toEqual(orderedPlan(reads.workspace, campaign, seed))
        }),
        { numRuns: 30 },
      )
    }
  })
})
