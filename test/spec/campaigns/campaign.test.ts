import { describe, expect, it } from 'vitest'
import { changeCampaign } from '../../../commands/campaigns/change-campaign.ts'
import { createCampaign } from '../../../commands/campaigns/create-campaign.ts'
import { workspace } from '../../../src/domain/configuration/workspace.ts'
import { given, idOf } from '../../support/fixtures/spec.ts'
import { campaignIn, emptyWorkspace, workspaceFixture } from '../../support/fixtures/workspace-fixture.ts'

const create = (sent: object) =>
  given(workspace, emptyWorkspace()).when(createCampaign, { name: 'Solar West', verticalId: 'solar', ...sent })

describe('create-campaign', () => {
  it('adds a draft with every default', () => {
    create({}).gives([
      {
        type: 'CampaignCreated',
        data: {
          campaign: {
            kind: 'tracking',
            status: 'draft',
            routingMode: 'priority',
            recordCalls: true,
            unroutedAction: 'hangup',
            dialTimeoutSeconds: 25,
            failoverBudgetSeconds: 90,
            dailyCap: 0,
            states: [],
            hoursSchedule: null,
            timezone: 'America/New_York',
            routingKeyPrefix: 'SOLA',
            discloseCallerId: false,
            payout: { mode: 'revshare', revsharePct: 0 },
            publishedAt: null,
          },
        },
      },
    ])
  })

  it.each([
    ['a message that is missing', { unroutedAction: 'message' }, 'unroutedMessage'],
    ['a forward number that is missing', { unroutedAction: 'forward' }, 'unroutedForwardE164'],
    [
      'a budget below the dial time-out',
      { failoverBudgetSeconds: 20, dialTimeoutSeconds: 21 },
      'failoverBudgetSeconds',
    ],
    ['a zone that does not exist', { timezone: 'Nowhere/Else' }, 'timezone'],
    ['an unknown day', { hoursSchedule: { days: { moon: [['09:00', '10:00']] } } }, 'hoursSchedule'],
    ['an unknown vertical', { verticalId: 'unicorns' }, 'verticalId'],
    ['a fixed payout without its amount', { payout: { mode: 'fixed' } }, 'payout.payoutCents'],
    ['a message of blanks', { unroutedAction: 'message', unroutedMessage: '  ' }, 'unroutedMessage'],
    ['a schedule that never opens', { hoursSchedule: { days: { mon: [] } } }, 'hoursSchedule'],
    ['a state code of three letters', { states: ['NY', 'CAL'] }, 'states'],
    ['a state code that only upper case makes two letters of', { states: ['ß'] }, 'states'],
  ])('refuses %s', (_what, sent, field) => {
    create(sent).gives({ refused: 'bad-request', details: { [field]: expect.any(String) } })
  })

  it('names every invalid field', () => {
    create({ states: ['California'], timezone: 'Mars/Base', verticalId: 'unicorns', unroutedAction: 'forward' }).gives({
      refused: 'bad-request',
      details: {
        states: expect.any(String),
        timezone: expect.any(String),
        verticalId: expect.any(String),
        unroutedForwardE164: expect.any(String),
      },
    })
  })

  it('stores state codes in upper case, each once', () => {
    create({ states: ['ny', 'CA', 'Ny'] }).gives([
      { type: 'CampaignCreated', data: { campaign: { states: ['NY', 'CA'] } } },
    ])
  })

  it('accepts a budget equal to the dial time-out', () => {
    create({ failoverBudgetSeconds: 21, dialTimeoutSeconds: 21 }).gives([{ type: 'CampaignCreated' }])
  })

  it('uses one time zone for the campaign and its schedule', () => {
    create({ timezone: 'America/Denver', hoursSchedule: { tz: 'UTC', days: { mon: [['09:00', '24:00']] } } }).gives([
      { type: 'CampaignCreated', data: { campaign: { hoursSchedule: { tz: 'America/Denver' } } } },
    ])
  })

  it('refuses one more campaign than the plan allows', () => {
    const five = emptyWorkspace(
      'starter',
      ...Array.from({ length: 5 }, () => [createCampaign, () => ({ name: 'One', verticalId: 'tax' })] as const),
    )
    given(workspace, five)
      .when(createCampaign, { name: 'Six', verticalId: 'tax' })
      .gives({ refused: 'plan-upgrade-required', details: { feature: 'maxTrackingCampaigns', limit: 5, current: 5 } })
  })
})

describe('change-campaign', () => {
  it('applies the rules to the campaign after the change', () => {
    const events = workspaceFixture()
    const campaignId = campaignIn(events)
    given(workspace, events)
      .when(changeCampaign, { campaignId, changes: { dialTimeoutSeconds: 100 } })
      .gives({ refused: 'bad-request', details: { failoverBudgetSeconds: expect.any(String) } })
    given(workspace, events)
      .when(changeCampaign, { campaignId, changes: { payout: { revsharePct: 40 } } })
      .gives([{ type: 'CampaignChanged', data: { after: { payout: { mode: 'revshare', revsharePct: 40 } } } }])
    given(workspace, events)
      .when(changeCampaign, { campaignId: idOf(9), changes: {} })
      .gives({ refused: 'campaign-not-found' })
    given(workspace, events).when(changeCampaign, { campaignId, changes: {} }).gives({ refused: 'bad-request' })
    given(workspace, events)
      .when(changeCampaign, { campaignId, changes: { dailyCap: 0 } })
      .gives([])
  })
})
