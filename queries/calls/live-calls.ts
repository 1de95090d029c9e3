import { z } from 'zod'
import { callLog } from '../../projections/calls/call-log.ts'
import { secondsBetween } from '../../src/domain/calls/call.ts'
import { callStatus } from '../../src/domain/shared/call-codes.ts'
import { named } from '../../src/domain/shared/fields.ts'
import { LIVE_BOARD } from '../../src/domain/shared/limits.ts'
import { collectionOf } from '../../src/kernel/projection.ts'
import { defineQuery } from '../../src/kernel/query.ts'
import { id, instant } from '../../src/kernel/wire.ts'
import type { QueryPorts } from '../../src/ports/query-ports.ts'
import type { Filter, ReadStore } from '../../src/ports/read-store.ts'
import { readAll } from '../shared/documents.ts'
import type { CallDoc } from './call-row.ts'
import { liveFilter } from './live-figures.ts'

const TALKING = 'in_progress'

/** A call in progress (Document 2, Live call row). */
export const liveCallRow = z
  .object({
    id,
    ref: z.string(),
    status: callStatus,
    startedAt: instant,
    answeredAt: instant.nullable(),
    elapsedSeconds: z.int(),
    talkSeconds: z.int(),
    callerNumber: z.string().nullable(),
    callerState: z.string().nullable(),
    dialedNumber: z.string(),
    campaign: named.nullable(),
    publisher: named.nullable(),
    target: named.nullable(),
    buyer: named.nullable(),
    attemptNo: z.int(),
  })
  .meta({ id: 'LiveCall' })

function liveRowOf(doc: CallDoc, at: string): z.infer<typeof liveCallRow> {
  return {
    id: doc.id,
    ref: doc.ref,
    status: doc.status,
    startedAt: doc.startedAt,
    answeredAt: doc.answeredAt,
    elapsedSeconds: secondsBetween(doc.startedAt, at),
    talkSeconds: doc.answeredAt === null ? 0 : secondsBetween(doc.answeredAt, at),
    callerNumber: doc.callerNumber,
    callerState: doc.callerState,
    dialedNumber: doc.dialedNumber,
    campaign: doc.campaign,
    publisher: doc.publisher,
    target: doc.target,
    buyer: doc.buyer,
    attemptNo: doc.attemptCount,
  }
}

/** Number of calls in progress, and of those that are connected: from the rows, or from the store when the board is full. */
async function countLiveCalls(views: ReadStore, filter: Filter, rows: readonly CallDoc[]) {
  if (rows.length < LIVE_BOARD.calls)
    return { count: rows.length, connected: rows.filter(({ status }) => status === TALKING).length }
  const [count, connected] = await Promise.all([
    views.count(collectionOf(callLog), filter),
    views.count(collectionOf(callLog), { ...filter, status: TALKING }),
  ])
  return { count, connected }
}

/** The live board: calls that have not ended, newest first. `truncated` where more are in progress than the board lists. */
export const liveCalls = defineQuery({
  name: 'live-calls',
  summary: 'List the calls in progress',
  mounts: [
    { surface: 'rest', path: '/api/v1/calls/live', scope: 'calls:read' },
    { surface: 'console', path: '/api/tracking/calls/live' },
  ],
  params: z.object({}),
  query: z.object({}),
  response: z.object({
    live: z.array(liveCallRow),
    count: z.int(),
    connected: z.int(),
    truncated: z.boolean(),
    at: instant,
  }),
  headers: { 'cache-control': 'no-store' },
  reads: [callLog],
  async run({ views }: QueryPorts, { tenant, now }) {
    const filter = liveFilter(tenant.workspaceId, now)
    const rows = await readAll(views, callLog, { filter, sort: { startedMs: -1 }, limit: LIVE_BOARD.calls })
    const counts = await countLiveCalls(views, filter, rows)
    return {
      live: rows.map((doc) => liveRowOf(doc, now)),
      ...counts,
      truncated: counts.count > rows.length,
      at: now,
    }
  },
})
