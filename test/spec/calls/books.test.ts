import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type BookFacts, billedMinutes, booksOf, usageFor } from '../../../src/domain/calls/books.ts'
import type { Posted } from '../../../src/domain/calls/call-changes.ts'
import type { Terms } from '../../../src/domain/routing/decision.ts'
import { payoutFor } from '../../../src/domain/routing/terms.ts'

const none: Terms = {
  payoutMode: 'none',
  payoutCents: null,
  revsharePct: null,
  minPayoutCents: null,
  maxPayoutCents: null,
  payoutWithheld: null,
  bufferSeconds: 0,
  usageRateCents: 3,
}
const share = (
  revsharePct: number,
  minPayoutCents: number | null = null,
  maxPayoutCents: number | null = null,
): Terms => ({
  ...none,
  payoutMode: 'revshare',
  revsharePct,
  minPayoutCents,
  maxPayoutCents,
})
const fixed: Terms = { ...none, payoutMode: 'fixed', payoutCents: 1_500, minPayoutCents: 2_000, maxPayoutCents: 1_000 }

describe('payoutFor', () => {
  it('is 0 without terms, and the fixed amount regardless of minimum and maximum', () => {
    expect([payoutFor(none, 4_000), payoutFor(fixed, 4_000), payoutFor(fixed, 0)]).toEqual([0, 1_500, 1_500])
  })

  it.each([
    [50, 4_000, 2_000],
    [50, 4_001, 2_001],
    [50, 3_999, 2_000],
    [33.3, 100, 33],
    [33.5, 100, 34],
    [33.49, 100, 33],
    [0.29, 5_000, 15],
    [100, 1, 1],
    [0, 4_000, 0],
  ])('rounds %d %% of %d cents half up to %d', (pct, revenue, payout) => {
    expect(payoutFor(share(pct), revenue)).toBe(payout)
  })

  it.each([
    [share(50, 500), 999, 500],
    [share(50, 500), 1_000, 500],
    [share(50, 500), 1_002, 501],
    [share(50, null, 500), 1_000, 500],
    [share(50, null, 500), 1_002, 500],
    [share(50, null, 500), 998, 499],
    [share(50, 300, 300), 4_000, 300],
    [share(50, 300), 0, 300],
    [share(50, null, 0), 4_000, 0],
  ])('is kept between minimum and maximum: %j of %d cents', (terms, revenue, payout) => {
    expect(payoutFor(terms, revenue)).toBe(payout)
  })

  it.each(['publisher_not_live', 'lane_closed', 'lane_state', 'lane_capped', 'duplicate'] as const)(
    'is nothing when withheld: %s',
    (payoutWithheld) => {
      expect(payoutFor({ ...fixed, payoutWithheld }, 4_000)).toBe(0)
      expect(payoutFor({ ...share(50, 100), payoutWithheld }, 4_000)).toBe(0)
    },
  )

  it('rounds half up exactly for every share of two decimals', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 10_000 }),
        fc.integer({ min: 0, max: 100_000_000 }),
        (hundredths, revenue) => {
          const exact = (BigInt(revenue) * BigInt(hundredths) + 5_000n) / 10_000n
          expect(payoutFor(share(hundredths / 100), revenue)).toBe(Number(exact))
        },
      ),
      { numRuns: 2_000 },
    )
  })
})

const sold = { revenueCents: 4_000, durationThresholdSeconds: 30 }
const facts = (talkSeconds: number, more: Partial<BookFacts> = {}): BookFacts => ({
  terms: fixed,
  sold,
  dialled: true,
  talkSeconds,
  posted: null,
  corrections: {},
  ...more,
})
const posting = (revenueCents: number | null, source: Posted['source'] = 'postback'): Posted => ({
  source,
  revenueCents,
  note: null,
  externalId: null,
})
const nothing = { converted: false, source: null, revenueCents: 0, payoutCents: 0 }

describe('booksOf', () => {
  it('converts at the threshold', () => {
    expect(booksOf(facts(30))).toEqual({
      converted: true,
      source: 'duration',
      reason: 'duration',
      revenueCents: 4_000,
      payoutCents: 1_500,
    })
  })

  it('does not convert one second below the threshold, and gives the reason', () => {
    expect(booksOf(facts(29))).toEqual({ ...nothing, reason: 'under_threshold:29s_of_30s' })
  })

  it('converts on connection at a threshold of 0, and books 0 for a delivery', () => {
    const delivered = { terms: share(50), sold: { revenueCents: 0, durationThresholdSeconds: 0 } }
    expect(booksOf(facts(0, delivered))).toMatchObject({ converted: true, revenueCents: 0, payoutCents: 0 })
  })

  it.each([
    [false, 'no_buyer'],
    [true, 'not_answered'],
  ])('books nothing when no target answered; dialled %j: %s', (dialled, reason) => {
    expect(booksOf(facts(0, { sold: null, dialled }))).toEqual({ ...nothing, reason })
  })

  it.each(['postback', 'manual'] as const)('converts by what was posted, at the frozen price: %s', (source) => {
    expect(booksOf(facts(29, { posted: posting(null, source) }))).toEqual({
      converted: true,
      source,
      reason: source,
      revenueCents: 4_000,
      payoutCents: 1_500,
    })
  })

  it('books the posted revenue, and the payout of it', () => {
    const paid = { terms: share(50), posted: posting(901) }
    expect(booksOf(facts(29, paid))).toMatchObject({ source: 'postback', revenueCents: 901, payoutCents: 451 })
    expect(booksOf(facts(30, paid))).toMatchObject({ source: 'duration', revenueCents: 901, payoutCents: 451 })
    expect(booksOf(facts(30, { posted: posting(0) }))).toMatchObject({ converted: true, revenueCents: 0 })
  })

  it.each([
    [{ revenueCents: 600 }, 30, { converted: true, source: 'duration', revenueCents: 600, payoutCents: 300 }],
    [{ payoutCents: 7 }, 30, { converted: true, revenueCents: 4_000, payoutCents: 7 }],
    [{ revenueCents: 0, payoutCents: 0 }, 30, { converted: true, revenueCents: 0, payoutCents: 0 }],
    [{ converted: false }, 30, { ...nothing, reason: 'manual' }],
    [{ converted: false, payoutCents: 9 }, 30, { ...nothing, reason: 'manual', payoutCents: 9 }],
    [{ converted: true }, 29, { converted: true, source: 'manual', reason: 'manual', revenueCents: 4_000 }],
    [{ converted: true }, 30, { converted: true, source: 'duration', reason: 'duration' }],
    [{ converted: false }, 29, { ...nothing, reason: 'under_threshold:29s_of_30s' }],
    [{ revenueCents: 600 }, 29, { ...nothing, revenueCents: 600 }],
  ])('keeps each corrected figure and computes the others: %j after %d seconds', (corrections, talk, books) => {
    expect(booksOf(facts(talk, { terms: share(50), corrections }))).toMatchObject(books)
  })

  it('prefers corrections to posted figures', () => {
    const both = { terms: share(50), posted: posting(901), corrections: { revenueCents: 100 } }
    expect(booksOf(facts(29, both))).toMatchObject({ source: 'postback', revenueCents: 100, payoutCents: 50 })
    expect(booksOf(facts(29, { ...both, corrections: { converted: false } }))).toMatchObject(nothing)
  })
})

describe('usage', () => {
  it.each([
    [0, 0],
    [1, 1],
    [60, 1],
    [61, 2],
    [3_600, 60],
  ])('%d seconds are %d billed minutes', (seconds, minutes) => {
    expect(billedMinutes(seconds)).toBe(minutes)
  })

  it.each([
    [0, 3, 0],
    [1, 3, 3],
    [61, 3, 6],
    [60, 3.49, 3],
    [60, 3.5, 4],
    [3_000, 0.29, 15],
    [60, 0.01, 0],
  ])('%d seconds at %d cents cost %d', (seconds, rate, cents) => {
    expect(usageFor(seconds, rate)).toBe(cents)
  })

  it('rounds half up exactly for every rate of two decimals', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 2_000 }), fc.integer({ min: 1, max: 5_000 }), (hundredths, minutes) => {
        expect(usageFor(minutes * 60, hundredths / 100)).toBe(Number((BigInt(hundredths * minutes) + 50n) / 100n))
      }),
      { numRuns: 2_000 },
    )
  })
})
