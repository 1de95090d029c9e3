import type { bidLedger } from '../../projections/auctions/bid-ledger.ts'
import type { pingLedger } from '../../projections/auctions/ping-ledger.ts'
import type { WithId } from '../../src/kernel/document.ts'
import { collectionOf } from '../../src/kernel/projection.ts'
import { skipOf } from '../../src/kernel/wire.ts'
import type { ReadStore } from '../../src/ports/read-store.ts'
import { type DocOf, type ProjectionOf, readAll } from '../shared/documents.ts'
import { inWindow, type PingSelection } from './ping-filter.ts'

/** The page of a ledger in the store: newest first. */
export function ledgerPage(selection: PingSelection, query: { readonly page: number; readonly pageSize: number }) {
  const filter = { ...selection.filter, atMs: inWindow(selection) }
  return { filter, sort: { atMs: -1 }, skip: skipOf(query), limit: query.pageSize } as const
}

/** A page of one of the ledgers, and the number of all rows that are selected. */
export async function readLedgerPage<Doc extends DocOf<typeof pingLedger> | DocOf<typeof bidLedger>>(
  views: ReadStore,
  ledger: ProjectionOf<Doc>,
  page: ReturnType<typeof ledgerPage>,
): Promise<{ readonly docs: readonly WithId<Doc>[]; readonly total: number }> {
  const docs = await readAll(views, ledger, page)
  // After the page, so that the total includes its rows.
  return { docs, total: await views.count(collectionOf(ledger), page.filter) }
}
