import { z } from 'zod'
import { bid, isBidFailure } from '../../src/domain/bidding/bid.ts'
import { ledger } from '../../src/domain/routing/ledger.ts'
import { FOLD_MEMORY } from '../../src/domain/shared/limits.ts'
import { defineCommand } from '../../src/kernel/command.ts'
import { getEntry } from '../../src/kernel/windowed-map.ts'
import { id, instant } from '../../src/kernel/wire.ts'

const input = z.object({ auctionId: id, occurredAt: instant, bids: z.array(bid).readonly() })

/**
 * Counts the requests of an auction for the health of their targets: failed ones, and answers that end a row of failures.
 * Idempotent by auction, for as long as the ledger remembers it; older auctions no longer count.
 */
export const countBids = defineCommand({
  name: 'count-bids',
  entity: ledger,
  input,
  decide({ auctionId, occurredAt, bids }, { countedAuctions, health }, { now }) {
    if (getEntry(countedAuctions, auctionId) || Date.parse(now) - Date.parse(occurredAt) > FOLD_MEMORY.ms) return []
    const counted = bids.filter((each) => isBidFailure(each) || health.get(each.target.id)?.isRequest)
    return counted.length === 0 ? [] : [{ type: 'BidsCounted', data: { auctionId, occurredAt, bids: counted } }]
  },
})
