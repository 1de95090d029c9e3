import { describe, expect, it } from 'vitest'
import { removeRoute } from '../../../commands/campaigns/remove-route.ts'
import { setCampaignStatus } from '../../../commands/campaigns/set-campaign-status.ts'
import { setRoute } from '../../../commands/campaigns/set-route.ts'
import { setTargetStatus } from '../../../commands/demand/set-target-status.ts'
import { assignNumber } from '../../../commands/supply/assign-number.ts'
import { routeKey } from '../../../src/domain/campaigns/route.ts'
import { changedRecords } from '../../../src/domain/configuration/entity-tags.ts'
import { workspace } from '../../../src/domain/configuration/workspace.ts'
import { wallet } from '../../../src/domain/money/wallet.ts'
import { CENTS, ROUTE } from '../../../src/domain/shared/limits.ts'
import { given, idOf, recordedEvents } from '../../support/fixtures/spec.ts'
import { campaignIn, numberIn, targetIn, workspaceFixture } from '../../support/fixtures/workspace-fixture.ts'

const events = workspaceFixture()
const place = { campaignId: campaignIn(events), targetId: targetIn(events) }
const set = (settings: object, held = events) => given(workspace, held).when(setRoute, { ...place, settings })
const removed = given(workspace, events).when(removeRoute, place)

const reads = { wallet: { ...wallet.initial, balanceCents: 1 } }
const { campaignId } = place
const archivedCampaign = (['live', 'paused'] as const).reduce(
  (held, status) => given(workspace, held).when(setCampaignStatus, { campaignId, status }, { reads }).events,
  given(workspace, events).when(assignNumber, { numberId: numberIn(events), campaignId: null }).events,
)
const shelved = given(workspace, archivedCampaign).when(setCampaignStatus, { campaignId, status: 'archived' }).events
const archivedTarget = given(workspace, events).when(setTargetStatus, { targetId: place.targetId, status: 'archived' })

describe('set-route', () => {
  it('adds a target to a plan with the default settings', () => {
    set({}, removed.events).gives([
      {
        type: 'RouteSet',
        data: {
          before: null,
          route: { ...place, priority: 100, weight: 100, active: true, revenueOverrideCents: null },
          campaignName: 'Solar West',
          targetName: 'Front desk',
        },
      },
    ])
  })

  it('changes the requested fields of a route, and writes nothing for equal values', () => {
    const before = { priority: 100, weight: 100, active: true, revenueOverrideCents: null }
    set({ weight: 0 }).gives([{ type: 'RouteSet', data: { before, route: { ...before, weight: 0 } } }])
    set({}).gives([])
    set({ priority: 100 }).gives([])
  })

  it('refuses unknown records before archived ones', () => {
    given(workspace, shelved)
      .when(setRoute, { ...place, targetId: idOf(9), settings: {} })
      .gives({ refused: 'target-not-found' })
    given(workspace, shelved)
      .when(setRoute, { ...place, campaignId: idOf(9), settings: {} })
      .gives({ refused: 'campaign-not-found' })
    set({}, shelved).gives({ refused: 'conflict', message: 'Campaign is archived. Restore it first.' })
    set({}, archivedTarget.events).gives({ refused: 'conflict', message: 'Target is archived. Restore it first.' })
  })

  it.each<[string, number, number]>([
    ['priority', ROUTE.priority.min, ROUTE.priority.max],
    ['weight', ROUTE.weight.min, ROUTE.weight.max],
    ['revenueOverrideCents', 0, CENTS.price],
  ])('takes a %s in its range', (field, min, max) => {
    const taken = (value: unknown) => setRoute.input.safeParse({ ...place, settings: { [field]: value } }).success
    expect([min - 1, min, max, max + 1, min + 0.5, String(max)].map(taken)).toEqual([
      false,
      true,
      true,
      false,
      false,
      false,
    ])
  })
})

describe('remove-route', () => {
  it('removes a target from a plan, once', () => {
    removed.gives([{ type: 'RouteRemoved', data: { ...place, campaignName: 'Solar West', targetName: 'Front desk' } }])
    given(workspace, removed.events).when(removeRoute, place).gives({ refused: 'route-not-found' })
  })

  it('does not change the plan of an archived campaign', () => {
    given(workspace, shelved).when(removeRoute, place).gives({ refused: 'conflict' })
  })
})

describe('the record of a route', () => {
  it('changes with its settings, and when its archived target leaves every plan', () => {
    const key = routeKey(place.campaignId, place.targetId)
    const last = (held: typeof events) => recordedEvents(workspace, held).at(-1)
    const touched = (held: typeof events) => {
      const event = last(held)
      return event && changedRecords(event)
    }
    expect(touched(set({ weight: 5 }).events)).toEqual([key])
    expect(touched(removed.events)).toEqual([key])
    expect(touched(archivedTarget.events)).toEqual([place.targetId, key])
  })
})
