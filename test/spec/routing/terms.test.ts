import { describe, expect, it } from 'vitest'
import { changePlan } from '../../../commands/access/change-plan.ts'
import { closeLane } from '../../../commands/supply/close-lane.ts'
import { setPublisherStatus } from '../../../commands/supply/set-publisher-status.ts'
import { workspace } from '../../../src/domain/configuration/workspace.ts'
import { type CallerSighting, laneCallerKey } from '../../../src/domain/routing/callers.ts'
import { type Counter, counterKey, NO_COUNTER } from '../../../src/domain/routing/counters.ts'
import type { Terms } from '../../../src/domain/routing/decision.ts'
import { ledger } from '../../../src/domain/routing/ledger.ts'
import { termsFor } from '../../../src/domain/routing/terms.ts'
import { addToCounts, NO_COUNTS, windowsOf } from '../../../src/domain/shared/windows.ts'
import { laneId } from '../../../src/domain/supply/lane.ts'
import { CALLER, callWorld, changeSteps, instantAfter } from '../../support/fixtures/call-world.ts'
import { given, NOW } from '../../support/fixtures/spec.ts'
import type { SetupStep } from '../../support/fixtures/workspace-fixture.ts'

interface Circumstances {
  readonly counter?: Partial<Counter>
  readonly caller?: string | null
  readonly callerState?: string | null
  /** Instant at which the lane last sent the caller. */
  readonly sent?: CallerSighting
  readonly at?: string
}

const nobody = { caller: null, callerState: null, lastSeen: () => null }

function termsOf(steps: readonly SetupStep[], circumstances: Circumstances = {}): Terms {
  const { counter, caller = CALLER, callerState = 'CA', sent, at = NOW } = circumstances
  const { reads, campaign, campaignId, publisherId } = callWorld(...steps)
  const counters = ledger.initial.counters.set(counterKey('lane', laneId(campaignId, publisherId)), {
    ...NO_COUNTER,
    ...counter,
  })
  return termsFor({
    workspace: reads.workspace,
    ledger: { ...ledger.initial, counters },
    campaign,
    publisherId,
    caller,
    callerState,
    lastSeen: (key) => (key === laneCallerKey(laneId(campaignId, publisherId), CALLER) ? (sent ?? null) : null),
    at,
  })
}
const withheld = (terms: object, circumstances: Circumstances = {}) =>
  termsOf([changeSteps.lane(terms)], circumstances).payoutWithheld
const windows = (by: number, at = NOW) => addToCounts(NO_COUNTS, Object.values(windowsOf(at)), by, NOW)

describe('payout terms', () => {
  it('are those of the campaign when the lane inherits', () => {
    const payout = { mode: 'fixed', payoutCents: 1_200 }
    expect(termsOf([changeSteps.campaign({ payout })])).toMatchObject({ payoutMode: 'fixed', payoutCents: 1_200 })
    expect(termsOf([])).toMatchObject({ payoutMode: 'revshare', revsharePct: 0, payoutWithheld: null })
  })

  it('are those of the lane when it has its own', () => {
    const terms = { payoutMode: 'revshare', revsharePct: 62.5, minPayoutCents: 100, maxPayoutCents: 2_000 }
    const { payoutCents: _none, ...own } = { ...terms, payoutCents: null }
    expect(
      termsOf([changeSteps.campaign({ payout: { mode: 'fixed', payoutCents: 1 } }), changeSteps.lane(terms)]),
    ).toMatchObject(own)
  })

  it('are none without a publisher, and for a publisher whose lane is closed', () => {
    const { events, reads, campaign, campaignId, publisherId } = callWorld()
    const none = {
      payoutMode: 'none',
      payoutCents: null,
      revsharePct: null,
      minPayoutCents: null,
      maxPayoutCents: null,
      payoutWithheld: null,
    }
    const arriving = { workspace: reads.workspace, ledger: ledger.initial, campaign, ...nobody, at: NOW }
    expect(termsFor({ ...arriving, publisherId: null })).toMatchObject(none)
    const closed = given(workspace, events).when(closeLane, { campaignId, publisherId })
    expect(termsFor({ ...arriving, workspace: closed.state, publisherId })).toMatchObject(none)
    expect(termsFor({ ...arriving, campaign: null, publisherId: null })).toMatchObject({ ...none, bufferSeconds: 0 })
  })
})

const FIXED = { payoutMode: 'fixed', payoutCents: 100 }
const FLOORED = { payoutMode: 'revshare', revsharePct: 10, minPayoutCents: 50 }

describe('the payout is withheld', () => {
  const standing = (...moves: readonly string[]) => {
    const { events, campaign, publisherId } = callWorld()
    const moved = moves.reduce(
      (before, status) => given(workspace, before).when(setPublisherStatus, { publisherId, status }).events,
      events,
    )
    const { state } = given(workspace, moved).when(setPublisherStatus, { publisherId, status: moves.at(-1) })
    return termsFor({ workspace: state, ledger: ledger.initial, campaign, publisherId, ...nobody, at: NOW })
  }

  it.each([['paused'], ['review'], ['terminated']])('from a publisher who is %s', (status) => {
    expect(standing(status).payoutWithheld).toBe('publisher_not_live')
  })

  it('no longer when the publisher is live again', () => {
    expect(standing('paused', 'live').payoutWithheld).toBeNull()
  })

  it.each([
    ['14:00', '15:00', 'lane_closed'],
    ['15:00', '15:01', null],
  ])('outside the lane’s hours, %s to %s', (open, close, reason) => {
    expect(withheld({ hoursSchedule: { tz: 'UTC', days: { tue: [[open, close]] } } })).toBe(reason)
  })

  it.each([
    [['NY'], 'CA', 'lane_state'],
    [['NY'], null, 'lane_state'],
    [['NY', 'CA'], 'CA', null],
    [[], null, null],
    [null, null, null],
  ])('by the lane’s states: %j for a caller from %s', (states, callerState, reason) => {
    expect(withheld({ states }, { callerState })).toBe(reason)
  })

  it.each([
    [{ concurrencyCap: 2 }, { live: 2 }, { live: 1 }],
    [{ hourlyCap: 2 }, { taken: windows(2) }, { taken: windows(1) }],
    [{ dailyCap: 2 }, { taken: windows(2) }, { taken: windows(1) }],
    [{ monthlyCap: 2 }, { taken: windows(2) }, { taken: windows(1) }],
    [{ dailyPayoutCapCents: 200 }, { cents: windows(200) }, { cents: windows(199) }],
    [{ ...FIXED, dailyPayoutCapCents: 200 }, { cents: windows(101) }, { cents: windows(100) }],
    [{ ...FLOORED, dailyPayoutCapCents: 200 }, { cents: windows(151) }, { cents: windows(150) }],
  ])('by a reached cap of the lane: %j', (cap, full, free) => {
    expect([withheld(cap, { counter: full }), withheld(cap, { counter: free })]).toEqual(['lane_capped', null])
    expect(withheld({ ...cap, blockWhenCapped: false }, { counter: full })).toBe('lane_capped')
  })

  const windowed = { dedupeWindowSeconds: 60 }
  const seen = (seconds: number): CallerSighting => ({ at: instantAfter(seconds), targetId: null })

  it.each([
    ['at the very instant', 0, 'duplicate'],
    ['inside the window', -59.999, 'duplicate'],
    ['as the window ends', -60, null],
    ['in a call dated later', 59.999, 'duplicate'],
    ['in a call dated a window later', 60, null],
  ])('from a caller that the lane sent %s', (_when, seconds, reason) => {
    expect(withheld(windowed, { sent: seen(seconds) })).toBe(reason)
  })

  it('never from a hidden caller, nor under a window of 0', () => {
    expect(withheld(windowed, { sent: seen(-1), caller: null })).toBeNull()
    expect(withheld({}, { sent: seen(-1) })).toBeNull()
  })

  it('for the first reason in the order of the lane’s rules', () => {
    const shut = { tz: 'UTC', days: { tue: [['14:00', '15:00']] } }
    const all = { ...windowed, hoursSchedule: shut, states: ['NY'], hourlyCap: 1 }
    const worst = { sent: seen(-1), counter: { taken: windows(1) } }
    expect(withheld(all, worst)).toBe('lane_closed')
    expect(withheld({ ...all, hoursSchedule: null }, worst)).toBe('lane_state')
    expect(withheld({ ...all, hoursSchedule: null, states: null }, worst)).toBe('lane_capped')
    expect(withheld(windowed, worst)).toBe('duplicate')
  })

  it('by caps that reset at the edge of the UTC window', () => {
    const counter = { taken: windows(1, '2026-03-10T15:59:59.999Z') }
    expect(withheld({ hourlyCap: 1 }, { counter, at: '2026-03-10T15:59:59.999Z' })).toBe('lane_capped')
    expect(withheld({ hourlyCap: 1 }, { counter, at: '2026-03-10T16:00:00.000Z' })).toBeNull()
  })
})

describe('the other terms', () => {
  it('have the lane’s buffer, else the campaign’s', () => {
    const buffered = changeSteps.campaign({ bufferSeconds: 60 })
    expect(termsOf([buffered]).bufferSeconds).toBe(60)
    expect(termsOf([buffered, changeSteps.lane({ bufferSeconds: 0 })]).bufferSeconds).toBe(0)
    expect(termsOf([buffered, changeSteps.lane({ bufferSeconds: 3_600 })]).bufferSeconds).toBe(3_600)
  })

  it.each([
    ['starter', 5],
    ['growth', 4],
    ['scale', 3],
  ])('have the usage rate of the plan %s', (planId, usageRateCents) => {
    const changed = planId === 'scale' ? [] : [[changePlan, () => ({ planId })] as const]
    expect(termsOf(changed).usageRateCents).toBe(usageRateCents)
  })
})
