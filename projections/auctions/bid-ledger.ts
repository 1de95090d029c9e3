import { z } from 'zod'
import { auctionEvents } from '../../src/domain/auctions/auction.ts'
import { outboundOfAuction } from '../../src/domain/auctions/outbound-of-auction.ts'
import type { Bid } from '../../src/domain/bidding/bid.ts'
import {
  type AskedCall,
  claimedPing,
  type OutboundPing,
  outboundPing,
  pingForCall,
} from '../../src/domain/bidding/outbound-ping.ts'
import { ledgerEvents } from '../../src/domain/routing/ledger-events.ts'
import { PING_RETENTION_MS } from '../../src/domain/shared/limits.ts'
import { workspaceIdOf } from '../../src/kernel/entity.ts'
import type { RecordedOf } from '../../src/kernel/event.ts'
import { defineProjection } from '../../src/kernel/projection.ts'
import { id } from '../../src/kernel/wire.ts'
import { columnSpecOf } from '../shared/column-spec.ts'

const doc = outboundPing.omit({ id: true, direction: true }).extend({
  workspaceId: id,
  /** Number of the request in its workspace, which no other has: it grows, with gaps. */
  seq: z.int(),
  atMs: z.int(),
  /** Of the ping; the router's own requests are production. */
  environment: z.enum(['production', 'test']),
  /** End of a bid that won (ms since the epoch): without a call it has expired by then. */
  expiresMs: z.int().nullable(),
})
type Doc = Readonly<z.infer<typeof doc>>

/** Bids of one event that get a number of their own; an event has as many bids as targets answer within its time budget. */
const BIDS_PER_EVENT = 1_024

interface Place {
  readonly workspaceId: string
  readonly position: number
  /** Place of the bid in its event. */
  readonly index: number
}

function docOf(
  row: OutboundPing,
  { workspaceId, position, index }: Place,
  { environment, expiresMs }: Pick<Doc, 'environment' | 'expiresMs'>,
): Doc {
  const { id: _bidId, direction: _, ...fields } = row
  const seq = position * BIDS_PER_EVENT + index
  return { ...fields, workspaceId, seq, atMs: Date.parse(row.at), environment, expiresMs }
}

const bidIds = (bids: readonly Bid[] = []) => bids.map(({ bidId }) => bidId)

/** The document of a bid that was asked for a call that had arrived; null for a bid of another event. */
function docForCall(
  event: { readonly stream: string; readonly position: number },
  bids: readonly Bid[] = [],
  bidId: string,
  call: AskedCall,
  claim: { readonly bidId?: string | undefined } | null,
): Doc | null {
  const index = bids.findIndex((each) => each.bidId === bidId)
  const given = bids[index]
  if (given === undefined) return null
  const row = pingForCall(given, call)
  const place = { workspaceId: workspaceIdOf(event), position: event.position, index }
  return docOf(claim?.bidId === bidId ? claimedPing(row, call.callId) : row, place, {
    environment: 'production',
    expiresMs: null,
  })
}

/** The call of an event after its arrival. */
function askedCall({
  callId,
  asked,
}: {
  readonly callId: string
  readonly asked?: Omit<AskedCall, 'callId'> | undefined
}): AskedCall {
  return { callId, ...(asked ?? { ref: '', campaign: null, publisher: null }) }
}

/** The bid that an event's dial goes to gets its call. */
const claimed = (doc: Doc, bidId: string, callId: string, claim: { readonly bidId?: string | undefined } | null) =>
  claim?.bidId === bidId ? claimedPing(doc, callId) : doc

/** Numbers that requests are filtered and summed by. */
const SUMMED = ['atMs', 'bidCents', 'expiresMs'] as const
/** Values that requests are filtered and grouped by. The time that an answer took is one of few. */
const GROUPED = [
  'status',
  'origin',
  'environment',
  'httpStatus',
  'rejectCode',
  'latencyMs',
  'campaign.id',
  'publisher.id',
  'target.id',
] as const

const { AuctionHeld, OfferClaimed, BidVoided } = auctionEvents
const { CallAdmitted, CallRefused, TargetClaimed, PlanSpent, BidsUnused } = ledgerEvents
const events = { AuctionHeld, OfferClaimed, BidVoided, CallAdmitted, CallRefused, TargetClaimed, PlanSpent, BidsUnused }
type EventOf<Type extends keyof typeof events> = RecordedOf<typeof events, Type>

/** The document of a bid of each event that carries bids; null for a bid of another event, to which the event's dial goes. */
const asked = {
  AuctionHeld({ data, position, meta: { workspaceId } }: EventOf<'AuctionHeld'>, bidId: string): Doc | null {
    const { bids = [], offer, ping } = data
    const index = bids.findIndex((each) => each.bidId === bidId)
    const given = bids[index]
    if (given === undefined || workspaceId === null) return null
    const expiresMs = offer?.bidId === bidId ? Date.parse(offer.expiresAt) : null
    const { environment } = ping
    return docOf(outboundOfAuction(given, data), { workspaceId, position, index }, { environment, expiresMs })
  },
  CallAdmitted: (event: EventOf<'CallAdmitted'>, bidId: string) =>
    docForCall(event, event.data.bids, bidId, event.data.arrival, event.data.claim),
  CallRefused: (event: EventOf<'CallRefused'>, bidId: string) =>
    docForCall(event, event.data.bids, bidId, event.data.arrival, null),
  TargetClaimed: (event: EventOf<'TargetClaimed'>, bidId: string) =>
    docForCall(event, event.data.bids, bidId, askedCall(event.data), event.data.claim),
  PlanSpent: (event: EventOf<'PlanSpent'>, bidId: string) =>
    docForCall(event, event.data.bids, bidId, askedCall(event.data), null),
  BidsUnused: (event: EventOf<'BidsUnused'>, bidId: string) =>
    docForCall(event, event.data.bids, bidId, askedCall(event.data), null),
}

/** A bid is asked once, so that an event which carries it again says nothing new; one of an expired document would. */
const askedAgain = (doc: Doc, fresh: Doc | null): Doc => (fresh !== null && fresh.atMs > doc.atMs ? fresh : doc)

/**
 * One document for each request to a bidder, by bid id: the row of the outbound ledger (Document 2, Outbound ping), of
 * publishers' auctions and of calls that had arrived.
 */
export const bidLedger = defineProjection({
  name: 'bid-ledger',
  version: 1,
  events,
  cached: false,
  doc,
  indexes: [
    { workspaceId: 1, atMs: -1 },
    { workspaceId: 1, 'target.id': 1, atMs: -1 },
    { workspaceId: 1, 'auction.id': 1 },
    { workspaceId: 1, 'auction.ref': 1 },
  ],
  columns: ['seq', ...SUMMED, ...GROUPED],
  shared: GROUPED,
  key({ data }) {
    if ('arrival' in data || 'ping' in data) {
      const won = 'claim' in data && data.claim?.bidId ? [data.claim.bidId] : []
      return [...new Set([...bidIds(data.bids), ...won])]
    }
    if ('bidId' in data) return data.bidId
    const won = 'claim' in data && data.claim.bidId ? [data.claim.bidId] : []
    return [...new Set([...bidIds(data.bids), ...won])]
  },
  create: asked,
  update: {
    OfferClaimed: (doc, { data }) => claimedPing(doc, data.callId),
    BidVoided: (doc): Doc => ({ ...doc, status: 'void' }),
    AuctionHeld: (doc, event, bidId) => askedAgain(doc, asked.AuctionHeld(event, bidId)),
    CallAdmitted: (doc, event, bidId) => {
      const { arrival, claim } = event.data
      return claimed(askedAgain(doc, asked.CallAdmitted(event, bidId)), bidId, arrival.callId, claim)
    },
    CallRefused: (doc, event, bidId) => askedAgain(doc, asked.CallRefused(event, bidId)),
    TargetClaimed: (doc, event, bidId) => {
      const { callId, claim } = event.data
      return claimed(askedAgain(doc, asked.TargetClaimed(event, bidId)), bidId, callId, claim)
    },
    PlanSpent: (doc, event, bidId) => askedAgain(doc, asked.PlanSpent(event, bidId)),
    BidsUnused: (doc, event, bidId) => askedAgain(doc, asked.BidsUnused(event, bidId)),
  },
  expiresAt: ({ atMs }) => atMs + PING_RETENTION_MS,
})

/** What `src/runtime/columns` keeps of the requests, so that no sum over them reads documents. */
export const bidColumns = {
  ...columnSpecOf(bidLedger, { time: 'atMs', summed: SUMMED, grouped: GROUPED }),
  retentionMs: PING_RETENTION_MS,
}
