import { z } from 'zod'
import { capCounters as usageProjection } from '../../projections/routing/cap-counters.ts'
import { healthStatus, type TargetHealth, targetHealth } from '../../src/domain/routing/target-health.ts'
import type { ReadStore } from '../../src/ports/read-store.ts'
import { readMany } from '../shared/documents.ts'

/** How much of its caps a buyer or target has used, by UTC hour, day and month. */
export const usage = z
  .object({
    liveCalls: z.int(),
    hour: z.int(),
    day: z.int(),
    month: z.int(),
    total: z.int(),
    dayRevenueCents: z.int(),
  })
  .meta({ id: 'Usage' })

/** How much of its caps a lane has used. */
export const laneUsage = usage
  .omit({ total: true, dayRevenueCents: true })
  .extend({ dayPayoutCents: z.int() })
  .meta({ id: 'LaneUsage' })

/** Health of a target. */
export const health = targetHealth.omit({ suppressedFrom: true, isRequest: true }).extend({ health: healthStatus })
type Health = Readonly<z.infer<typeof health>>

type WindowCounts = Readonly<Record<string, number>>

/** Counters of one record in the read model. */
interface Counters {
  readonly liveCalls: number
  readonly hours: WindowCounts
  readonly days: WindowCounts
  readonly months: WindowCounts
  readonly total: number
  readonly revenueDays: WindowCounts
  readonly payoutDays: WindowCounts
  readonly health?: TargetHealth | null | undefined
}

const NONE: Counters = { liveCalls: 0, hours: {}, days: {}, months: {}, total: 0, revenueDays: {}, payoutDays: {} }
const UNKNOWN: Health = { health: 'unknown', lastError: null, consecutiveFailures: 0, suppressedUntil: null }

const HOUR = 'YYYY-MM-DDTHH'.length
const DAY = 'YYYY-MM-DD'.length
const MONTH = 'YYYY-MM'.length

/** Counters of records of one kind, by the record's id. */
export async function countersOf(
  views: ReadStore,
  kind: 'target' | 'buyer' | 'lane' | 'campaign',
  ids: readonly string[],
): Promise<ReadonlyMap<string, Counters>> {
  const found = await readMany(
    views,
    usageProjection,
    ids.map((id) => `${kind}:${id}`),
  )
  return new Map(ids.map((id) => [id, found.get(`${kind}:${id}`) ?? NONE]))
}

/** Calls in progress of a record. */
export function liveCallsOf(counters: ReadonlyMap<string, Counters>, id: string): number {
  return (counters.get(id) ?? NONE).liveCalls
}

/** A buyer's or target's usage in the windows that hold an instant (ISO, UTC). */
export function usageOf(counters: ReadonlyMap<string, Counters>, id: string, now: string) {
  const { liveCalls, hours, days, months, total, revenueDays } = counters.get(id) ?? NONE
  return {
    liveCalls,
    hour: hours[now.slice(0, HOUR)] ?? 0,
    day: days[now.slice(0, DAY)] ?? 0,
    month: months[now.slice(0, MONTH)] ?? 0,
    total,
    dayRevenueCents: revenueDays[now.slice(0, DAY)] ?? 0,
  }
}

/** A lane's usage in the windows that hold an instant (ISO, UTC). */
export function laneUsageOf(counters: ReadonlyMap<string, Counters>, id: string, now: string) {
  const { liveCalls, hour, day, month } = usageOf(counters, id, now)
  const dayPayoutCents = (counters.get(id) ?? NONE).payoutDays[now.slice(0, DAY)] ?? 0
  return { liveCalls, hour, day, month, dayPayoutCents }
}

/** A target's health at an instant; a suppression that is over is left out. */
export function healthOf(counters: ReadonlyMap<string, Counters>, id: string, now: string): Health {
  const stored = counters.get(id)?.health ?? null
  if (stored === null) return UNKNOWN
  const { health, lastError, consecutiveFailures, suppressedUntil } = stored
  const isOver = suppressedUntil === null || suppressedUntil <= now
  return { health, lastError, consecutiveFailures, suppressedUntil: isOver ? null : suppressedUntil }
}
