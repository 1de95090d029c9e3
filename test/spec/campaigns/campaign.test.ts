import { describe, expect, it } from 'vitest'
import { changeCampaign } from '../../../commands/campaigns/change-campaign.ts'
import { createCampaign } from '../../../commands/campaigns/create-campaign.ts'
import { restrictCampaign } from '../../../commands/campaigns/restrict-campaign.ts'
import { setCampaignStatus } from '../../../commands/campaigns/set-campaign-status.ts'
import { unrestrictCampaign } from '../../../commands/campaigns/unrestrict-campaign.ts'
import { assignNumber } from '../../../commands/supply/assign-number.ts'
import { type CampaignStatus, campaignStatus } from '../../../src/domain/campaigns/campaign.ts'
import { CAMPAIGN_TRANSITIONS, type CampaignMover } from '../../../src/domain/campaigns/campaign-transitions.ts'
import { checklistOf, launchFacts } from '../../../src/domain/configuration/checklist.ts'
import { workspace } from '../../../src/domain/configuration/workspace.ts'
import { wallet } from '../../../src/domain/money/wallet.ts'
import { given, idOf, NOW } from '../../support/fixtures/spec.ts'
import { campaignIn, emptyWorkspace, numberIn, workspaceFixture } from '../../support/fixtures/workspace-fixture.ts'

const funded = { ...wallet.initial, balanceCents: 1 }
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

  it('names every field that is wrong', () => {
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

  it('keeps state codes in upper case, each once', () => {
    create({ states: ['ny', 'CA', 'Ny'] }).gives([
      { type: 'CampaignCreated', data: { campaign: { states: ['NY', 'CA'] } } },
    ])
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
  it('judges the rules on the campaign as it will be', () => {
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

describe('set-campaign-status', () => {
  const events = workspaceFixture()
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

describe('who moves a campaign', () => {
  const events = workspaceFixture()
  const campaignId = campaignIn(events)
  const reads = { wallet: funded }
  const after = (held: typeof events, ...statuses: readonly string[]) =>
    statuses.reduce(
      (held, status) => given(workspace, held).when(setCampaignStatus, { campaignId, status }, { reads }).events,
      held,
    )
  const freed = given(workspace, events).when(assignNumber, { numberId: numberIn(events), campaignId: null }).events
  const restricted = given(workspace, after(events, 'live')).when(restrictCampaign, { campaignId, note: 'Spam' })
  const standing: Readonly<Record<CampaignStatus, typeof events>> = {
    draft: events,
    live: after(events, 'live'),
    paused: after(events, 'live', 'paused'),
    archived: after(freed, 'live', 'paused', 'archived'),
    restricted: restricted.events,
  }

  const cases = (mover: CampaignMover, tos: readonly CampaignStatus[]) =>
    campaignStatus.options.flatMap((from) => tos.map((to) => [from, to, CAMPAIGN_TRANSITIONS[mover][from]] as const))

  function follows(
    taken: { readonly gives: (expected: object) => void },
    [from, to, allowed]: ReturnType<typeof cases>[number],
  ) {
    const moves: readonly CampaignStatus[] = allowed
    if (from === to) return taken.gives([])
    if (!moves.includes(to)) return taken.gives({ refused: 'conflict', details: { status: from, allowed } })
    return taken.gives([{ type: 'CampaignStatusChanged', data: { from, to } }])
  }

  it.each(cases('console', ['draft', 'live', 'paused', 'archived']))('on the console, from %s to %s', (...move) => {
    const [from, status] = move
    const held = from === 'paused' && status === 'archived' ? after(freed, 'live', 'paused') : standing[from]
    follows(given(workspace, held).when(setCampaignStatus, { campaignId, status }, { reads }), move)
  })

  it.each(cases('key', ['live', 'paused']))('by a key, from %s to %s', (...move) => {
    const [from, status] = move
    const sent = { campaignId, status, mover: 'key' }
    follows(given(workspace, standing[from]).when(setCampaignStatus, sent, { reads }), move)
  })

  it.each(cases('staff', ['restricted', 'paused']))('by the staff, from %s to %s', (...move) => {
    const [from, to] = move
    const sent = { campaignId, note: 'Checked' }
    const { when } = given(workspace, standing[from])
    follows(to === 'restricted' ? when(restrictCampaign, sent) : when(unrestrictCampaign, sent), move)
  })

  it('keeps what the staff says', () => {
    expect(restricted.state.campaigns.get(campaignId)).toMatchObject({ status: 'restricted', statusNote: 'Spam' })
    expect(restrictCampaign.input.safeParse({ campaignId, note: ' ' }).success).toBe(false)
    const free = given(workspace, restricted.events).when(unrestrictCampaign, { campaignId })
    expect(free.state.campaigns.get(campaignId)).toMatchObject({ status: 'paused', statusNote: null })
  })

  it('finds no campaign that is not there', () => {
    const sent = { campaignId: idOf(9), note: 'x' }
    given(workspace, events).when(restrictCampaign, sent).gives({ refused: 'campaign-not-found' })
    given(workspace, events).when(unrestrictCampaign, sent).gives({ refused: 'campaign-not-found' })
  })

  it('publishes a campaign when it first goes live, for good', () => {
    const held = after(events, 'live', 'paused')
    const again = given(workspace, held).when(
      setCampaignStatus,
      { campaignId, status: 'live' },
      { reads, at: '2026-04-01T00:00:00.000Z' },
    )
    expect(again.state.campaigns.get(campaignId)?.publishedAt).toBe(NOW)
  })

  it('restores an archived campaign only where the plan has room', () => {
    const full = Array.from({ length: 4 }, () => [createCampaign, () => ({ name: 'One', verticalId: 'tax' })] as const)
    const small = given(workspace, emptyWorkspace('starter', ...full)).when(createCampaign, {
      name: 'Old',
      verticalId: 'tax',
    })
    const old = campaignIn(small.events, 4)
    const away = [
      {
        type: 'CampaignStatusChanged',
        data: { campaignId: old, name: 'Old', from: 'paused', to: 'archived', note: null },
      },
    ]
    const held = [...small.events, ...away]
    given(workspace, held)
      .when(setCampaignStatus, { campaignId: old, status: 'draft' })
      .gives([{ type: 'CampaignStatusChanged', data: { from: 'archived', to: 'draft' } }])
    const taken = given(workspace, held).when(createCampaign, { name: 'New', verticalId: 'tax' }, { firstId: 900 })
    given(workspace, taken.events)
      .when(setCampaignStatus, { campaignId: old, status: 'draft' })
      .gives({ refused: 'plan-upgrade-required', details: { feature: 'maxTrackingCampaigns', limit: 5, current: 5 } })
  })
})

describe('checklist', () => {
  it('lists the steps in order, the live one last, publishers as advice', () => {
    const events = workspaceFixture()
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
