import { z } from 'zod'
import type { bidLedger } from '../../projections/auctions/bid-ledger.ts'
import type { pingLedger } from '../../projections/auctions/ping-ledger.ts'
import { type InboundPing, inboundPing } from '../../src/domain/auctions/inbound-ping.ts'
import { type OutboundPing, outboundPing } from '../../src/domain/bidding/outbound-ping.ts'
import type { WithId } from '../../src/kernel/document.ts'
import type { DocOf } from '../shared/documents.ts'

/** Documents of the two ledgers. */
export type PingDoc = WithId<DocOf<typeof pingLedger>>
export type BidDoc = WithId<DocOf<typeof bidLedger>>

/** A row of either ledger. */
export const pingRow = z.discriminatedUnion('direction', [inboundPing, outboundPing])
export type PingRow = InboundPing | OutboundPing

/** The row of a publisher's ping. */
export function inboundRowOf(doc: PingDoc): InboundPing {
  return {
    id: doc.id,
    direction: 'inbound',
    ref: doc.ref,
    at: doc.at,
    environment: doc.environment,
    outcome: doc.outcome,
    reason: doc.reason,
    campaign: doc.campaign,
    publisher: doc.publisher,
    callerNumber: doc.callerNumber,
    callerMasked: doc.callerMasked,
    callerState: doc.callerState,
    elapsedMs: doc.elapsedMs,
    tmaxMs: doc.tmaxMs,
    statusCode: doc.statusCode,
    payoutCents: doc.payoutCents,
    clearingPriceCents: doc.clearingPriceCents,
    winningTarget: doc.winningTarget,
    targetsConsidered: doc.targetsConsidered,
    targetsSolicited: doc.targetsSolicited,
    bidsReceived: doc.bidsReceived,
  }
}

/** Where a request to a bidder stands at an instant: a won bid without a call has expired once its life is over. */
export function statusAt({ status, expiresMs }: Pick<BidDoc, 'status' | 'expiresMs'>, nowMs: number) {
  return status === 'won' && expiresMs !== null && expiresMs <= nowMs ? 'expired' : status
}

/** The row of a request to a bidder, as it stands at an instant. */
export function outboundRowOf(doc: BidDoc, nowMs: number): OutboundPing {
  return {
    id: doc.id,
    direction: 'outbound',
    at: doc.at,
    origin: doc.origin,
    auction: doc.auction,
    campaign: doc.campaign,
    publisher: doc.publisher,
    target: doc.target,
    buyer: doc.buyer,
    status: statusAt(doc, nowMs),
    won: doc.won,
    bidCents: doc.bidCents,
    rawBidCents: doc.rawBidCents,
    httpStatus: doc.httpStatus,
    latencyMs: doc.latencyMs,
    rejectCode: doc.rejectCode,
    rejectReason: doc.rejectReason,
    sentence: doc.sentence,
    callId: doc.callId,
  }
}
