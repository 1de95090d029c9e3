import { z } from 'zod'
import { auction, pingRequest, repeatableOffer } from '../../src/domain/auctions/auction.ts'
import { decideAuction } from '../../src/domain/auctions/decide-auction.ts'
import { knownNumber, ping } from '../../src/domain/auctions/ping.ts'
import { workspace } from '../../src/domain/configuration/workspace.ts'
import { wallet } from '../../src/domain/money/wallet.ts'
import { bids, refuseUnasked } from '../../src/domain/routing/bids.ts'
import { blocklist } from '../../src/domain/routing/blocklist.ts'
import { callerLookups, createLastSeen } from '../../src/domain/routing/caller-memory.ts'
import { callerWindowsOfArrival } from '../../src/domain/routing/caller-windows.ts'
import { ledger } from '../../src/domain/routing/ledger.ts'
import { PING } from '../../src/domain/shared/limits.ts'
import { defineCommand } from '../../src/kernel/command.ts'
import { id, instant } from '../../src/kernel/wire.ts'

const input = z.object({
  ping,
  ref: z.string(),
  seq: z.int().min(1),
  request: pingRequest,
  /** Ids of numbers of the lane that are held for hidden callers. */
  heldNumbers: z.array(id).readonly().default([]),
  /** The number that is held for this caller, who is hidden. */
  heldNumber: id.nullable().default(null),
  /** The caller's live offer on the lane. */
  repeats: repeatableOffer.nullable().default(null),
  /** When it is decided, of a ping that the sandbox dates back; null: by the writer's clock. */
  decidedAt: instant.nullable().default(null),
  /** The seed of an earlier run, in which bidders had to be asked. */
  seed: z.int().nullable().default(null),
  bids,
})

/**
 * Judges a publisher's ping and holds its auction, on the folds at hand. Refused until the bidders that it needs were asked.
 * Idempotent by auction.
 */
export const holdAuction = defineCommand({
  name: 'hold-auction',
  entity: auction,
  input,
  id: ({ ping }) => ping.auctionId,
  begins: true,
  reads: { workspace, blocklist, wallet, ledger },
  readsMaxAgeMs: PING.foldAgeMs,
  rejects: ['bids-needed'],
  asks: ['bids-needed'],
  lookups: ({ ping }, _state, reads) => {
    const sender = { campaignId: ping.campaign.id, publisherId: ping.publisher.id, attribution: 'rtb_bid' } as const
    const windows = callerWindowsOfArrival(reads.workspace, sender, knownNumber(ping.caller))
    return callerLookups(reads.ledger, windows, ping.occurredAt)
  },
  decide({ seed, decidedAt, bids: given = [], ...input }, state, { reads, lookUp, seed: drawn, now }) {
    if (state) return []
    const lastSeen = createLastSeen(reads.ledger, lookUp)
    const decided = decideAuction({
      ...reads,
      ...input,
      lastSeen,
      seed: seed ?? drawn,
      bids: given,
      now: decidedAt ?? now,
    })
    return 'targetIds' in decided ? refuseUnasked(decided) : [{ type: 'AuctionHeld', data: decided }]
  },
})
