import { describe, expect, it } from 'vitest'
import { changeSubscription } from '../../../commands/access/change-subscription.ts'
import { blockCaller } from '../../../commands/routing/block-caller.ts'
import type { Campaign } from '../../../src/domain/campaigns/campaign.ts'
import { workspace } from '../../../src/domain/configuration/workspace.ts'
import { blocklist } from '../../../src/domain/routing/blocklist.ts'
import { evaluateGates, type GateInput, isRepeatCaller } from '../../../src/domain/routing/gates.ts'
import { ledger } from '../../../src/domain/routing/ledger.ts'
import { type GateCode, gateCode } from '../../../src/domain/shared/call-codes.ts'
import {
  CALLER,
  callWorld,
  changeSteps,
  instantAfter,
  nthCallId,
  routeArrival,
} from '../../support/fixtures/call-world.ts'
import { given, NOW, stateOf } from '../../support/fixtures/spec.ts'

const world = callWorld()
const { campaign, campaignId, publisherId, reads } = world
const knock: GateInput = {
  ...reads,
  ledger: ledger.initial,
  campaign,
  publisherId,
  caller: CALLER,
  seen: null,
  at: NOW,
}
const unsubscribed = (to: string) =>
  given(workspace, world.events).when(changeSubscription, { subscriptionStatus: to }).state
const blocked = (scope: string | null) =>
  given(blocklist).when(blockCaller, { callerNumber: CALLER, campaignId: scope }, { reads }).state
const admitted = (count: number) => {
  let events = routeArrival(world).events
  for (let n = 2; n <= count; n += 1) events = routeArrival(world, { callId: nthCallId(n) }, events).events
  return stateOf(ledger, events)
}
const on = (changes: Partial<Campaign>): Campaign => ({ ...campaign, ...changes })
const switchedOff = callWorld(changeSteps.lane({ active: false })).reads.workspace

/** Each gate with a refused case and the closest case that passes. */
const GATES: readonly (readonly [GateCode, string, Partial<GateInput>, string, Partial<GateInput>])[] = [
  [
    'subscription',
    'workspace_inactive',
    { workspace: unsubscribed('past_due') },
    'The workspace subscription is not active (past_due).',
    {},
  ],
  [
    'subscription',
    'workspace_inactive',
    { workspace: unsubscribed('canceled') },
    'The workspace subscription is not active (canceled).',
    {},
  ],
  [
    'wallet',
    'workspace_unfunded',
    { wallet: { ...reads.wallet, balanceCents: 0 } },
    'The workspace wallet is empty (0 cents).',
    { wallet: { ...reads.wallet, balanceCents: 1 } },
  ],
  [
    'wallet',
    'workspace_unfunded',
    { wallet: { ...reads.wallet, balanceCents: -250 } },
    'The workspace wallet is empty (-250 cents).',
    {},
  ],
  [
    'campaign_status',
    'campaign_not_live',
    { campaign: on({ status: 'paused' }) },
    'Campaign Solar West is not live (paused).',
    {},
  ],
  ['campaign_status', 'campaign_not_live', { campaign: null }, 'The number is on no campaign.', {}],
  [
    'campaign_status',
    'campaign_not_live',
    { workspace: switchedOff },
    'The lane of publisher Blue Leads on campaign Solar West is switched off.',
    { workspace: switchedOff, publisherId: null },
  ],
  [
    'blocked_caller',
    'caller_blocked',
    { blocklist: blocked(null) },
    'The caller is blocked for the whole workspace.',
    { blocklist: blocked(null), caller: '+14155550198' },
  ],
  [
    'blocked_caller',
    'caller_blocked',
    { blocklist: blocked(campaignId) },
    'The caller is blocked on campaign Solar West.',
    { blocklist: blocked(campaignId), caller: null },
  ],
  [
    'anonymous_caller',
    'anonymous_blocked',
    { campaign: on({ anonymousPolicy: 'block' }), caller: null },
    'The caller hid the number, and campaign Solar West takes no anonymous callers.',
    { campaign: on({ anonymousPolicy: 'allow' }), caller: null },
  ],
  [
    'hours',
    'campaign_closed',
    {
      campaign: callWorld(changeSteps.campaign({ hoursSchedule: { tz: 'UTC', days: { tue: [['09:00', '15:00']] } } }))
        .campaign,
    },
    'The call arrived outside campaign hours.',
    {
      campaign: callWorld(changeSteps.campaign({ hoursSchedule: { tz: 'UTC', days: { tue: [['09:00', '15:01']] } } }))
        .campaign,
    },
  ],
  [
    'campaign_cap',
    'campaign_capped',
    { campaign: on({ dailyCap: 2 }), ledger: admitted(2) },
    'Campaign Solar West has taken 2 of 2 calls today (daily cap).',
    { campaign: on({ dailyCap: 3 }), ledger: admitted(2) },
  ],
  [
    'campaign_cap',
    'campaign_capped',
    { campaign: on({ concurrencyCap: 2 }), ledger: admitted(2) },
    'Campaign Solar West has 2 of 2 calls in progress (concurrency cap).',
    { campaign: on({ concurrencyCap: 3 }), ledger: admitted(2) },
  ],
  [
    'repeat_caller',
    'repeat_blocked',
    {
      campaign: on({ repeatCallerPolicy: 'block', dedupeWindowSeconds: 7_200 }),
      seen: { at: instantAfter(-7_199), targetId: null },
    },
    'The caller reached campaign Solar West less than 2 hours ago.',
    {
      campaign: on({ repeatCallerPolicy: 'block', dedupeWindowSeconds: 7_200 }),
      seen: { at: instantAfter(-7_200), targetId: null },
    },
  ],
]

describe('the gates', () => {
  it('are named in the documented order when a call passes', () => {
    expect(evaluateGates(knock)).toEqual({ passed: gateCode.options, failed: null })
  })

  it.each(GATES)('%s: %s', (code, reason, refused, sentence, passing) => {
    const before = gateCode.options.slice(0, gateCode.options.indexOf(code))
    expect(evaluateGates({ ...knock, ...refused })).toEqual({ passed: before, failed: { code, reason, sentence } })
    expect(evaluateGates({ ...knock, ...passing }).failed).toBeNull()
  })

  it('are evaluated in order: the first that refuses wins', () => {
    const closed = callWorld(
      changeSteps.campaign({ hoursSchedule: { tz: 'UTC', days: { mon: [['09:00', '15:00']] } } }),
    )
    const worst = on({
      status: 'paused',
      anonymousPolicy: 'block',
      hoursSchedule: closed.campaign.hoursSchedule,
      dailyCap: 1,
      repeatCallerPolicy: 'block',
      dedupeWindowSeconds: 60,
    })
    const refusing: GateInput = {
      workspace: unsubscribed('canceled'),
      wallet: { ...reads.wallet, balanceCents: 0 },
      blocklist: blocked(null),
      ledger: admitted(1),
      campaign: worst,
      publisherId,
      caller: CALLER,
      seen: { at: NOW, targetId: null },
      at: NOW,
    }
    const better: readonly Partial<GateInput>[] = [
      {},
      { workspace: reads.workspace },
      { wallet: reads.wallet },
      { campaign: { ...worst, status: 'live' } },
      { caller: null },
      { campaign: { ...worst, status: 'live', anonymousPolicy: 'allow' } },
      { campaign: { ...worst, status: 'live', anonymousPolicy: 'allow', hoursSchedule: null } },
      { ledger: ledger.initial, blocklist: blocklist.initial, caller: CALLER },
      { seen: null },
    ]
    const failed = better.map(
      (_, n) => evaluateGates(Object.assign({}, refusing, ...better.slice(0, n + 1))).failed?.code,
    )
    expect(failed).toEqual([...gateCode.options, undefined])
  })
})

describe('caps of a campaign', () => {
  it('of 0 mean no limit', () => {
    expect(evaluateGates({ ...knock, ledger: admitted(5) }).failed).toBeNull()
  })

  it('per day reset at midnight UTC in any time zone of the campaign', () => {
    const late = '2026-03-10T23:59:59.999Z'
    const full = stateOf(ledger, routeArrival(world, { occurredAt: late }).events)
    const capped = on({ dailyCap: 1, timezone: 'America/New_York' })
    const failed = (at: string) => evaluateGates({ ...knock, ledger: full, campaign: capped, at }).failed?.reason
    expect([failed(late), failed('2026-03-10T00:00:00.000Z'), failed('2026-03-11T00:00:00.000Z')]).toEqual([
      'campaign_capped',
      'campaign_capped',
      undefined,
    ])
  })
})

describe('a repeat caller', () => {
  const windowed = on({ dedupeWindowSeconds: 60 })
  const isRepeat = (changes: Partial<GateInput>) => isRepeatCaller({ ...knock, campaign: windowed, ...changes })

  it.each([
    ['at the very instant', 0, true],
    ['inside the window', 59, true],
    ['as the window ends', 60, false],
    ['though it was seen later', -59, true],
    ['a window before it was seen', -60, false],
  ])('is recognized %s', (_when, seconds, repeat) => {
    expect(isRepeat({ seen: { at: instantAfter(-seconds), targetId: null } })).toBe(repeat)
  })

  it('is never a hidden caller, nor one under a window of 0', () => {
    const seen = { at: NOW, targetId: null }
    expect([isRepeat({ seen, caller: null }), isRepeat({ seen, campaign: on({ dedupeWindowSeconds: 0 }) })]).toEqual([
      false,
      false,
    ])
  })

  it('is refused by the policy `block` only', () => {
    const seen = { at: NOW, targetId: null }
    for (const repeatCallerPolicy of ['allow', 'same_target'] as const)
      expect(
        evaluateGates({ ...knock, seen, campaign: on({ dedupeWindowSeconds: 60, repeatCallerPolicy }) }).failed,
      ).toBeNull()
  })
})
