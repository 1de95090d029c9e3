import { z } from 'zod'
import { askedText } from '../../src/domain/auctions/asked-targets.ts'
import { auctionEvents, type AuctionHeld as Held } from '../../src/domain/auctions/auction.ts'
import { type InboundPing, inboundPing, rowOfHeld, rowOfRefused } from '../../src/domain/auctions/inbound-ping.ts'
import { PING_RETENTION_MS } from '../../src/domain/shared/limits.ts'
import { defineProjection } from '../../src/kernel/projection.ts'
import { id } from '../../src/kernel/wire.ts'
import { columnSpecOf } from '../shared/column-spec.ts'

/** What became of a ping's offer. `repeated`: it is the offer of an earlier ping, on whose row it is `open` or claimed. */
const offerState = z.enum(['none', 'open', 'repeated', 'claimed', 'void'])

const doc = inboundPing.omit({ id: true, direction: true }).extend({
  workspaceId: id,
  /** Number of the auction in its workspace. */
  seq: z.int(),
  atMs: z.int(),
  reasonCode: z.int().nullable(),
  /** Targets that were asked for a price, and the one that won (`askedText`). */
  asked: z.string().nullable(),
  /** The auction that made the offer. */
  offerId: id.nullable(),
  offerState,
  /** End of the offer (ms since the epoch). */
  expiresMs: z.int().nullable(),
  /** The call that claimed the offer. */
  callId: id.nullable(),
  claimedCount: z.int(),
})
type Doc = Readonly<z.infer<typeof doc>>

function docOf(row: InboundPing, workspaceId: string, seq: number, held: Held | null): Doc {
  const { id: auctionId, direction: _, ...fields } = row
  const offer = held?.offer ?? null
  const asked = [...(held?.bids ?? []).map(({ target }) => target.id), ...(offer ? [offer.target.id] : [])]
  return {
    ...fields,
    workspaceId,
    seq,
    atMs: Date.parse(row.at),
    reasonCode: row.reason?.code ?? null,
    asked: askedText(asked),
    offerId: offer?.auctionId ?? null,
    offerState: offer === null ? 'none' : offer.auctionId === auctionId ? 'open' : 'repeated',
    expiresMs: offer && Date.parse(offer.expiresAt),
    callId: null,
    claimedCount: 0,
  }
}

/** Numbers that pings are filtered and summed by. */
const SUMMED = ['atMs', 'payoutCents', 'claimedCount', 'expiresMs'] as const
/** Values that pings are filtered and grouped by. The time that an answer took is one of few. */
const GROUPED = [
  'outcome',
  'reasonCode',
  'environment',
  'offerState',
  'elapsedMs',
  'asked',
  'campaign.id',
  'publisher.id',
] as const

const { AuctionHeld, PingRefused, OfferClaimed, BidVoided } = auctionEvents

/** One document for each ping of a publisher, by auction id: the row of the inbound ledger (Document 2, Inbound ping). */
export const pingLedger = defineProjection({
  name: 'ping-ledger',
  // 2: targets as one text.
  version: 2,
  events: { AuctionHeld, PingRefused, OfferClaimed, BidVoided },
  cached: false,
  doc,
  indexes: [
    { workspaceId: 1, atMs: -1 },
    { workspaceId: 1, 'publisher.id': 1, atMs: -1 },
    { workspaceId: 1, ref: 1 },
  ],
  columns: ['seq', ...SUMMED, ...GROUPED],
  shared: GROUPED,
  key: ({ data }) => ('ping' in data ? data.ping.auctionId : data.auctionId),
  create: {
    AuctionHeld: ({ data, meta: { workspaceId } }) =>
      workspaceId === null ? null : docOf(rowOfHeld(data), workspaceId, data.seq, data),
    PingRefused: ({ data, meta: { workspaceId } }) =>
      workspaceId === null ? null : docOf(rowOfRefused(data), workspaceId, data.seq, null),
  },
  update: {
    OfferClaimed: (doc, { data }): Doc => ({ ...doc, offerState: 'claimed', callId: data.callId, claimedCount: 1 }),
    BidVoided: (doc): Doc => ({ ...doc, offerState: 'void' }),
  },
  expiresAt: ({ atMs }) => atMs + PING_RETENTION_MS,
})

/** What `src/runtime/columns` keeps of the pings, so that no sum over them reads documents. */
export const pingColumns = {
  ...columnSpecOf(pingLedger, { time: 'atMs', summed: SUMMED, grouped: GROUPED }),
  retentionMs: PING_RETENTION_MS,
}
