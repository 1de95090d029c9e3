import { z } from 'zod'
import { id, instant } from '../../kernel/wire.ts'
import { named } from '../shared/fields.ts'
import type { AuctionHeld, auctionEvents } from './auction.ts'
import { shownNumber } from './mask-caller.ts'
import { noBid, pingOutcome } from './no-bid.ts'
import { knownNumber } from './ping.ts'

/** The target that won an auction; `bidId` is null for one with a fixed price. */
export const winningTarget = z.object({ bidId: id.nullable(), ...named.shape }).meta({ id: 'WinningTarget' })

/** A row of the inbound ledger: one ping of a publisher (Document 2, Inbound ping). */
export const inboundPing = z
  .object({
    id,
    direction: z.literal('inbound'),
    ref: z.string(),
    at: instant,
    environment: z.enum(['production', 'test']),
    outcome: pingOutcome,
    reason: noBid.nullable(),
    campaign: named.nullable(),
    publisher: named.nullable(),
    /** Masked to the last four digits unless the campaign discloses its callers. */
    callerNumber: z.string().nullable(),
    callerMasked: z.boolean(),
    callerState: z.string().nullable(),
    elapsedMs: z.int().nullable(),
    tmaxMs: z.int().nullable(),
    statusCode: z.int().nullable(),
    payoutCents: z.int().nullable(),
    clearingPriceCents: z.int().nullable(),
    winningTarget: winningTarget.nullable(),
    targetsConsidered: z.int(),
    targetsSolicited: z.int(),
    bidsReceived: z.int(),
  })
  .meta({ id: 'InboundPing' })
export type InboundPing = Readonly<z.infer<typeof inboundPing>>

type PingRefused = Readonly<z.infer<typeof auctionEvents.PingRefused>>

/** Status of the answer to a ping that was judged: a no-bid is an answer as well. */
const ANSWERED = 200

/** The row of a ping that was judged. */
export function rowOfHeld(held: AuctionHeld): InboundPing {
  const { ping, ref, outcome, reason, offer, bids = [], targetsConsidered, elapsedMs, isDisclosed } = held
  const caller = knownNumber(ping.caller)
  return {
    id: ping.auctionId,
    direction: 'inbound',
    ref,
    at: ping.occurredAt,
    environment: ping.environment,
    outcome,
    reason,
    campaign: ping.campaign,
    publisher: ping.publisher,
    callerNumber: shownNumber({ caller, isDisclosed }),
    callerMasked: caller !== null && !isDisclosed,
    callerState: ping.callerState,
    elapsedMs,
    tmaxMs: ping.tmaxMs,
    statusCode: ANSWERED,
    payoutCents: offer?.payoutCents ?? null,
    clearingPriceCents: offer?.clearingPriceCents ?? null,
    winningTarget: offer && { bidId: offer.bidId, ...offer.target },
    targetsConsidered,
    targetsSolicited: bids.length,
    bidsReceived: bids.filter(({ status }) => status === 'bid').length,
  }
}

/** The row of a ping that was refused before it was judged: of its caller nothing is known. */
export function rowOfRefused(refused: PingRefused): InboundPing {
  const { auctionId: id, ref, occurredAt: at, environment, outcome, reason } = refused
  const { campaign, publisher, elapsedMs, statusCode } = refused
  return {
    id,
    direction: 'inbound',
    ref,
    at,
    environment,
    outcome,
    reason,
    campaign,
    publisher,
    callerNumber: null,
    callerMasked: false,
    callerState: null,
    elapsedMs,
    tmaxMs: null,
    statusCode,
    payoutCents: null,
    clearingPriceCents: null,
    winningTarget: null,
    targetsConsidered: 0,
    targetsSolicited: 0,
    bidsReceived: 0,
  }
}
