import { describe, expect, it } from 'vitest'
import { createCampaign } from '../../../commands/campaigns/create-campaign.ts'
import { assignNumber } from '../../../commands/supply/assign-number.ts'
import { createPublisher } from '../../../commands/supply/create-publisher.ts'
import { provisionNumber } from '../../../commands/supply/provision-number.ts'
import { reportNumberDelivery } from '../../../commands/supply/report-number-delivery.ts'
import { requestNumberRelease } from '../../../commands/supply/request-number-release.ts'
import { workspace } from '../../../src/domain/configuration/workspace.ts'
import { given, idOf, NOW } from '../../support/fixtures/spec.ts'
import {
  campaignIn,
  emptyWorkspace,
  numberIn,
  publisherIn,
  workspaceFixture,
} from '../../support/fixtures/workspace-fixture.ts'

const events = workspaceFixture(
  [createCampaign, () => ({ name: 'Solar East', verticalId: 'solar' })],
  [createPublisher, () => ({ name: 'Red Leads' })],
)
const numberId = numberIn(events)
const [west, east] = [campaignIn(events, 0), campaignIn(events, 1)]
const [blue, red] = [publisherIn(events, 0), publisherIn(events, 1)]
const assign = (sent: object, from = events) => given(workspace, from).when(assignNumber, { numberId, ...sent })

describe('provision-number', () => {
  it('adds an unassigned number at the plan’s rent, in both display forms', () => {
    given(workspace, emptyWorkspace('growth'))
      .when(provisionNumber, { e164: '+14155550199', type: 'local' })
      .gives([
        {
          type: 'NumberProvisioned',
          data: {
            number: {
              national: '(415) 555-0199',
              formatted: '(415) 555-0199',
              status: 'active',
              role: 'unassigned',
              webhookStatus: 'pending',
              monthlyCents: 250,
              purchasedAt: NOW,
            },
          },
        },
      ])
    given(workspace, emptyWorkspace('growth'))
      .when(provisionNumber, { e164: '+18005550199', type: 'toll_free' })
      .gives([{ type: 'NumberProvisioned', data: { number: { monthlyCents: 350 } } }])
  })

  it('refuses a number that the workspace holds, and one more than the plan allows', () => {
    given(workspace, events)
      .when(provisionNumber, { e164: '+14155550123', type: 'local' })
      .gives({ refused: 'conflict' })
    const ten = emptyWorkspace(
      'starter',
      ...Array.from(
        { length: 10 },
        (_, n) => [provisionNumber, () => ({ e164: `+1415555020${n}`, type: 'local' })] as const,
      ),
    )
    given(workspace, ten)
      .when(provisionNumber, { e164: '+14155550300', type: 'local' })
      .gives({ refused: 'plan-upgrade-required', details: { feature: 'maxNumbers', limit: 10, current: 10 } })
  })
})

describe('assign-number', () => {
  it('drops the publisher when it moves to another campaign', () => {
    assign({ campaignId: east }).gives([
      {
        type: 'NumberAssigned',
        data: { before: { campaignId: west, publisherId: blue }, after: { campaignId: east, publisherId: null } },
      },
    ])
  })

  it('returns to unassigned, and drops everything, without a campaign', () => {
    const { state } = assign({ campaignId: null })
    expect(state.numbers.get(numberId)).toMatchObject({ role: 'unassigned', campaignId: null, publisherId: null })
  })

  it('keeps missing fields, and writes nothing when nothing changes', () => {
    assign({ campaignId: west }).gives([])
    assign({ publisherId: null }).gives([
      { type: 'NumberAssigned', data: { after: { campaignId: west, publisherId: null } } },
    ])
  })

  it('requests delivery again after a failure, and keeps a ready number ready', () => {
    expect(assign({ campaignId: east }).state.numbers.get(numberId)?.webhookStatus).toBe('ready')
    const failed = given(workspace, events).when(reportNumberDelivery, {
      numberId,
      error: 'No such connection.',
    }).events
    const again = assign({ campaignId: east }, failed).state.numbers.get(numberId)
    expect(again).toMatchObject({ webhookStatus: 'pending', webhookError: null })
  })

  it('refuses a publisher without a lane on the campaign, and one without a campaign', () => {
    assign({ publisherId: red }).gives({
      refused: 'publisher-not-on-campaign',
      details: { publisherId: red, campaignId: west },
    })
    const free = assign({ campaignId: null }).events
    assign({ publisherId: blue }, free).gives({ refused: 'bad-request', details: { campaignId: expect.any(String) } })
  })

  it('refuses an unknown campaign, an empty request and a number to be released', () => {
    assign({ campaignId: idOf(9) }).gives({ refused: 'campaign-not-found' })
    assign({}).gives({ refused: 'bad-request' })
    const released = given(workspace, events).when(requestNumberRelease, { numberId }).events
    assign({ campaignId: east }, released).gives({ refused: 'conflict' })
  })
})

describe('request-number-release', () => {
  it('clears the attribution, leaves the status, and answers a second request with a conflict', () => {
    const released = given(workspace, events).when(requestNumberRelease, { numberId })
    expect(released.state.numbers.get(numberId)).toMatchObject({
      status: 'active',
      campaignId: null,
      releaseRequestedAt: NOW,
    })
    given(workspace, released.events).when(requestNumberRelease, { numberId }).gives({ refused: 'conflict' })
  })
})

describe('assign-number with a label alone', () => {
  it('records the label before and after, once', () => {
    const labelled = given(workspace, events).when(assignNumber, { numberId, label: 'Billboard' })
    labelled.gives([{ type: 'NumberLabelled', data: { before: null, after: 'Billboard' } }])
    given(workspace, labelled.events).when(assignNumber, { numberId, label: 'Billboard' }).gives([])
  })
})
