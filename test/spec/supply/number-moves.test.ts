import { describe, expect, it } from 'vitest'
import { createCampaign } from '../../../commands/campaigns/create-campaign.ts'
import { assignNumber } from '../../../commands/supply/assign-number.ts'
import { changePool } from '../../../commands/supply/change-pool.ts'
import { completeNumberRelease } from '../../../commands/supply/complete-number-release.ts'
import { createPool } from '../../../commands/supply/create-pool.ts'
import { createPublisher } from '../../../commands/supply/create-publisher.ts'
import { provisionNumber } from '../../../commands/supply/provision-number.ts'
import { reportNumberDelivery } from '../../../commands/supply/report-number-delivery.ts'
import { requestNumberRelease } from '../../../commands/supply/request-number-release.ts'
import { setLane } from '../../../commands/supply/set-lane.ts'
import { setNumberStatus } from '../../../commands/supply/set-number-status.ts'
import { assignmentWarnings, requireAttribution } from '../../../src/domain/configuration/attribution.ts'
import { workspace } from '../../../src/domain/configuration/workspace.ts'
import type { NewEvent } from '../../../src/kernel/event.ts'
import { refuseUnmet } from '../../../src/kernel/precondition.ts'
import { given, idOf, recordedEvents } from '../../support/fixtures/spec.ts'
import {
  campaignIn,
  hashOf,
  idIn,
  numberIn,
  publisherIn,
  workspaceFixture,
} from '../../support/fixtures/workspace-fixture.ts'

const pooled = (events: readonly NewEvent[], n: number) => idIn(events, 'PoolCreated', 'pool', n)
const key = { prefix: 'rk_', hash: hashOf('another key') }

const NOBODY = '01900000-0000-7000-8000-000000000000'

/** West has a pool of Blue's and a pool without a publisher, East one of its own; a second number is free. */
const events = workspaceFixture(
  [createCampaign, () => ({ name: 'Solar East', verticalId: 'solar' })],
  [createPublisher, () => ({ name: 'Red Leads' })],
  [setLane, (now) => ({ campaignId: campaignIn(now, 0), publisherId: publisherIn(now, 1), terms: {}, key })],
  [
    createPool,
    (now) => ({
      campaignId: campaignIn(now, 0),
      publicKey: `pk_${'a'.repeat(24)}`,
      settings: { name: 'Blue pool', publisherId: publisherIn(now, 0) },
    }),
  ],
  [
    createPool,
    (now) => ({ campaignId: campaignIn(now, 0), publicKey: `pk_${'b'.repeat(24)}`, settings: { name: 'Open pool' } }),
  ],
  [
    createPool,
    (now) => ({ campaignId: campaignIn(now, 1), publicKey: `pk_${'c'.repeat(24)}`, settings: { name: 'East pool' } }),
  ],
  [provisionNumber, () => ({ e164: '+14155550124', type: 'local' })],
)
const [west, east] = [campaignIn(events, 0), campaignIn(events, 1)]
const [blue, red] = [publisherIn(events, 0), publisherIn(events, 1)]
const [bluePool, openPool, eastPool] = [0, 1, 2].map((n) => pooled(events, n))
const [held, free] = [numberIn(events, 0), numberIn(events, 1)]

const move = (numberId: string, sent: object, from = events) =>
  given(workspace, from).when(assignNumber, { numberId, ...sent })
const standing = (numberId: string, sent: object, from = events) => {
  const number = move(numberId, sent, from).state.numbers.get(numberId)
  return [number?.campaignId, number?.publisherId, number?.poolId]
}

describe('a pool', () => {
  it('implies its campaign and its publisher', () => {
    expect(standing(free, { poolId: bluePool })).toEqual([west, blue, bluePool])
    expect(standing(free, { campaignId: west, poolId: bluePool })).toEqual([west, blue, bluePool])
    expect(standing(free, { poolId: openPool })).toEqual([west, null, openPool])
    expect(standing(held, { poolId: openPool })).toEqual([west, null, openPool])
    expect(standing(held, { campaignId: east, poolId: eastPool })).toEqual([east, null, eastPool])
  })

  it('can be left with or without leaving the campaign', () => {
    const inPool = move(held, { poolId: bluePool }).events
    expect(standing(held, { poolId: null }, inPool)).toEqual([west, blue, null])
    expect(standing(held, { campaignId: east }, inPool)).toEqual([east, null, null])
    expect(standing(held, { campaignId: null }, inPool)).toEqual([null, null, null])
    expect(standing(held, { campaignId: west }, inPool)).toEqual([west, blue, bluePool])
  })

  it('is refused on another campaign', () => {
    const details = { poolId: eastPool, poolCampaignId: east }
    move(held, { poolId: eastPool }).gives({ refused: 'pool-campaign-mismatch', details })
    move(free, { campaignId: west, poolId: eastPool }).gives({ refused: 'pool-campaign-mismatch', details })
  })

  it('is refused with another publisher than its own', () => {
    const mismatch = (poolPublisherId: string, poolId: string | undefined) => ({
      refused: 'pool-publisher-mismatch',
      details: { poolId, poolPublisherId },
    })
    move(free, { poolId: bluePool, publisherId: red }).gives(mismatch(blue, bluePool))
    move(free, { poolId: bluePool, publisherId: null }).gives(mismatch(blue, bluePool))
    expect(standing(free, { poolId: openPool, publisherId: red })).toEqual([west, red, openPool])
    const inPool = move(held, { poolId: bluePool }).events
    move(held, { publisherId: red }, inPool).gives(mismatch(blue, bluePool))
    expect(standing(held, { publisherId: red, poolId: null }, inPool)).toEqual([west, red, null])
  })

  it('refuses its fallback number in rotation', () => {
    const fallback = given(workspace, events).when(changePool, {
      poolId: bluePool,
      changes: { fallbackNumberId: held },
    })
    const refused = { refused: 'number-is-fallback', details: { poolId: bluePool } }
    move(held, { poolId: bluePool }, fallback.events).gives(refused)
    move(held, { campaignId: east, poolId: eastPool }, fallback.events).gives(refused)
  })

  it('is refused when unknown, or without a campaign', () => {
    move(free, { poolId: idOf(9) }).gives({ refused: 'pool-not-found' })
    move(held, { campaignId: null, poolId: bluePool }).gives({
      refused: 'bad-request',
      details: { campaignId: expect.any(String) },
    })
    move(free, { publisherId: blue }).gives({ refused: 'bad-request', details: { campaignId: expect.any(String) } })
    move(held, { campaignId: null, poolId: null, publisherId: null }).gives([{ type: 'NumberAssigned' }])
  })
})

describe('a fallback number', () => {
  const fallback = given(workspace, events).when(changePool, { poolId: bluePool, changes: { fallbackNumberId: held } })
  const lost = { type: 'PoolFallbackLost', data: { poolId: bluePool, name: 'Blue pool', numberId: held } }

  it('is removed from its pool when it leaves the campaign or its release is requested', () => {
    const moved = move(held, { campaignId: east }, fallback.events)
    moved.gives([{ type: 'NumberAssigned' }, lost])
    expect(moved.state.pools.get(String(bluePool))?.fallbackNumberId).toBeNull()
    given(workspace, fallback.events)
      .when(requestNumberRelease, { numberId: held })
      .gives([{ type: 'NumberReleaseRequested' }, lost])
  })

  it('stays the fallback when only its publisher or label changes', () => {
    move(held, { publisherId: null, label: 'Front' }, fallback.events).gives([
      { type: 'NumberAssigned' },
      { type: 'NumberLabelled' },
    ])
  })
})

describe('the carrier', () => {
  it('is asked to deliver a number that is not ready, and one that failed, again', () => {
    const assigned = move(free, { campaignId: west })
    assigned.gives([{ type: 'NumberAssigned' }, { type: 'NumberDeliveryRequested', data: { numberId: free } }])
    move(free, { campaignId: west }, assigned.events).gives([])
    const failed = given(workspace, assigned.events).when(reportNumberDelivery, { numberId: free, error: 'No route.' })
    move(free, { label: 'Later' }, failed.events).gives([{ type: 'NumberLabelled' }])
    move(free, { campaignId: west }, failed.events).gives([{ type: 'NumberDeliveryRequested' }])
    move(free, { campaignId: null }, failed.events).gives([{ type: 'NumberAssigned' }])
    move(held, { campaignId: east }).gives([{ type: 'NumberAssigned' }])
  })
})

describe('the precondition of an assignment', () => {
  const { state } = given(workspace, events).when(assignNumber, { numberId: held, label: 'Same place' })
  const expected = { campaignId: west, publisherId: blue, poolId: null }

  it('refuses when the number’s attribution has changed', () => {
    expect(refuseUnmet([requireAttribution({ numberId: held, expected })], state)).toBeNull()
    const { state: after } = move(held, { campaignId: east })
    expect(refuseUnmet([requireAttribution({ numberId: held, expected })], after)).toMatchObject({
      refused: 'conflict',
      details: { campaignId: east },
    })
    expect(refuseUnmet([requireAttribution({ numberId: idOf(9), expected })], state)).toBeNull()
  })
})

describe('warnings of an assignment', () => {
  const fallback = given(workspace, events).when(changePool, { poolId: bluePool, changes: { fallbackNumberId: held } })
  const received = (numberId: string, sent: object, from: readonly NewEvent[]) => {
    const { state, events: all } = move(numberId, sent, from)
    return assignmentWarnings(state, numberId, recordedEvents(workspace, all.slice(from.length)))
  }

  it('name the side effects of an assignment', () => {
    expect(received(free, { campaignId: west }, events)).toEqual([expect.stringContaining('does not deliver')])
    expect(received(held, { campaignId: east }, fallback.events)).toEqual([expect.stringContaining('“Blue pool”')])
    expect(received(held, { label: 'Mine' }, events)).toEqual([])
    expect(received(held, { campaignId: east }, events)).toEqual([])
  })
})

describe('set-number-status', () => {
  const set = (status: string, from = events) =>
    given(workspace, from).when(setNumberStatus, { numberId: held, status })

  it('allows the transitions of the table only', () => {
    set('active').gives([])
    const due = set('past_due')
    due.gives([{ type: 'NumberStatusChanged', data: { before: 'active', after: 'past_due' } }])
    const suspended = set('suspended', due.events)
    expect(suspended.state.numbers.get(held)?.status).toBe('suspended')
    expect(set('active', suspended.events).state.numbers.get(held)?.status).toBe('active')
    set('suspended').gives({ refused: 'conflict', details: { status: 'active', allowed: ['past_due'] } })
    set('past_due', suspended.events).gives({ refused: 'conflict', details: { allowed: ['active'] } })
    for (const status of ['released', 'draft']) set(status).gives({ refused: 'conflict' })
    given(workspace, events)
      .when(setNumberStatus, { numberId: idOf(9), status: 'active' })
      .gives({ refused: 'number-not-found' })
  })
})

describe('complete-number-release', () => {
  const complete = (from: readonly NewEvent[]) => given(workspace, from).when(completeNumberRelease, { numberId: held })

  it('completes a requested release once and frees the number', () => {
    complete(events).gives({ refused: 'conflict', details: { status: 'active' } })
    const requests = given(workspace, events).when(requestNumberRelease, { numberId: held }).events
    const done = complete(requests)
    done.gives([{ type: 'NumberStatusChanged', data: { before: 'active', after: 'released' } }])
    expect(done.state.numberIds.has('+14155550123')).toBe(false)
    complete(done.events).gives([])
    given(workspace, done.events)
      .when(provisionNumber, { e164: '+14155550123', type: 'local' }, { firstId: 900 })
      .gives([{ type: 'NumberProvisioned' }])
    move(held, { campaignId: east }, done.events).gives({ refused: 'conflict' })
    move(held, { label: 'Gone' }, done.events).gives({ refused: 'conflict', details: { status: 'released' } })
    move(held, { publisherId: NOBODY }, done.events).gives({ refused: 'bad-request' })
    move(held, { campaignId: NOBODY }, done.events).gives({ refused: 'campaign-not-found' })
  })
})
