import type { z } from 'zod'
import { callLog } from '../../projections/calls/call-log.ts'
import type { Filter, ReadStore } from '../../src/ports/read-store.ts'
import { readSlice } from '../shared/documents.ts'
import type { ListPlace } from '../shared/list-cursor.ts'
import { pageOptions } from '../shared/listing.ts'
import type { CallDoc } from './call-row.ts'
import { type callStats, callStatsOf } from './call-stats.ts'

/** A page of the calls that pass a filter, and the figures of all of them. */
export async function readCallPage(
  views: ReadStore,
  filter: Filter,
  page: Parameters<typeof pageOptions>[0],
): Promise<{
  readonly docs: readonly CallDoc[]
  readonly next: ListPlace | null
  readonly stats: z.infer<typeof callStats>
}> {
  const slice = await readSlice(views, callLog, filter, pageOptions(page))
  // After the page, so that the figures include its calls.
  return { ...slice, stats: await callStatsOf(views, filter) }
}
