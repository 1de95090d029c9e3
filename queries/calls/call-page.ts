import type { z } from 'zod'
import { callLog } from '../../projections/calls/call-log.ts'
import type { WrittenRow } from '../../src/kernel/written-row.ts'
import type { Filter, ReadStore } from '../../src/ports/read-store.ts'
import { type ListRows, listRows, readRows } from '../shared/documents.ts'
import type { ListPlace } from '../shared/list-cursor.ts'
import { pageOptions } from '../shared/listing.ts'
import type { CallDoc } from './call-row.ts'
import { type callStats, callStatsOf } from './call-stats.ts'

/** Defines the rows of a list of calls. */
export const callRows = <Row>(rowOf: (doc: CallDoc) => Row): ListRows<Row> =>
  listRows(rowOf, ['startedMs', 'talkSeconds', 'revenueCents', 'payoutCents'])

/** A page of the calls that pass a filter, and the figures of all of them. */
export async function readCallPage<Row>(
  views: ReadStore,
  filter: Filter,
  page: Parameters<typeof pageOptions>[0],
  rows: ListRows<Row>,
): Promise<{
  readonly rows: WrittenRow<Row>[]
  readonly next: ListPlace | null
  readonly stats: z.infer<typeof callStats>
}> {
  const slice = await readRows(views, callLog, filter, pageOptions(page), rows)
  // After the page, so that the figures include its calls.
  return { ...slice, stats: await callStatsOf(views, filter) }
}
