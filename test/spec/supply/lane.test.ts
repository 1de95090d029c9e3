import { describe, expect, it } from 'vitest'
import { closeLane } from '../../../commands/supply/close-lane.ts'
import { createPublisher } from '../../../commands/supply/create-publisher.ts'
import { setLane } from '../../../commands/supply/set-lane.ts'
import { setPublisherStatus } from '../../../commands/supply/set-publisher-status.ts'
import { workspace } from '../../../src/domain/configuration/workspace.ts'
import { laneId } from '../../../src/domain/supply/lane.ts'
import { given, idOf, NOW } from '../../support/fixtures/spec.ts'
import {
  campaignIn,
  emptyWorkspace,
  hashOf,
  publisherIn,
  workspaceFixture,
} from '../../support/fixtures/workspace-fixture.ts'

const events = workspaceFixture([createPublisher, () => ({ name: 'Red Leads' })])
const campaignId = campaignIn(events)
const key = { prefix: 'rk_', hash: hashOf('another') }
const lane = { campaignId, publisherId: publisherIn(events), terms: {}, key }
const unopened = { ...lane, publisherId: publisherIn(events, 1) }

describe('create-publisher', () => {
  it('derives a free prefix from the name', () => {
    const twins = emptyWorkspace(
      'scale',
      [createPublisher, () => ({ name: 'Blue Leads' })],
      [createPublisher, () => ({ name: 'Blue Leads' })],
    )
    expect(twins.slice(1)).toMatchObject([
      { data: { publisher: { routingPrefix: 'BLUE', status: 'onboarding', joinedAt: null } } },
      { data: { publisher: { routingPrefix: 'BLUE2' } } },
    ])
  })

  it('refuses a prefix that is taken', () => {
    given(workspace, events)
      .when(createPublisher, { name: 'Other', routingPrefix: 'blue' })
      .gives({ refused: 'conflict', details: { routingPrefix: 'BLUE' } })
  })
})

describe('set-publisher-status', () => {
  const publisherId = publisherIn(events)
  const move = (status: string, from = events) =>
    given(workspace, from).when(setPublisherStatus, { publisherId, status })

  it('sets joinedAt when first live', () => {
    expect(move('live').state.publishers.get(publisherId)).toMatchObject({ status: 'live', joinedAt: NOW })
  })

  it('refuses a transition that is not allowed', () => {
    move('review').gives({ refused: 'conflict', details: { status: 'onboarding', allowed: ['live', 'terminated'] } })
  })

  it('terminates finally and revokes every key', () => {
    const { state, events: after, outcome } = move('terminated')
    expect(outcome).toMatchObject([{ data: { revoked: [{ campaignId }] } }])
    expect([...state.routingKeys.values()].map((kept) => kept.revokedAt)).toEqual([NOW])
    move('live', after).gives({ refused: 'conflict', details: { allowed: [] } })
    given(workspace, after)
      .when(setLane, { ...lane, terms: { dailyCap: 1 } })
      .gives([{ type: 'LaneTermsChanged' }])
  })
})

describe('set-lane', () => {
  it('opens a lane with its defaults and the key’s hash', () => {
    given(workspace, events)
      .when(setLane, unopened)
      .gives([
        {
          type: 'LaneOpened',
          data: {
            lane: {
              active: true,
              payoutMode: 'inherit',
              blockWhenCapped: true,
              dailyCap: 0,
              states: null,
              assignedAt: NOW,
            },
            key: { ...key, state: 'active', protocol: 'rtb_v1', environment: 'production' },
            publisherName: 'Red Leads',
          },
        },
      ])
  })

  it('changes the terms of an open lane and keeps its key', () => {
    const { outcome, state } = given(workspace, events).when(setLane, {
      ...lane,
      terms: { payoutMode: 'fixed', payoutCents: 1_500 },
    })
    expect(outcome).toMatchObject([
      { type: 'LaneTermsChanged', data: { before: { payoutMode: 'inherit', payoutCents: null } } },
    ])
    expect(state.lanes.get(laneId(campaignId, lane.publisherId))).toMatchObject({ payoutCents: 1_500 })
    expect(state.routingKeys.size).toBe(1)
  })

  it.each([
    ['fixed without an amount', { payoutMode: 'fixed' }, 'payoutCents'],
    ['a share without a percentage', { payoutMode: 'revshare' }, 'revsharePct'],
    ['a floor above the ceiling', { minPayoutCents: 2, maxPayoutCents: 1 }, 'minPayoutCents'],
    ['a zone that does not exist', { timezone: 'Nowhere/Else' }, 'timezone'],
    ['a schedule that never opens', { hoursSchedule: { days: {} } }, 'hoursSchedule'],
  ])('refuses %s', (_what, terms, field) => {
    given(workspace, events)
      .when(setLane, { ...lane, terms })
      .gives({ refused: 'validation-error', details: { [field]: expect.any(String) } })
  })

  it('refuses an unknown publisher and a terminated one', () => {
    given(workspace, events)
      .when(setLane, { ...lane, publisherId: idOf(9) })
      .gives({ refused: 'publisher-not-found' })
    const ended = given(workspace, events).when(setPublisherStatus, {
      publisherId: unopened.publisherId,
      status: 'terminated',
    })
    given(workspace, ended.events).when(setLane, unopened).gives({ refused: 'conflict' })
  })
})

describe('close-lane', () => {
  it('revokes the keys, keeps the numbers, and can be opened again with a new key', () => {
    const { campaignId, publisherId } = lane
    const closed = given(workspace, events).when(closeLane, { campaignId, publisherId })
    closed.gives([{ type: 'LaneClosed', data: { numbersStillAssigned: 1 } }])
    expect(closed.state.lanes.size).toBe(0)
    given(workspace, closed.events).when(closeLane, { campaignId, publisherId }).gives({ refused: 'lane-not-found' })
    const again = given(workspace, closed.events).when(setLane, lane, { firstId: 900 })
    expect([...again.state.routingKeys.values()].map(({ revokedAt }) => revokedAt)).toEqual(
      expect.arrayContaining([null, NOW]),
    )
  })
})
