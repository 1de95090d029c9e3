import { z } from 'zod'
import { callLog } from '../../projections/calls/call-log.ts'
import { localMidnight } from '../../src/domain/shared/hours.ts'
import { collectionOf } from '../../src/kernel/projection.ts'
import type { Tenant } from '../../src/kernel/query.ts'
import type { ReadStore } from '../../src/ports/read-store.ts'
import { rate } from '../shared/rate.ts'

/** Today's figures of a record, on the workspace calendar; a rate is null when its denominator is 0. */
export const today = z
  .object({
    calls: z.int(),
    connected: z.int(),
    converted: z.int(),
    connectRate: z.number().nullable(),
    conversionRate: z.number().nullable(),
    revenueCents: z.int(),
    payoutCents: z.int(),
  })
  .meta({ id: 'TodayFigures' })
export type Today = Readonly<z.infer<typeof today>>

function todayFigures(
  calls: number,
  [connected = 0, converted = 0, revenueCents = 0, payoutCents = 0]: readonly number[],
): Today {
  return {
    calls,
    connected,
    converted,
    connectRate: rate(connected, calls),
    conversionRate: rate(converted, connected),
    revenueCents,
    payoutCents,
  }
}

/** Today's figures of records, by record id; read them with `todayFor`, since records without calls are left out. */
export async function todayOf(
  views: ReadStore,
  { tenant, now }: { readonly tenant: Tenant; readonly now: string },
  kind: 'buyer' | 'target' | 'campaign',
  ids: readonly string[],
): Promise<ReadonlyMap<string, Today>> {
  if (ids.length === 0) return new Map()
  const { workspaceId, timezone } = tenant
  const at = Date.parse(now)
  const startedMs = { $gte: localMidnight(timezone, at, 0), $lt: localMidnight(timezone, at, -1) }
  const groups = await views.sum(
    collectionOf(callLog),
    { workspaceId, startedMs, [`${kind}.id`]: { $in: ids } },
    [`${kind}.id`],
    ['connectedCount', 'convertedCount', 'revenueCents', 'payoutCents'],
  )
  return new Map(groups.map(({ key: [id], count, sums }) => [String(id), todayFigures(count, sums)]))
}

/** Today's figures of one record; zeros where it has no calls. */
export function todayFor(figuresById: ReadonlyMap<string, Today>, id: string): Today {
  return figuresById.get(id) ?? todayFigures(0, [])
}
