import { z } from 'zod'
import { id, instant } from '../../kernel/wire.ts'
import { named } from '../shared/fields.ts'
import { type Bid, bid } from './bid.ts'

/** Where a request to a bidder stands (Document 2, Outbound ping). */
export const outboundStatus = z
  .enum(['bid', 'no_bid', 'rejected', 'timeout', 'error', 'won', 'claimed', 'lost', 'expired', 'void'])
  .meta({ id: 'OutboundStatus' })

/** A row of the outbound ledger: one request to a bidder (Document 2, Outbound ping). */
export const outboundPing = z
  .object({
    id,
    direction: z.literal('outbound'),
    at: instant,
    /** Whether a publisher's auction asked, or the router for a call that had arrived. */
    origin: z.enum(['publisher', 'call']),
    /** The auction; of the origin `call`, the call. */
    auction: z.object({ id, ref: z.string() }),
    campaign: named.nullable(),
    publisher: named.nullable(),
    target: named.nullable(),
    buyer: named.nullable(),
    status: outboundStatus,
    won: z.boolean(),
    bidCents: bid.shape.bidCents,
    rawBidCents: bid.shape.rawBidCents,
    httpStatus: bid.shape.httpStatus,
    latencyMs: z.int().nullable(),
    rejectCode: bid.shape.rejectCode,
    rejectReason: bid.shape.rejectReason,
    sentence: z.string(),
    callId: id.nullable(),
  })
  .meta({ id: 'OutboundPing' })
export type OutboundPing = Readonly<z.infer<typeof outboundPing>>

/** The call that bidders were asked for. */
export type AskedCall = Pick<OutboundPing, 'campaign' | 'publisher'> & { readonly callId: string; readonly ref: string }

/** The row of a request for a call that had arrived. A bid that gets no call is lost, until a failover uses it. */
export function pingForCall(given: Bid, { callId, ref, campaign, publisher }: AskedCall): OutboundPing {
  const { bidId, askedAt, target, buyer, status, bidCents, rawBidCents, httpStatus, latencyMs, ...rest } = given
  const { rejectCode, rejectReason, sentence } = rest
  return {
    id: bidId,
    direction: 'outbound',
    at: askedAt,
    origin: 'call',
    auction: { id: callId, ref },
    campaign,
    publisher,
    target,
    buyer,
    status: status === 'bid' ? 'lost' : status,
    won: false,
    bidCents,
    rawBidCents,
    httpStatus,
    latencyMs,
    rejectCode,
    rejectReason,
    sentence,
    callId: null,
  }
}

/** A row whose bid got a call. */
export function claimedPing<Row extends Pick<OutboundPing, 'status' | 'won' | 'callId'>>(
  row: Row,
  callId: string,
): Row {
  return { ...row, status: 'claimed', won: true, callId }
}
