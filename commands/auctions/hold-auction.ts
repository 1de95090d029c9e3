import { z } from 'zod'
import { auction } from '../../src/domain/auctions/auction.ts'
import { decideAuction } from '../../src/domain/auctions/decide-auction.ts'
import { knownNumber, ping } from '../../src/domain/auctions/ping.ts'
import { workspace } from '../../src/domain/configuration/workspace.ts'
import { wallet } from '../../src/domain/money/wallet.ts'
import { bids, refuseUnasked } from '../../src/domain/routing/bids.ts'
import { blocklist } from '../../src/domain/routing/blocklist.ts'
import { callerLookups, createLastSeen } from '../../src/domain/routing/caller-memory.ts'
import { callerWindowsOfArrival } from '../../src/domain/routing/caller-windows.ts'
import { ledger } from '../../src/domain/routing/ledger.ts'
import { defineCommand } from '../../src/kernel/command.ts'

const input = z.object({
  ping,
  ref: z.string(),
  /** The seed of an earlier run, in which bidders had to be asked. */
  seed: z.int().nullable().default(null),
  bids,
})

/** Judges a publisher's ping and holds its auction. Refused until the bidders that it needs were asked. Idempotent by auction. */
export const holdAuction = defineCommand({
  name: 'hold-auction',
  entity: auction,
  input,
  id: ({ ping }) => ping.auctionId,
  reads: { workspace, blocklist, wallet, ledger },
  rejects: ['bids-needed'],
  lookups: ({ ping }, _state, reads) => {
    const sender = { campaignId: ping.campaign.id, publisherId: ping.publisher.id, attribution: 'rtb_bid' } as const
    const windows = callerWindowsOfArrival(reads.workspace, sender, knownNumber(ping.caller))
    return callerLookups(reads.ledger, windows, ping.occurredAt)
  },
  decide({ ping, ref, seed, bids: given = [] }, state, { reads, lookUp, seed: drawn }) {
    if (state) return []
    const lastSeen = createLastSeen(reads.ledger, lookUp)
    const decided = decideAuction({ ...reads, ping, ref, lastSeen, seed: seed ?? drawn, bids: given })
    return 'targetIds' in decided ? refuseUnasked(decided) : [{ type: 'AuctionHeld', data: decided }]
  },
})
