import { bookRows } from '../../projections/reporting/book-rows.ts'
import { collectionOf } from '../../src/kernel/projection.ts'
import type { ReadStore } from '../../src/ports/read-store.ts'

/**
 * The instant (ms since the epoch) as of which a report reads: the one that is asked for, else that of the newest row of the
 * books, so that the same report as of this instant says the same. Without any row: `nowMs`.
 */
export async function asOfMs(views: ReadStore, workspaceId: string, asOf: string | undefined, nowMs: number) {
  if (asOf !== undefined) return Date.parse(asOf)
  const question = { filter: { workspaceId }, groupBy: [], fields: [], newest: 'recordedMs' }
  const groups = await views.sumRows(collectionOf(bookRows), question)
  return groups?.[0]?.newest ?? nowMs
}
