import { bidLedger } from '../../projections/auctions/bid-ledger.ts'
import { pingLedger } from '../../projections/auctions/ping-ledger.ts'
import type { InboundPing } from '../../src/domain/auctions/inbound-ping.ts'
import type { OutboundPing } from '../../src/domain/bidding/outbound-ping.ts'
import type { CsvColumn } from '../../src/domain/shared/csv.ts'
import { EXPORT } from '../../src/domain/shared/limits.ts'
import type { WithId } from '../../src/kernel/document.ts'
import type { Conditions, ReadStore } from '../../src/ports/read-store.ts'
import { type ProjectionOf, readAll } from '../shared/documents.ts'
import type { PingSelection } from './ping-filter.ts'
import { inboundRowOf, outboundRowOf } from './ping-row.ts'

/** Columns of publishers' pings as a file, in order (Document 2, export). */
export const inboundColumns: readonly CsvColumn<InboundPing>[] = [
  { heading: 'ref', of: ({ ref }) => ref },
  { heading: 'at', of: ({ at }) => at },
  { heading: 'outcome', of: ({ outcome }) => outcome },
  { heading: 'reasonCode', of: ({ reason }) => reason?.code ?? null },
  { heading: 'reason', of: ({ reason }) => reason?.reason ?? null },
  { heading: 'reasonSentence', of: ({ reason }) => reason?.sentence ?? null },
  { heading: 'campaign', of: ({ campaign }) => campaign?.name ?? null },
  { heading: 'publisher', of: ({ publisher }) => publisher?.name ?? null },
  { heading: 'callerNumber', of: ({ callerNumber }) => callerNumber },
  { heading: 'callerState', of: ({ callerState }) => callerState },
  { heading: 'elapsedMs', of: ({ elapsedMs }) => elapsedMs },
  { heading: 'statusCode', of: ({ statusCode }) => statusCode },
  { heading: 'payoutCents', of: ({ payoutCents }) => payoutCents },
  { heading: 'clearingPriceCents', of: ({ clearingPriceCents }) => clearingPriceCents },
  { heading: 'winningTarget', of: ({ winningTarget }) => winningTarget?.name ?? null },
  { heading: 'targetsSolicited', of: ({ targetsSolicited }) => targetsSolicited },
  { heading: 'bidsReceived', of: ({ bidsReceived }) => bidsReceived },
]

/** Columns of requests to bidders as a file, in order (Document 2, export). */
export const outboundColumns: readonly CsvColumn<OutboundPing>[] = [
  { heading: 'bidId', of: ({ id }) => id },
  { heading: 'at', of: ({ at }) => at },
  { heading: 'origin', of: ({ origin }) => origin },
  { heading: 'auctionRef', of: ({ auction }) => auction.ref },
  { heading: 'campaign', of: ({ campaign }) => campaign?.name ?? null },
  { heading: 'publisher', of: ({ publisher }) => publisher?.name ?? null },
  { heading: 'target', of: ({ target }) => target?.name ?? null },
  { heading: 'buyer', of: ({ buyer }) => buyer?.name ?? null },
  { heading: 'status', of: ({ status }) => status },
  { heading: 'won', of: ({ won }) => won },
  { heading: 'bidCents', of: ({ bidCents }) => bidCents },
  { heading: 'httpStatus', of: ({ httpStatus }) => httpStatus },
  { heading: 'latencyMs', of: ({ latencyMs }) => latencyMs },
  { heading: 'rejectCode', of: ({ rejectCode }) => rejectCode },
  { heading: 'rejectReason', of: ({ rejectReason }) => rejectReason },
  { heading: 'sentence', of: ({ sentence }) => sentence },
  { heading: 'callId', of: ({ callId }) => callId },
]

type Views = Pick<ReadStore, 'find'>

/**
 * The selected documents of one ledger in batches, newest first, as many as a file holds. Rows that arrive meanwhile do not
 * shift them: each batch begins at the last instant of the one before, without the rows of it that were read.
 */
async function* documentBatches<Doc extends { readonly atMs: number }>(
  views: Views,
  projection: ProjectionOf<Doc>,
  { filter, fromMs, toMs }: PingSelection,
): AsyncGenerator<readonly WithId<Doc>[]> {
  let upper: Conditions = { $lt: toMs }
  let seen: ReadonlySet<string> = new Set()
  for (let left: number = EXPORT.pings; left > 0; ) {
    const limit = Math.min(EXPORT.batch, left) + seen.size
    const page = { filter: { ...filter, atMs: { $gte: fromMs, ...upper } }, sort: { atMs: -1 }, limit } as const
    const found = await readAll(views, projection, page)
    const fresh = found.filter(({ id }) => !seen.has(id)).slice(0, left)
    yield fresh
    const last = found.at(-1)
    if (!last || found.length < limit) return
    left -= fresh.length
    upper = { $lte: last.atMs }
    // The rows of the last instant come first on the next page, those that were read among them.
    seen = new Set(found.filter(({ atMs }) => atMs === last.atMs).map(({ id }) => id))
  }
}

/** Selected pings of publishers, in batches. */
export async function* inboundBatches(views: Views, selection: PingSelection): AsyncGenerator<readonly InboundPing[]> {
  for await (const batch of documentBatches(views, pingLedger, selection)) yield batch.map(inboundRowOf)
}

/** Selected requests to bidders, in batches, as they stand at an instant. */
export async function* outboundBatches(
  views: Views,
  selection: PingSelection,
  nowMs: number,
): AsyncGenerator<readonly OutboundPing[]> {
  for await (const batch of documentBatches(views, bidLedger, selection))
    yield batch.map((doc) => outboundRowOf(doc, nowMs))
}
