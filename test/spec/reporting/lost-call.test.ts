import { describe, expect, it } from 'vitest'
import { lostAtEnd, lostUnrouted, MISSED } from '../../../src/domain/reporting/lost-call.ts'
import { idOf } from '../../support/fixtures/spec.ts'

const offered = (n: number) => ({ targetId: idOf(n), targetName: `Target ${n}`, cents: 100 * n })
const dials = { first: offered(1), last: offered(2) }
const nobody = { targetId: null, targetName: null, cents: 0 }

describe('what is lost with a call', () => {
  it('is what the decision says was held back', () => {
    const held = { reason: 'capped', target: { id: idOf(3), name: 'Third' }, revenueCents: 70 } as const
    const lost = { reason: 'capped', targetId: idOf(3), targetName: 'Third', cents: 70 }
    expect(lostUnrouted('no_eligible_target', held, null)).toEqual(lost)
    expect(lostAtEnd('unrouted', lost, null)).toEqual(lost)
  })

  it('is the first dial where all targets failed, and the last one of a missed call', () => {
    expect(lostUnrouted('all_targets_failed', undefined, dials)).toEqual({
      reason: 'all_targets_failed',
      ...offered(1),
    })
    expect(lostAtEnd('missed', null, dials)).toEqual({ reason: MISSED, ...offered(2) })
  })

  it('is not judged where no target would have taken the call', () => {
    expect(lostUnrouted('no_targets', undefined, null)).toEqual({ reason: 'no_targets', ...nobody })
    expect(lostAtEnd('missed', null, null)).toEqual({ reason: MISSED, ...nobody })
  })

  it('is nothing of a call that a buyer took', () => {
    expect(lostAtEnd('connected', null, dials)).toBeNull()
  })
})
