import { describe, expect, it } from 'vitest'
import type { Buyer } from '../../../src/domain/demand/buyer.ts'
import type { Target } from '../../../src/domain/demand/target.ts'
import { type CallerSighting, targetCallerKey } from '../../../src/domain/routing/callers.ts'
import { slotsTakenAt } from '../../../src/domain/routing/caps.ts'
import { type Counter, counterKey, NO_COUNTER } from '../../../src/domain/routing/counters.ts'
import { checkEligibility, type EligibilityContext } from '../../../src/domain/routing/eligibility.ts'
import { ledger } from '../../../src/domain/routing/ledger.ts'
import { orderedPlan } from '../../../src/domain/routing/plan.ts'
import { healthAfterFailure, type TargetHealth } from '../../../src/domain/routing/target-health.ts'
import { skipReason } from '../../../src/domain/shared/call-codes.ts'
import { addToCounts, NO_COUNTS, windowsOf } from '../../../src/domain/shared/windows.ts'
import { CALLER, callWorld, instantAfter } from '../../support/fixtures/call-world.ts'
import { idOf, NOW } from '../../support/fixtures/spec.ts'

const { reads, campaign, targetId, buyerId } = callWorld()
const [planned] = orderedPlan(reads.workspace, campaign, 1)
if (!planned) throw new Error('The plan is empty.')

interface Case {
  readonly target?: Partial<Target>
  readonly buyer?: Partial<Buyer>
  readonly counter?: Partial<Counter>
  readonly buyerCounter?: Partial<Counter>
  readonly caller?: string | null
  /** Instant of the target's last connection with the caller. */
  readonly reached?: CallerSighting
  readonly tags?: Readonly<Record<string, string>>
  readonly callerState?: string | null
  readonly campaignStates?: readonly string[]
  readonly health?: TargetHealth
  readonly at?: string
}

function looked({ target, buyer, counter, buyerCounter, caller = CALLER, reached, tags = {}, health, ...rest }: Case) {
  const { callerState = 'CA', campaignStates = [], at = NOW } = rest
  const { targets, buyers } = reads.workspace
  const look: EligibilityContext = {
    workspace: {
      ...reads.workspace,
      targets: targets.update(targetId(), (old) => old && { ...old, ...target }),
      buyers: buyers.update(buyerId, (old) => old && { ...old, ...buyer }),
    },
    ledger: {
      ...ledger.initial,
      counters: ledger.initial.counters
        .set(counterKey('target', targetId()), { ...NO_COUNTER, ...counter })
        .set(counterKey('buyer', buyerId), { ...NO_COUNTER, ...buyerCounter }),
      health: health ? ledger.initial.health.set(targetId(), health) : ledger.initial.health,
    },
    caller,
    callerState,
    tags: Object.fromEntries(Object.entries(tags).map(([key, value]) => [key, { value, source: 'system' }])),
    campaignName: campaign.name,
    campaignStates,
    lastSeen: (key) => (key === targetCallerKey(targetId(), CALLER) ? (reached ?? null) : null),
    at,
  }
  const seen = checkEligibility(planned as NonNullable<typeof planned>, look)
  return 'reason' in seen ? seen : null
}

/** Health of a target that answered 503, by the age of that answer in seconds. */
const unavailable = (seconds: number) =>
  healthAfterFailure(null, {
    outcome: 'failed',
    sipCode: 503,
    retryAfterSeconds: null,
    occurredAt: instantAfter(seconds),
  })
const DAYS_90 = 90 * 86_400
const reachedAt = (seconds: number) => ({ at: instantAfter(seconds), targetId: targetId() })
const taken = (by: number, at = NOW) => ({
  taken: addToCounts(NO_COUNTS, Object.values(windowsOf(at)), by, NOW),
  total: by,
})
const cents = (by: number, at = NOW) => ({ cents: addToCounts(NO_COUNTS, [windowsOf(at).day], by, NOW) })
const open = (from: string, to: string): Target['hoursSchedule'] => ({
  tz: 'UTC',
  days: { mon: [], tue: [[from, to]], wed: [], thu: [], fri: [], sat: [], sun: [] },
})

/** Each reason with a skipped case, its sentence and figures, and the closest case that is not skipped. */
const SKIPS: readonly (readonly [string, Case, string, object, Case])[] = [
  ['paused', { target: { status: 'paused' } }, 'The target is paused.', {}, {}],
  ['buyer_paused', { buyer: { status: 'paused' } }, 'Buyer Solar Co is paused.', {}, {}],
  ['buyer_paused', { buyer: { status: 'archived' } }, 'Buyer Solar Co is archived.', {}, {}],
  ['no_destination', { target: { endpoint: null } }, 'The target has nothing to dial.', {}, {}],
  [
    'suppressed',
    { health: unavailable(-14.5) },
    'Target Front desk is switched off for 16 more seconds after 1 failed dial.',
    { secondsLeft: 16, suppressedUntil: instantAfter(15.5), consecutiveFailures: 1 },
    { health: unavailable(-30) },
  ],
  [
    'closed',
    { target: { hoursSchedule: open('09:00', '15:00') } },
    'Target Front desk is closed at this hour.',
    {},
    { target: { hoursSchedule: open('15:00', '15:01') } },
  ],
  [
    'state',
    { target: { states: ['NY'] } },
    'Target Front desk does not take callers from CA.',
    { state: 'CA' },
    { target: { states: ['NY', 'CA'] } },
  ],
  [
    'state',
    { campaignStates: ['NY'] },
    'Campaign Solar West does not take callers from CA.',
    { state: 'CA' },
    { campaignStates: ['CA'], target: { states: ['CA'] } },
  ],
  [
    'state',
    { callerState: null, target: { states: ['CA'] } },
    "Target Front desk takes callers of certain states only, and the caller's is not known.",
    { state: null },
    { callerState: null },
  ],
  [
    'concurrency',
    { target: { concurrencyCap: 2 }, counter: { live: 2 } },
    'Target Front desk has 2 of 2 calls in progress.',
    { window: 'concurrency', cap: 2, count: 2 },
    { target: { concurrencyCap: 2 }, counter: { live: 1 } },
  ],
  ...(['hourly', 'daily', 'monthly'] as const).map(
    (window) =>
      [
        'capped',
        { target: { [`${window}Cap`]: 5 }, counter: taken(5) },
        `Target Front desk has reached its ${window} cap: 5 of 5 calls.`,
        { window, cap: 5, count: 5 },
        { target: { [`${window}Cap`]: 5 }, counter: taken(4) },
      ] as const,
  ),
  [
    'capped',
    { target: { totalCap: 5 }, counter: { total: 5 } },
    'Target Front desk has reached its lifetime cap: 5 of 5 calls.',
    { window: 'lifetime', cap: 5, count: 5 },
    { target: { totalCap: 5 }, counter: { total: 4 } },
  ],
  [
    'buyer_capped',
    { buyer: { concurrencyCap: 1 }, buyerCounter: { live: 1 } },
    'Buyer Solar Co has 1 of 1 calls in progress.',
    { window: 'concurrency', cap: 1, count: 1 },
    { buyer: { concurrencyCap: 1 }, counter: { live: 1 } },
  ],
  ...(['hourly', 'daily', 'monthly'] as const).map(
    (window) =>
      [
        'buyer_capped',
        { buyer: { [`${window}Cap`]: 5 }, buyerCounter: taken(5) },
        `Buyer Solar Co has reached its ${window} cap: 5 of 5 calls.`,
        { window, cap: 5, count: 5 },
        { buyer: { [`${window}Cap`]: 5 }, buyerCounter: taken(4) },
      ] as const,
  ),
  [
    'buyer_capped',
    { buyer: { dailyRevenueCapCents: 9_000 }, buyerCounter: cents(9_000) },
    'Buyer Solar Co has reached its daily revenue cap: 9000 of 9000 cents.',
    { window: 'daily revenue', capCents: 9_000, cents: 9_000 },
    { buyer: { dailyRevenueCapCents: 9_000 }, buyerCounter: cents(8_999) },
  ],
  [
    'spend_capped',
    { target: { dailyRevenueCapCents: 9_000 }, counter: cents(9_000) },
    'Target Front desk has reached its daily revenue cap: 9000 of 9000 cents.',
    { window: 'daily revenue', capCents: 9_000, cents: 9_000 },
    { target: { dailyRevenueCapCents: 9_000 }, counter: cents(8_999) },
  ],
  [
    'duplicate',
    { target: { dedupeWindowSeconds: DAYS_90 }, reached: reachedAt(-DAYS_90 + 1) },
    'The caller reached target Front desk less than 90 days ago.',
    { windowSeconds: DAYS_90, reachedAt: instantAfter(-DAYS_90 + 1) },
    { target: { dedupeWindowSeconds: DAYS_90 }, reached: reachedAt(-DAYS_90) },
  ],
  [
    'tag_filter',
    { target: { tagFilters: [{ key: 'source', op: 'eq', value: 'search' }] }, tags: { source: 'social' } },
    'Target Front desk takes only calls whose tag source is “search”.',
    { key: 'source', op: 'eq', value: '“search”', tag: 'social' },
    { target: { tagFilters: [{ key: 'source', op: 'eq', value: 'search' }] }, tags: { source: 'search' } },
  ],
]

describe('checkEligibility', () => {
  it('returns the target when no rule skips it and every cap is 0', () => {
    expect(looked({ counter: { ...taken(99), live: 99 }, buyerCounter: { ...taken(99), live: 99 } })).toBeNull()
  })

  it.each(SKIPS)('skips a target: %s %j', (reason, skipping, sentence, figures, passing) => {
    expect(looked(skipping)).toEqual({ targetId: targetId(), targetName: 'Front desk', reason, sentence, figures })
    expect(looked(passing)).toBeNull()
  })

  it('skips a target for the first reason in the documented order', () => {
    const documented = [
      'paused',
      'buyer_paused',
      'no_destination',
      'suppressed',
      'closed',
      'state',
      'concurrency',
      'capped',
      'buyer_capped',
      'spend_capped',
      'duplicate',
      'tag_filter',
    ]
    expect(skipReason.options.filter((reason) => documented.includes(reason))).toEqual(documented)
    expect([...new Set(SKIPS.map(([reason]) => reason))]).toEqual(documented)
    SKIPS.forEach(([reason], from) => {
      const cases = SKIPS.slice(from)
        .toReversed()
        .map(([, skipping]) => skipping)
      const all = (part: 'target' | 'buyer' | 'counter' | 'buyerCounter') =>
        Object.assign({}, ...cases.map((each) => each[part]))
      const parts = {
        target: all('target'),
        buyer: all('buyer'),
        counter: all('counter'),
        buyerCounter: all('buyerCounter'),
      }
      expect(looked({ ...Object.assign({}, ...cases), ...parts })?.reason).toBe(reason)
    })
  })

  it('skips a target that the workspace does not have', () => {
    const seen = checkEligibility(
      { ...planned, targetId: idOf(9) },
      {
        workspace: reads.workspace,
        ledger: ledger.initial,
        caller: null,
        callerState: null,
        tags: {},
        campaignName: campaign.name,
        campaignStates: [],
        lastSeen: () => null,
        at: NOW,
      },
    )
    expect(seen).toMatchObject({ reason: 'no_destination', sentence: 'The target has nothing to dial.' })
  })
})

describe('a caller that a target was connected to', () => {
  const windowed = { target: { dedupeWindowSeconds: 60 } }

  it.each([
    ['at the very instant', 0, 'duplicate'],
    ['inside the window', -59.999, 'duplicate'],
    ['as the window ends', -60, undefined],
    ['known though dated later', 59.999, 'duplicate'],
    ['dated a window later', 60, undefined],
  ])('%s', (_when, seconds, reason) => {
    expect(looked({ ...windowed, reached: reachedAt(seconds) })?.reason).toBe(reason)
  })

  it('is no duplicate under a window of 0, nor when hidden', () => {
    expect(looked({ reached: reachedAt(-1) })).toBeNull()
    expect(looked({ ...windowed, reached: reachedAt(-1), caller: null })).toBeNull()
  })
})

describe('windows of caps', () => {
  const late = '2026-03-31T23:59:59.999Z'
  const next = '2026-04-01T00:00:00.000Z'

  it.each(['hourly', 'daily', 'monthly'] as const)('%s caps reset at the edge of the UTC window', (window) => {
    const full = { target: { [`${window}Cap`]: 1 }, counter: taken(1, late) }
    expect([looked({ ...full, at: late })?.reason, looked({ ...full, at: next })]).toEqual(['capped', null])
  })

  it('a lifetime cap has no window', () => {
    expect(looked({ target: { totalCap: 1 }, counter: taken(1, late), at: next })?.reason).toBe('capped')
  })

  it('the revenue cap resets at midnight UTC', () => {
    const buyer = { buyer: { dailyRevenueCapCents: 1 }, buyerCounter: cents(1, late) }
    expect([looked({ ...buyer, at: late })?.reason, looked({ ...buyer, at: next })]).toEqual(['buyer_capped', null])
    const target = { target: { dailyRevenueCapCents: 1 }, counter: cents(1, late) }
    expect([looked({ ...target, at: late })?.reason, looked({ ...target, at: next })]).toEqual(['spend_capped', null])
  })

  it('a call dated in the past is checked in its own windows', () => {
    const counter = { ...NO_COUNTER, ...taken(3, '2026-03-01T10:30:00.000Z') }
    expect(slotsTakenAt(counter, '2026-03-01T10:59:59.999Z')).toEqual({ hour: 3, day: 3, month: 3, total: 3 })
    expect(slotsTakenAt(counter, NOW)).toEqual({ hour: 0, day: 0, month: 3, total: 3 })
  })
})
