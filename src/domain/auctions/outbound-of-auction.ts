import type { Bid } from '../bidding/bid.ts'
import type { OutboundPing } from '../bidding/outbound-ping.ts'
import type { AuctionHeld } from './auction.ts'
import { createTextMask } from './mask-caller.ts'
import { knownNumber } from './ping.ts'

/** The row of a request to a bidder of an auction: of all bids one may have won, and the others are lost. */
export function outboundOfAuction(
  given: Bid,
  { ping, ref, offer, isDisclosed }: Pick<AuctionHeld, 'ping' | 'ref' | 'offer' | 'isDisclosed'>,
): OutboundPing {
  const { bidId, askedAt, target, buyer, status, bidCents, rawBidCents, httpStatus, latencyMs, rejectCode } = given
  const won = offer?.bidId === bidId
  const mask = createTextMask({ caller: knownNumber(ping.caller), isDisclosed })
  return {
    id: bidId,
    direction: 'outbound',
    at: askedAt,
    origin: 'publisher',
    auction: { id: ping.auctionId, ref },
    campaign: ping.campaign,
    publisher: ping.publisher,
    target,
    buyer,
    status: status !== 'bid' ? status : won ? 'won' : 'lost',
    won,
    bidCents,
    rawBidCents,
    httpStatus,
    latencyMs,
    rejectCode,
    rejectReason: given.rejectReason && mask(given.rejectReason),
    sentence: mask(given.sentence),
    callId: null,
  }
}
