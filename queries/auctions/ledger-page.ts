import type { bidLedger } from '../../projections/auctions/bid-ledger.ts'
import type { pingLedger } from '../../projections/auctions/ping-ledger.ts'
import type { WithId } from '../../src/kernel/document.ts'
import { collectionOf } from '../../src/kernel/projection.ts'
import type { Filter, ReadStore } from '../../src/ports/read-store.ts'
import { type DocOf, type ListPage, type ProjectionOf, readSlice } from '../shared/documents.ts'
import type { ListPlace } from '../shared/list-cursor.ts'
import { pageOptions } from '../shared/listing.ts'
import { inWindow, type PingSelection } from './ping-filter.ts'

/** The page of a ledger in the store: newest first. */
export function ledgerPage(
  selection: PingSelection,
  asked: Parameters<typeof pageOptions>[0],
): ListPage & { readonly filter: Filter } {
  const filter = { ...selection.filter, atMs: inWindow(selection) }
  return { filter, ...pageOptions(asked, () => ({ atMs: -1 })) }
}

/** A page of one of the ledgers, and the number of all rows that are selected. */
export async function readLedgerPage<Doc extends DocOf<typeof pingLedger> | DocOf<typeof bidLedger>>(
  views: ReadStore,
  ledger: ProjectionOf<Doc>,
  page: ReturnType<typeof ledgerPage>,
): Promise<{ readonly docs: readonly WithId<Doc>[]; readonly total: number; readonly next: ListPlace | null }> {
  const slice = await readSlice(views, ledger, page.filter, page)
  // After the page, so that the total includes its rows.
  return { ...slice, total: await views.count(collectionOf(ledger), page.filter) }
}
