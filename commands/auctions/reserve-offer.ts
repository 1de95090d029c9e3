import { z } from 'zod'
import { offer, offeredNumber } from '../../src/domain/auctions/auction.ts'
import { judgePost } from '../../src/domain/auctions/judge-post.ts'
import { ping } from '../../src/domain/auctions/ping.ts'
import { workspace } from '../../src/domain/configuration/workspace.ts'
import { wallet } from '../../src/domain/money/wallet.ts'
import { blocklist } from '../../src/domain/routing/blocklist.ts'
import { callerLookups, createLastSeen } from '../../src/domain/routing/caller-memory.ts'
import { callerWindowsOfArrival } from '../../src/domain/routing/caller-windows.ts'
import { planned } from '../../src/domain/routing/decision.ts'
import { ledger } from '../../src/domain/routing/ledger.ts'
import { e164 } from '../../src/domain/shared/fields.ts'
import { defineCommand } from '../../src/kernel/command.ts'
import { refuse } from '../../src/kernel/refusal.ts'
import { getEntry } from '../../src/kernel/windowed-map.ts'
import { id, instant } from '../../src/kernel/wire.ts'

const input = z.object({
  /** The auction's own ping, and the offer that it made. */
  ping,
  offer,
  winner: planned,
  ref: z.string(),
  /** The ping that is posted: the auction's own, or one that got its offer again. */
  postedBy: id,
  caller: e164,
  number: offeredNumber,
  tags: z.record(z.string(), z.string()),
  occurredAt: instant,
})

/**
 * Reserves the slots of a posted call: judges it once more, now that its offer is taken, and holds a slot of each cap until the call
 * arrives or the offer expires. Idempotent by auction.
 */
export const reserveOffer = defineCommand({
  name: 'reserve-offer',
  entity: ledger,
  input,
  reads: { workspace, blocklist, wallet },
  rejects: ['post-refused', 'bid-expired'],
  lookups: ({ ping, caller, occurredAt }, state, reads) => {
    const sender = { campaignId: ping.campaign.id, publisherId: ping.publisher.id, attribution: 'rtb_bid' } as const
    return callerLookups(state, callerWindowsOfArrival(reads.workspace, sender, caller), occurredAt)
  },
  decide(input, state, { reads, lookUp }) {
    const { offer, ping, ref, postedBy, caller, number, tags, occurredAt } = input
    const { auctionId, expiresAt } = offer
    if (state.reservations.has(auctionId)) return []
    if (getEntry(state.endedOffers, auctionId) || occurredAt >= expiresAt) return refuse('bid-expired')
    const judged = judgePost({ ...reads, ...input, ledger: state, lastSeen: createLastSeen(state, lookUp) })
    if ('reason' in judged) return refuse('post-refused', { reason: judged.reason })
    const data = {
      auctionId,
      ref,
      campaignId: ping.campaign.id,
      publisherId: ping.publisher.id,
      ...judged,
      occurredAt,
      postedBy,
      caller,
      number,
      tags,
      expiresAt,
    }
    return [{ type: 'OfferReserved', data }]
  },
})
