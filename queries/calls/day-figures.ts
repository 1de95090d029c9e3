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
  'profitCents',
  'usageCents',
] as const

/** The figures of the calls of each day, zeros for a day without any, and what its minutes cost. */
export function dayFiguresOf(views: Pick<ReadStore, 'sum'>, workspaceId: string, days: readonly LocalDay[]) {
  return Promise.all(
    days.map(async ({ date, fromMs, toMs }) => {
      const startedMs = { $gte: fromMs, $lt: toMs }
      const [whole] = await views.sum(collectionOf(callLog), { workspaceId, startedMs }, [], SUMMED)
      const [connected = 0, converted = 0, unrouted = 0, revenueCents = 0, payoutCents = 0, ...others] =
        whole?.sums ?? []
      const [profitCents = 0, usageCents = 0] = others
      const calls = whole?.count ?? 0
      const day = { date, calls, connected, converted, unrouted, revenueCents, payoutCents, profitCents }
      return { day, usageCents }
    }),
  )
}

/** What the calls of one campaign or buyer came to. */
export interface EarnerFigures {
  readonly id: string
  readonly calls: number
  readonly converted: number
  readonly revenueCents: number
  readonly profitCents: number
}

/** The campaigns or buyers with the most revenue of the calls in a window (ms): at most `most`, in that order. */
export async function topEarners(
  views: Pick<ReadStore, 'sum'>,
  workspaceId: string,
  kind: 'campaign' | 'buyer',
  { fromMs, toMs }: Pick<LocalDay, 'fromMs' | 'toMs'>,
  most: number,
): Promise<readonly EarnerFigures[]> {
  const filter = { workspaceId, startedMs: { $gte: fromMs, $lt: toMs } }
  const groups = await views.sum(
    collectionOf(callLog),
    filter,
    [`${kind}.id`],
    ['convertedCount', 'revenueCents', 'profitCents'],
  )
  return groups
    .flatMap(({ key: [id = null], count: calls, sums: [converted = 0, revenueCents = 0, profitCents = 0] }) =>
      id === null ? [] : [{ id: String(id), calls, converted, revenueCents, profitCents }],
    )
    .toSorted(
      (one, other) => other.revenueCents - one.revenueCents || other.calls - one.calls || (one.id < other.id ? -1 : 1),
    )
    .slice(0, most)
}
