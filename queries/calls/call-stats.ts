import { z } from 'zod'
import { callLog } from '../../projections/calls/call-log.ts'
import { collectionOf } from '../../src/kernel/projection.ts'
import type { Filter, ReadStore } from '../../src/ports/read-store.ts'
import { rate } from '../shared/rate.ts'

/** Figures of a set of calls; a rate is null when its denominator is 0. */
export const callStats = z
  .object({
    count: z.int(),
    connected: z.int(),
    converted: z.int(),
    unrouted: z.int(),
    connectRate: z.number().nullable(),
    conversionRate: z.number().nullable(),
    revenueCents: z.int(),
    payoutCents: z.int(),
    profitCents: z.int(),
    usageCents: z.int(),
    avgTalkSeconds: z.int(),
    totalTalkSeconds: z.int(),
  })
  .meta({ id: 'CallStats' })

const SUMMED = [
  'connectedCount',
  'convertedCount',
  'unroutedCount',
  'revenueCents',
  'payoutCents',
  'profitCents',
  'usageCents',
  'talkSeconds',
] as const

/** Figures of all calls that pass a filter. */
export async function callStatsOf(views: ReadStore, filter: Filter): Promise<z.infer<typeof callStats>> {
  const [whole] = await views.sum(collectionOf(callLog), filter, [], SUMMED)
  const { count, sums } = whole ?? { count: 0, sums: [] }
  const [connected = 0, converted = 0, unrouted = 0, revenueCents = 0, payoutCents = 0, ...others] = sums
  const [profitCents = 0, usageCents = 0, totalTalkSeconds = 0] = others
  return {
    count,
    connected,
    converted,
    unrouted,
    connectRate: rate(connected, count),
    conversionRate: rate(converted, connected),
    revenueCents,
    payoutCents,
    profitCents,
    usageCents,
    avgTalkSeconds: connected === 0 ? 0 : Math.round(totalTalkSeconds / connected),
    totalTalkSeconds,
  }
}
