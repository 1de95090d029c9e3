import { z } from 'zod'
import { bidLedger } from '../../projections/auctions/bid-ledger.ts'
import { pingLedger } from '../../projections/auctions/ping-ledger.ts'
import { isAsked } from '../../src/domain/auctions/asked-targets.ts'
import { pingOutcome } from '../../src/domain/auctions/no-bid.ts'
import { outboundStatus } from '../../src/domain/bidding/outbound-ping.ts'
import { localMidnight } from '../../src/domain/shared/hours.ts'
import { PING } from '../../src/domain/shared/limits.ts'
import { DAY_MS } from '../../src/domain/shared/time.ts'
import { zoneOrUtc } from '../../src/domain/shared/zones.ts'
import { collectionOf } from '../../src/kernel/projection.ts'
import type { QueryContext } from '../../src/kernel/query.ts'
import { type Refusal, refuse } from '../../src/kernel/refusal.ts'
import { id, queryInstant, queryInteger } from '../../src/kernel/wire.ts'
import type { Filter, ReadStore } from '../../src/ports/read-store.ts'
import { readOne } from '../shared/documents.ts'

/** Publishers' pings, or requests to bidders. */
export const pingDirection = z.enum(['inbound', 'outbound']).meta({ id: 'PingDirection' })
export type PingDirection = z.infer<typeof pingDirection>

/** The `direction` of a query. */
export const directionField = pingDirection
  .optional()
  .transform((direction): PingDirection => direction ?? 'inbound')
  .meta({ default: 'inbound' })

/** The filters that the list and the summary share. A text that is no date is a refusal of the window, not of its type. */
export const pingWindowFilters = {
  direction: directionField,
  from: z.string().optional(),
  to: z.string().optional(),
  campaignId: id.optional(),
  publisherId: id.optional(),
  targetId: id.optional(),
}

/** The filters of the ping ledger, to be spread into a query (Document 2, list pings). */
export const pingFilters = {
  ...pingWindowFilters,
  outcome: pingOutcome.optional(),
  status: outboundStatus.optional(),
  reasonCode: queryInteger(PING.reasonCode).optional(),
  q: z.string().max(PING.search).optional(),
}

const windowQuery = z.object(pingWindowFilters)
type WindowQuery = Readonly<z.infer<typeof windowQuery>>
const pingQuery = z.object(pingFilters)
export type PingQuery = Readonly<z.infer<typeof pingQuery>>

type Context<Query> = Pick<QueryContext<unknown, Query>, 'query' | 'tenant' | 'now'>

/** A window: from `fromMs`, before `toMs` (ms since the epoch). */
interface Window {
  readonly fromMs: number
  readonly toMs: number
}

/** The queried window: by default from midnight six days ago, on the workspace's clock, to now. */
export function selectWindow({ query, tenant, now }: Context<WindowQuery>): Window | Refusal<'bad-request'> {
  const instantOf = (text: string | undefined) => (text === undefined ? null : queryInstant.safeParse(text))
  const [from, to] = [instantOf(query.from), instantOf(query.to)]
  const wrong = [from?.success === false ? ['from'] : [], to?.success === false ? ['to'] : []].flat()
  if (wrong.length > 0)
    return refuse(
      'bad-request',
      Object.fromEntries(wrong.map((field) => [field, 'must be an ISO 8601 instant or a date'])),
    )
  const nowMs = Date.parse(now)
  const fromMs = from?.data
    ? Date.parse(from.data)
    : localMidnight(zoneOrUtc(tenant.timezone), nowMs, PING.defaultDaysBack)
  const toMs = to?.data ? Date.parse(to.data) : nowMs
  if (fromMs > toMs) return refuse('bad-request', { from: 'must not be after to' })
  if (toMs - fromMs > PING.windowDays * DAY_MS)
    return refuse('bad-request', { from: `must be at most ${PING.windowDays} days before to` })
  return { fromMs, toMs }
}

/** The condition on the instant of the rows in a window. */
export const inWindow = ({ fromMs, toMs }: Window) => ({ $gte: fromMs, $lt: toMs })

/** A window in a response. */
export const windowOf = ({ fromMs, toMs }: Window) => ({
  from: new Date(fromMs).toISOString(),
  to: new Date(toMs).toISOString(),
})

/** Filters of one direction that are sent with the other. */
const OTHER_DIRECTION = { inbound: ['status', 'outbound'], outbound: ['outcome', 'inbound'] } as const

function directionProblem(query: PingQuery): Refusal<'bad-request'> | null {
  const [field, owner] = OTHER_DIRECTION[query.direction]
  return query[field] === undefined ? null : refuse('bad-request', { [field]: `needs direction=${owner}` })
}

/** A won bid without a call has expired once its life is over: no event says so. */
function statusCondition(status: PingQuery['status'], nowMs: number): Filter {
  if (status === 'won') return { status, expiresMs: { $gt: nowMs } }
  return status === 'expired' ? { status: 'won', expiresMs: { $lte: nowMs } } : { status }
}

/** What filters are resolved with. */
type FilterViews = Pick<ReadStore, 'get' | 'find' | 'sum'>

const REFERENCE = /^(?:AU|CA)-\d{10}$/
/** Rows that a search by reference finds at most: the requests of one auction, or of one call. */
const FOUND_ROWS = 1_000

/** The ids of the rows that a search text names: an auction by reference or id, or a bid by id. */
async function foundIds(views: FilterViews, workspaceId: string, direction: PingDirection, text: string) {
  const projection = direction === 'inbound' ? pingLedger : bidLedger
  const idsOf = async (condition: Filter) =>
    (await views.find(collectionOf(projection), { filter: { workspaceId, ...condition }, limit: FOUND_ROWS })).map(
      (found) => found.id,
    )
  const reference = text.toUpperCase()
  if (REFERENCE.test(reference)) return idsOf({ [direction === 'inbound' ? 'ref' : 'auction.ref']: reference })
  const named = id.safeParse(text)
  if (!named.success) return []
  const bid = await readOne(views, bidLedger, workspaceId, named.data)
  if (direction === 'inbound') return [bid?.auction.id ?? named.data]
  return bid ? [bid.id] : idsOf({ 'auction.id': named.data })
}

/** The rows that a search text names; all for none. They are found by their ids: a window would be read whole otherwise. */
async function searchCondition(
  views: FilterViews,
  workspaceId: string,
  { direction, q = '' }: PingQuery,
): Promise<Filter> {
  const text = q.trim()
  return text === '' ? {} : { _id: { $in: await foundIds(views, workspaceId, direction, text) } }
}

/** The auctions of a window in which a target was asked for a price, or won; all without a target. */
export async function askedCondition(
  views: Pick<ReadStore, 'sum'>,
  workspaceId: string,
  window: Window,
  targetId: string | undefined,
): Promise<Filter> {
  if (targetId === undefined) return {}
  const filter = { workspaceId, atMs: inWindow(window) }
  const groups = await views.sum(collectionOf(pingLedger), filter, ['asked'], [])
  return { asked: { $in: groups.flatMap(({ key: [text = null] }) => (isAsked(text, targetId) ? [text] : [])) } }
}

/** The conditions on fields that one ledger alone has. */
async function ownConditions(
  views: FilterViews,
  workspaceId: string,
  window: Window,
  query: PingQuery,
  nowMs: number,
): Promise<Filter> {
  const { direction, targetId, outcome, status, reasonCode } = query
  return direction === 'inbound'
    ? { outcome, reasonCode, ...(await askedCondition(views, workspaceId, window, targetId)) }
    : { 'target.id': targetId, rejectCode: reasonCode, ...statusCondition(status, nowMs) }
}

/** What a query selects of one ledger. `filter` is that of the rows apart from their instant. */
export interface PingSelection extends Window {
  readonly filter: Filter
}

/** The rows that a query selects; a refusal that names the invalid field. */
export async function selectPings(
  views: FilterViews,
  { query, tenant, now }: Context<PingQuery>,
): Promise<PingSelection | Refusal<'bad-request'>> {
  const problem = directionProblem(query)
  if (problem) return problem
  const window = selectWindow({ query, tenant, now })
  if ('refused' in window) return window
  const { workspaceId } = tenant
  const filter = {
    workspaceId,
    'campaign.id': query.campaignId,
    'publisher.id': query.publisherId,
    ...(await ownConditions(views, workspaceId, window, query, Date.parse(now))),
    ...(await searchCondition(views, workspaceId, query)),
  }
  return { ...window, filter }
}
