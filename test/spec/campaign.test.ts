import { describe, expect, it } from 'vitest'
import { assignNumber } from '../../commands/assign-number.ts'
import { changeCampaign } from '../../commands/change-campaign.ts'
import { createCampaign } from '../../commands/create-campaign.ts'
import { setCampaignStatus } from '../../commands/set-campaign-status.ts'
import { checklistOf, launchFacts } from '../../src/domain/checklist.ts'
import { wallet } from '../../src/domain/wallet.ts'
import { workspace } from '../../src/domain/workspace.ts'
import { campaignIn, empty, furnished, numberIn } from '../support/configured.ts'
import { given, idOf, NOW } from '../support/spec.ts'

const funded = { ...wallet.initial, balanceCents: 1 }
const create = (sent: object) =>
  given(workspace, empty()).when(createCampaign, { name: 'Solar West', verticalId: 'solar', ...sent })

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
  ])('refuses %s', (_what, sent, field) => {
    create(sent).gives({ refused: 'bad-request', details: { [field]: expect.any(String) } })
  })

  it('takes a budget equal to the dial time-out', () => {
    create({ failoverBudgetSeconds: 21, dialTimeoutSeconds: 21 }).gives([{ type: 'CampaignCreated' }])
  })

  it('folds the zone into the schedule', () => {
    create({ timezone: 'America/Denver', hoursSchedule: { tz: 'UTC', days: { mon: [['09:00', '24:00']] } } }).gives([
      { type: 'CampaignCreated', data: { campaign: { hoursSchedule: { tz: 'America/Denver' } } } },
    ])
  })

  it('refuses one more campaign than the plan allows', () => {
    const five = empty(
      'starter',
      ...Array.from({ length: 5 }, () => [createCampaign, () => ({ name: 'One', verticalId: 'tax' })] as const),
    )
    given(workspace, five)
      .when(createCampaign, { name: 'Six', verticalId: 'tax' })
      .gives({ refused: 'plan-upgrade-required', details: { feature: 'maxTrackingCampaigns', limit: 5, current: 5 } })
  })
})

describe('change-campaign', () => {
  it('judges the rules on the campaign as it will be', () => {
    const events = furnished()
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
  })
})

describe('set-campaign-status', () => {
  const events = furnished()
  const campaignId = campaignIn(events)
  const live = given(workspace, events).when(
    setCampaignStatus,
    { campaignId, status: 'live' },
    { reads: { wallet: funded } },
  )

  it('launches a campaign whose checklist is done', () => {
    live.gives([{ type: 'CampaignStatusChanged', data: { from: 'draft', to: 'live' } }])
    expect(live.state.campaigns.get(campaignId)).toMatchObject({ status: 'live', publishedAt: NOW, statusNote: null })
  })

  it('refuses a launch with exactly the blockers that the checklist shows', () => {
    const bare = create({})
    const id = campaignIn(bare.events)
    const { blockers } = checklistOf(launchFacts(bare.state, id, 0))
    expect(blockers).toHaveLength(5)
    given(workspace, bare.events)
      .when(setCampaignStatus, { campaignId: id, status: 'live' })
      .gives({ refused: 'conflict', details: { blockers } })
  })

  it('refuses a launch on an empty wallet alone', () => {
    given(workspace, events)
      .when(setCampaignStatus, { campaignId, status: 'live' })
      .gives({ refused: 'conflict', details: { blockers: ['The wallet is empty.'] } })
  })

  it('keeps the note of a pause and clears it when live again', () => {
    const paused = given(workspace, live.events).when(setCampaignStatus, { campaignId, status: 'paused', note: 'Tea' })
    expect(paused.state.campaigns.get(campaignId)?.statusNote).toBe('Tea')
    const again = given(workspace, paused.events).when(
      setCampaignStatus,
      { campaignId, status: 'live' },
      { reads: { wallet: funded } },
    )
    expect(again.state.campaigns.get(campaignId)?.statusNote).toBeNull()
  })

  it('archives only when paused and without numbers', () => {
    given(workspace, live.events)
      .when(setCampaignStatus, { campaignId, status: 'archived' })
      .gives({ refused: 'conflict', details: { status: 'live', allowed: ['paused'] } })
    const paused = given(workspace, live.events).when(setCampaignStatus, { campaignId, status: 'paused' }).events
    given(workspace, paused)
      .when(setCampaignStatus, { campaignId, status: 'archived' })
      .gives({ refused: 'conflict', details: { numbers: ['+14155550123'] } })
    const freed = given(workspace, paused).when(assignNumber, { numberId: numberIn(paused), campaignId: null }).events
    given(workspace, freed)
      .when(setCampaignStatus, { campaignId, status: 'archived' })
      .gives([{ type: 'CampaignStatusChanged', data: { to: 'archived' } }])
  })
})

describe('checklist', () => {
  it('lists the steps in order, the live one last, publishers as advice', () => {
    const events = furnished()
    const { state } = given(workspace, events).when(changeCampaign, { campaignId: campaignIn(events), changes: {} })
    const { checklist, blockers, canGoLive } = checklistOf(launchFacts(state, campaignIn(events), 1))
    expect(checklist.steps.map(({ key }) => key)).toEqual([
      'buyer',
      'target',
      'routing',
      'number',
      'publishers',
      'funded',
      'live',
    ])
    expect(checklist.steps.filter(({ optional }) => optional).map(({ key }) => key)).toEqual(['publishers'])
    expect([blockers, canGoLive, checklist.ready, checklist.warnings]).toEqual([[], true, true, []])
    expect(checklist.steps.filter(({ done }) => !done).map(({ key, blocking }) => [key, blocking])).toEqual([
      ['live', false],
    ])
  })
})
