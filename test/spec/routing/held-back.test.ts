import { describe, expect, it } from 'vitest'
import {
  anotherTarget,
  bidderSteps,
  callWorld,
  changed,
  changeSteps,
  routeArrival,
} from '../../support/fixtures/call-world.ts'

const judged = { judgesHeldBack: true }
const blocking = callWorld(
  changeSteps.campaign({ anonymousPolicy: 'block' }),
  ...anotherTarget(1, {}, { priority: 200 }),
)

/** What the decision on an arrival says was held back. */
function heldBackIn(arrival: ReturnType<typeof routeArrival>): unknown {
  const [event] = Array.isArray(arrival.outcome) ? arrival.outcome : []
  return event?.data.heldBack
}

describe('what was held back of a call that no target takes', () => {
  it('is, at a gate, the first target of the plan that could have taken the call', () => {
    const target = { id: blocking.targetId(), name: 'Front desk' }
    const held = { reason: 'anonymous_blocked', target, revenueCents: 4_000 }
    expect(heldBackIn(routeArrival(blocking, { ...judged, caller: null }))).toEqual(held)
    const paused = changed(blocking, changeSteps.targetStatus('paused'))
    expect(heldBackIn(routeArrival(paused, { ...judged, caller: null }))).toMatchObject({
      target: { name: 'Target 1' },
      revenueCents: 3_000,
    })
  })

  it('is, where every target was skipped, the first with a single reason', () => {
    const world = callWorld(...anotherTarget(1, { states: ['TX'] }, { priority: 200 }))
    const only = changed(world, changeSteps.target({ states: ['NY'] }))
    expect(heldBackIn(routeArrival(only, judged))).toMatchObject({ reason: 'state', target: { name: 'Front desk' } })
    const both = changed(only, changeSteps.targetStatus('paused'))
    expect(heldBackIn(routeArrival(both, judged))).toEqual({
      reason: 'state',
      target: { id: world.targetId(1), name: 'Target 1' },
      revenueCents: 3_000,
    })
  })

  it('is nothing where no target would have taken the call, and where only a bidder is free', () => {
    const world = callWorld(changeSteps.campaign({ anonymousPolicy: 'block' }), ...bidderSteps(1))
    const free = changed(world, changeSteps.targetStatus('paused'))
    expect(heldBackIn(routeArrival(free, { ...judged, caller: null }))).toBeUndefined()
  })

  it('is not judged for a call that a target takes, nor in the replay of an earlier decision', () => {
    expect(heldBackIn(routeArrival(blocking, judged))).toBeUndefined()
    expect(heldBackIn(routeArrival(blocking, { caller: null }))).toBeUndefined()
  })
})
