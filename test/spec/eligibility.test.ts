import { describe, expect, it } from 'vitest'
import type { Buyer } from '../../src/domain/buyer.ts'
import { type Counter, counterKey, ledger, NO_COUNTER } from '../../src/domain/ledger.ts'
import { type Look, lookAt, takenIn } from '../../src/domain/routing/eligibility.ts'
import { planFor } from '../../src/domain/routing/plan.ts'
import type { Target } from '../../src/domain/target.ts'
import { counted, NO_COUNTS, windowsOf } from '../../src/domain/windows.ts'
import { callWorld } from '../support/call-world.ts'
import { idOf, NOW } from '../support/spec.ts'

const { reads, campaign, targetId, buyerId } = callWorld()
const [planned] = planFor(reads.workspace, campaign, 1)
if (!planned) throw new Error('The plan is empty.')

interface Case {
  readonly target?: Partial<Target>
  readonly buyer?: Partial<Buyer>
  readonly counter?: Partial<Counter>
  readonly buyerCounter?: Partial<Counter>
  readonly callerState?: string | null
  readonly campaignStates?: readonly string[]
  readonly at?: string
}

function looked({ target, buyer, counter, buyerCounter, callerState = 'CA', campaignStates = [], at = NOW }: Case) {
  const { targets, buyers } = reads.workspace
  const look: Look = {
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
    },
    callerState,
    campaignStates,
    at,
  }
  const seen = lookAt(planned as NonNullable<typeof planned>, look)
  return 'reason' in seen ? seen : null
}

const taken = (by: number, at = NOW) => ({
  taken: counted(NO_COUNTS, Object.values(windowsOf(at)), by, NOW),
  total: by,
})
const cents = (by: number, at = NOW) => ({ cents: counted(NO_COUNTS, [windowsOf(at).day], by, NOW) })
const open = (from: string, to: string): Target['hoursSchedule'] => ({
  tz: 'UTC',
  days: { mon: [], tue: [[from, to]], wed: [], thu: [], fri: [], sat: [], sun: [] },
})

/** Each reason with what it skips, its sentence and figures, and the nearest thing that it does not skip. */
const SKIPS: readonly (readonly [string, Case, string, object, Case])[] = [
  ['paused', { target: { status: 'paused' } }, 'The target is paused.', {}, {}],
  ['buyer_paused', { buyer: { status: 'paused' } }, 'Buyer Solar Co is paused.', {}, {}],
  ['buyer_paused', { buyer: { status: 'archived' } }, 'Buyer Solar Co is archived.', {}, {}],
  ['no_destination', { target: { endpoint: null } }, 'The target has nothing to dial.', {}, {}],
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
    'Target Front desk does not take callers from CA.',
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
]

describe('a target that is looked at', () => {
  it('can take the call when nothing speaks against it, every cap being 0', () => {
    expect(looked({ counter: { ...taken(99), live: 99 }, buyerCounter: { ...taken(99), live: 99 } })).toBeNull()
  })

  it.each(SKIPS)('is skipped: %s %j', (reason, skipping, sentence, figures, passing) => {
    expect(looked(skipping)).toEqual({ targetId: targetId(), targetName: 'Front desk', reason, sentence, figures })
    expect(looked(passing)).toBeNull()
  })

  it('is skipped for the first reason in the documented order', () => {
    const documented = [
      'paused',
      'buyer_paused',
      'no_destination',
      'closed',
      'state',
      'concurrency',
      'capped',
      'buyer_capped',
    ]
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

  it('is gone when it is in no workspace', () => {
    const seen = lookAt(
      { ...planned, targetId: idOf(9) },
      {
        workspace: reads.workspace,
        ledger: ledger.initial,
        callerState: null,
        campaignStates: [],
        at: NOW,
      },
    )
    expect(seen).toMatchObject({ reason: 'no_destination', sentence: 'The target is gone.' })
  })
})

describe('windows of caps', () => {
  const late = '2026-03-31T23:59:59.999Z'
  const next = '2026-04-01T00:00:00.000Z'

  it.each(['hourly', 'daily', 'monthly'] as const)('%s roll on the edge in UTC', (window) => {
    const full = { target: { [`${window}Cap`]: 1 }, counter: taken(1, late) }
    expect([looked({ ...full, at: late })?.reason, looked({ ...full, at: next })]).toEqual(['capped', null])
  })

  it('a lifetime has none', () => {
    expect(looked({ target: { totalCap: 1 }, counter: taken(1, late), at: next })?.reason).toBe('capped')
  })

  it('revenue rolls at midnight in UTC', () => {
    const full = { buyer: { dailyRevenueCapCents: 1 }, buyerCounter: cents(1, late) }
    expect([looked({ ...full, at: late })?.reason, looked({ ...full, at: next })]).toEqual(['buyer_capped', null])
  })

  it('a call dated in the past is judged in its own', () => {
    const counter = { ...NO_COUNTER, ...taken(3, '2026-03-01T10:30:00.000Z') }
    expect(takenIn(counter, '2026-03-01T10:59:59.999Z')).toEqual({ hour: 3, day: 3, month: 3, total: 3 })
    expect(takenIn(counter, NOW)).toEqual({ hour: 0, day: 0, month: 3, total: 3 })
  })
})
