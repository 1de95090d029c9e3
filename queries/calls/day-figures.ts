import { z } from 'zod'
import { callLog } from '../../projections/calls/call-log.ts'
import type { LocalDay } from '../../src/domain/shared/local-days.ts'
import { collectionOf } from '../../src/kernel/projection.ts'
import type { ReadStore } from '../../src/ports/read-store.ts'

const figures = {
  calls: z.int(),
  connected: z.int(),
  converted: z.int(),
  unrouted: z.int(),
  revenueCents: z.int(),
  payoutCents: z.int(),
  profitCents: z.int(),
}

/** The figures of one day of a workspace's calendar. */
export const dayFigures = z.object({ date: z.iso.date(), ...figures }).meta({ id: 'DayFigures' })

const SUMMED = [
  'connectedCount',
  'convertedCount',
  'unroutedCount',
  'revenueCents',
  'payoutCents',
  'usageCents',
] as const

/** What the calls of one campaign or buyer came to. */
export interface EarnerFigures {
  readonly id: string
  readonly calls: number
  readonly converted: number
  readonly revenueCents: number
  readonly profitCents: number
}

type Groups = Awaited<ReturnType<ReadStore['sum']>>

/** Adds groups up: their number of calls, and each of the sums. */
function totalOf(groups: Groups) {
  const [connected, converted, unrouted, revenueCents, payoutCents, usageCents] = SUMMED.map((_, place) =>
    groups.reduce((total, { sums }) => total + (sums[place] ?? 0), 0),
  )
  return {
    calls: groups.reduce((total, { count }) => total + count, 0),
    connected: connected ?? 0,
    converted: converted ?? 0,
    unrouted: unrouted ?? 0,
    revenueCents: revenueCents ?? 0,
    payoutCents: payoutCents ?? 0,
    usageCents: usageCents ?? 0,
  }
}

/** Of groups by several ids those with the most revenue by one of them (its place in the key): at most `most`, in that order. */
function topOf(groups: Groups, place: number, most: number): readonly EarnerFigures[] {
  const byId = Map.groupBy(groups, ({ key }) => key[place] ?? null)
  byId.delete(null)
  return [...byId]
    .map(([id, own]) => {
      const { calls, converted, revenueCents, payoutCents } = totalOf(own)
      return { id: String(id), calls, converted, revenueCents, profitCents: revenueCents - payoutCents }
    })
    .toSorted(
      (one, other) => other.revenueCents - one.revenueCents || other.calls - one.calls || (one.id < other.id ? -1 : 1),
    )
    .slice(0, most)
}

/**
 * The figures of the calls of each day, zeros for a day without any; what their minutes cost; and the campaigns and buyers with
 * the most revenue, `most` of each. Each call is looked at once: the sums of a day are by campaign and buyer.
 */
export async function readDays(
  views: Pick<ReadStore, 'sum'>,
  workspaceId: string,
  days: readonly LocalDay[],
  most: number,
) {
  const found = await Promise.all(
    days.map(async ({ date, fromMs, toMs }) => {
      const filter = { workspaceId, startedMs: { $gte: fromMs, $lt: toMs } }
      return { date, groups: await views.sum(collectionOf(callLog), filter, ['campaign.id', 'buyer.id'], SUMMED) }
    }),
  )
  const groups = found.flatMap((day) => day.groups)
  return {
    days: found.map(({ date, groups: own }) => {
      const { usageCents: _usage, ...sums } = totalOf(own)
      return { date, ...sums, profitCents: sums.revenueCents - sums.payoutCents }
    }),
    usageCents: totalOf(groups).usageCents,
    campaigns: topOf(groups, 0, most),
    buyers: topOf(groups, 1, most),
  }
}
