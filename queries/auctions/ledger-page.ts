import { bidLedger } from '../../projections/auctions/bid-ledger.ts'
import { pingLedger } from '../../projections/auctions/ping-ledger.ts'
import { type AnyProjection, collectionOf } from '../../src/kernel/projection.ts'
import type { Filter, ReadStore } from '../../src/ports/read-store.ts'
import { type ListPage, type ListRows, listRows, readRows, readSlice } from '../shared/documents.ts'
import { pageOptions } from '../shared/listing.ts'
import { inWindow, type PingSelection } from './ping-filter.ts'
import type { PingDoc } from './ping-row.ts'

/** The page of a ledger in the store: newest first. */
export function ledgerPage(
  selection: PingSelection,
  asked: Parameters<typeof pageOptions>[0],
): ListPage & { readonly filter: Filter } {
  const filter = { ...selection.filter, atMs: inWindow(selection) }
  return { filter, ...pageOptions(asked, () => ({ atMs: -1 })) }
}

/** A page of one of the ledgers, with the number of all rows that are selected: counted after it was read, so that it includes its rows. */
async function withTotal<Slice extends object>(
  views: ReadStore,
  ledger: AnyProjection,
  { filter }: ReturnType<typeof ledgerPage>,
  slice: Slice,
): Promise<Slice & { readonly total: number }> {
  return { ...slice, total: await views.count(collectionOf(ledger), filter) }
}

/** A page of the requests to bidders, and the number of all that are selected. */
export async function readBidPage(views: ReadStore, page: ReturnType<typeof ledgerPage>) {
  return withTotal(views, bidLedger, page, await readSlice(views, bidLedger, page.filter, page))
}

/** Defines the rows of a list of publishers' pings. */
export const pingRows = <Row>(rowOf: (doc: PingDoc) => Row): ListRows<Row> => listRows(rowOf, ['atMs'])

/** The rows of a page of publishers' pings, and the number of all that are selected. */
export async function readPingRows<Row>(views: ReadStore, page: ReturnType<typeof ledgerPage>, rows: ListRows<Row>) {
  return withTotal(views, pingLedger, page, await readRows(views, pingLedger, page.filter, page, rows))
}
