import { z } from 'zod'
import { type AuctionState, auction } from '../../src/domain/auctions/auction.ts'
import { outboundOfAuction } from '../../src/domain/auctions/outbound-of-auction.ts'
import type { OutboundPing } from '../../src/domain/bidding/outbound-ping.ts'
import { statusNote } from '../../src/domain/shared/fields.ts'
import { defineCommand } from '../../src/kernel/command.ts'
import { refuse } from '../../src/kernel/refusal.ts'
import { id } from '../../src/kernel/wire.ts'

/** Statuses from which a person may void a bid (Supplement §7). */
const VOIDABLE: ReadonlySet<OutboundPing['status']> = new Set<OutboundPing['status']>(['bid', 'won'])

/** Where a bid of an auction stands at an instant; null for one that is not among its bids. */
function statusOf({ held, ...state }: AuctionState, bidId: string, now: string): OutboundPing['status'] | null {
  const given = held?.bids?.find((each) => each.bidId === bidId)
  if (!held || !given) return null
  const { status, won } = outboundOfAuction(given, held)
  if (!won) return status
  if (state.voided) return 'void'
  if (state.claimedBy !== null) return 'claimed'
  return state.expired || (held.offer?.expiresAt ?? now) <= now ? 'expired' : status
}

/** A person voids a bid: its offer is over, and so is what a post has reserved for it. Idempotent. */
export const voidBid = defineCommand({
  name: 'void-bid',
  entity: auction,
  input: z.object({ auctionId: id, bidId: id, note: statusNote.nullable().default(null) }),
  id: ({ auctionId }) => auctionId,
  rejects: ['ping-not-found', 'conflict'],
  decide({ auctionId, bidId, note }, state, { now: occurredAt }) {
    const status = state && statusOf(state, bidId, occurredAt)
    const target = state?.held?.bids?.find((each) => each.bidId === bidId)?.target
    if (status === null || target === undefined) return refuse('ping-not-found')
    if (status === 'void') return []
    if (!VOIDABLE.has(status))
      return refuse('conflict', { status }, `The bid is ${status}: only one that is alive can be voided.`)
    return [{ type: 'BidVoided', data: { auctionId, occurredAt, bidId, target, note } }]
  },
})
