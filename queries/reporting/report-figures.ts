import { rate } from '../shared/rate.ts'

/** The figures that rows of the books are summed to, in order. */
export const SUMMED_FIGURES = [
  'calls',
  'connected',
  'converted',
  'unrouted',
  'missed',
  'revenueCents',
  'payoutCents',
  'usageCents',
  'totalTalkSeconds',
] as const
/** The same with what was lost. */
export const LOST_FIGURES = [...SUMMED_FIGURES, 'lostCents'] as const
type SummedFigure = (typeof LOST_FIGURES)[number]

/** Sums of rows. */
export type BookSums = Readonly<Record<SummedFigure, number>>

/** Sums in the order of `LOST_FIGURES`; what is left out is 0. */
export function bookSums([
  calls = 0,
  connected = 0,
  converted = 0,
  unrouted = 0,
  missed = 0,
  revenueCents = 0,
  payoutCents = 0,
  usageCents = 0,
  totalTalkSeconds = 0,
  lostCents = 0,
]: readonly number[]): BookSums {
  return {
    calls,
    connected,
    converted,
    unrouted,
    missed,
    revenueCents,
    payoutCents,
    usageCents,
    totalTalkSeconds,
    lostCents,
  }
}

/** Sums of sums. */
export function addSums(one: BookSums, other: BookSums): BookSums {
  return bookSums(LOST_FIGURES.map((figure) => one[figure] + other[figure]))
}

/** The figures of a group, with those that follow from its sums. */
export function reportFigures(sums: BookSums) {
  const { calls, connected, converted, unrouted, missed, revenueCents, payoutCents, usageCents } = sums
  const { totalTalkSeconds } = sums
  return {
    calls,
    connected,
    converted,
    unrouted,
    missed,
    connectRate: rate(connected, calls),
    conversionRate: rate(converted, connected),
    revenueCents,
    payoutCents,
    profitCents: revenueCents - payoutCents,
    usageCents,
    totalTalkSeconds,
    avgTalkSeconds: connected === 0 ? 0 : Math.round(totalTalkSeconds / connected),
  }
}
export type ReportFigures = ReturnType<typeof reportFigures>

/** What groups can be sorted by, besides their keys. */
export const METRICS = [
  'calls',
  'connected',
  'converted',
  'unrouted',
  'missed',
  'connectRate',
  'conversionRate',
  'revenueCents',
  'payoutCents',
  'profitCents',
  'usageCents',
  'totalTalkSeconds',
  'avgTalkSeconds',
] as const satisfies readonly (keyof ReportFigures)[]
export type Metric = (typeof METRICS)[number]
