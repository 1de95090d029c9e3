import { describe, expect, it } from 'vitest'
import { changeBuyer } from '../../../commands/demand/change-buyer.ts'
import { createBuyer } from '../../../commands/demand/create-buyer.ts'
import { setBuyerStatus } from '../../../commands/demand/set-buyer-status.ts'
import { workspace } from '../../../src/domain/configuration/workspace.ts'
import { given, idOf, mintedId, NOW } from '../../support/fixtures/spec.ts'
import { buyerIn, emptyWorkspace, workspaceFixture } from '../../support/fixtures/workspace-fixture.ts'

const named = (name: string) => [createBuyer, () => ({ name })] as const

describe('create-buyer', () => {
  it('adds an active buyer in the workspace’s zone, with every cap unlimited', () => {
    given(workspace, emptyWorkspace())
      .when(createBuyer, { name: '  Solar Co ', dailyCap: 10 })
      .gives([
        {
          type: 'BuyerCreated',
          data: {
            buyer: {
              id: mintedId(0),
              name: 'Solar Co',
              status: 'active',
              timezone: 'America/New_York',
              dailyCap: 10,
              concurrencyCap: 0,
              createdAt: NOW,
            },
          },
        },
      ])
  })

  it('refuses a name that another buyer has, whatever its case', () => {
    given(workspace, emptyWorkspace('scale', named('Solar Co')))
      .when(createBuyer, { name: 'SOLAR co' })
      .gives({ refused: 'conflict', details: { name: 'SOLAR co' } })
  })

  it('refuses a zone that does not exist, and an offset', () => {
    for (const timezone of ['Mars/Olympus', '+01:00'])
      expect(
        given(workspace, emptyWorkspace()).when(createBuyer, { name: 'Solar Co', timezone }).outcome,
      ).toMatchObject({
        refused: 'validation-error',
        details: { timezone: expect.any(String) },
      })
  })

  it('refuses one more buyer than the plan allows, and says how many', () => {
    const five = emptyWorkspace('starter', ...['AA', 'BB', 'CC', 'DD', 'EE'].map(named))
    given(workspace, five.slice(0, 5))
      .when(createBuyer, { name: 'FF' })
      .gives([{ type: 'BuyerCreated' }])
    given(workspace, five)
      .when(createBuyer, { name: 'FF' })
      .gives({ refused: 'plan-upgrade-required', details: { feature: 'maxBuyers', limit: 5, current: 5 } })
  })

  it('bounds names and caps on both sides', () => {
    const accepts = (input: object) => createBuyer.input.safeParse({ name: 'Solar Co', ...input }).success
    expect([accepts({ name: 'ab' }), accepts({ name: 'a' })]).toEqual([true, false])
    expect([accepts({ name: 'a'.repeat(120) }), accepts({ name: 'a'.repeat(121) })]).toEqual([true, false])
    expect([accepts({ concurrencyCap: 100_000 }), accepts({ concurrencyCap: 100_001 })]).toEqual([true, false])
    expect([accepts({ dailyRevenueCapCents: 100_000_000_000 }), accepts({ hourlyCap: -1 })]).toEqual([true, false])
    expect([accepts({ monthlyCap: 1.5 }), accepts({ monthlyCap: '5' })]).toEqual([false, false])
  })
})

describe('change-buyer', () => {
  const events = emptyWorkspace('scale', named('Solar Co'), named('Roof Co'))
  const buyerId = buyerIn(events)

  it('records only what changes, before and after', () => {
    given(workspace, events)
      .when(changeBuyer, { buyerId, changes: { dailyCap: 5, name: 'Solar Co' } })
      .gives([{ type: 'BuyerChanged', data: { before: { dailyCap: 0 }, after: { dailyCap: 5 } } }])
    const { outcome } = given(workspace, events).when(changeBuyer, { buyerId, changes: { name: 'Solar Co' } })
    expect(outcome).toEqual([])
  })

  it('changes the buyer in the state', () => {
    const { state } = given(workspace, events).when(changeBuyer, { buyerId, changes: { company: 'Sun Inc' } })
    expect(state.buyers.get(buyerId)).toMatchObject({ company: 'Sun Inc', name: 'Solar Co', updatedAt: NOW })
  })

  it('refuses an empty change, an unknown buyer, another’s name and an archived buyer', () => {
    const archived = given(workspace, events).when(setBuyerStatus, { buyerId, status: 'archived' }).events
    const changes = { dailyCap: 5 }
    given(workspace, events).when(changeBuyer, { buyerId, changes: {} }).gives({ refused: 'bad-request' })
    given(workspace, events)
      .when(changeBuyer, { buyerId: idOf(9), changes })
      .gives({ refused: 'buyer-not-found' })
    given(workspace, events)
      .when(changeBuyer, { buyerId, changes: { name: 'roof co' } })
      .gives({ refused: 'conflict' })
    given(workspace, archived).when(changeBuyer, { buyerId, changes }).gives({ refused: 'conflict' })
  })
})

describe('set-buyer-status', () => {
  it('records the number of affected active targets when paused, and changes none of them', () => {
    const events = workspaceFixture()
    const { outcome, state } = given(workspace, events).when(setBuyerStatus, {
      buyerId: buyerIn(events),
      status: 'paused',
      note: 'Holiday',
    })
    expect(outcome).toMatchObject([{ data: { from: 'active', to: 'paused', note: 'Holiday', targetsAffected: 1 } }])
    expect([...state.targets.values()].map(({ status }) => status)).toEqual(['active'])
  })

  it('writes nothing when the buyer already has the status', () => {
    const events = workspaceFixture()
    given(workspace, events)
      .when(setBuyerStatus, { buyerId: buyerIn(events), status: 'active' })
      .gives([])
  })

  it('restores an archived buyer only while its name is free', () => {
    const first = emptyWorkspace('scale', named('Solar Co'))
    const buyerId = buyerIn(first)
    const archived = given(workspace, first).when(setBuyerStatus, { buyerId, status: 'archived' })
    archived.gives([{ type: 'BuyerStatusChanged' }])
    given(workspace, archived.events)
      .when(setBuyerStatus, { buyerId, status: 'paused' })
      .gives([{ data: { to: 'paused' }, type: 'BuyerStatusChanged' }])
    const other = {
      type: 'BuyerCreated',
      data: { buyer: { ...archived.state.buyers.get(buyerId), id: idOf(5), status: 'active' } },
    }
    given(workspace, [...archived.events, other])
      .when(setBuyerStatus, { buyerId, status: 'active' })
      .gives({ refused: 'conflict', details: { name: 'Solar Co' } })
  })
})
