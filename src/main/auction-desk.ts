import { pingLedger } from '../../projections/auctions/ping-ledger.ts'
import { readAll } from '../../queries/shared/documents.ts'
import { createAuctionNumbers } from '../api/auctions/auction-numbers.ts'
import type { AuctionDesk } from '../api/auctions/hold-ping.ts'
import type { AuctionPorts } from '../reactions/tools.ts'
import { createRatesLimiter, createSharedRatesLimiter } from '../runtime/rates/rates-limiter.ts'
import { type Config, isSingleProcess } from './config.ts'
import type { Core } from './core.ts'
import type { PlatformEffects } from './platform-effects.ts'

/** The number of a workspace's newest auction; 0 for none. */
async function newestNumber(views: Core['views'], workspaceId: string): Promise<number> {
  const [newest] = await readAll(views, pingLedger, { filter: { workspaceId }, sort: { atMs: -1 }, limit: 1 })
  return newest?.seq ?? 0
}

/** What the pings of this process are judged with. */
export function openAuctionDesk(
  config: Config,
  { writer, views, ops, routingKeyUses, clock, random }: Core,
  effects: PlatformEffects,
  auctions: AuctionPorts,
): AuctionDesk {
  const isAlone = isSingleProcess(config)
  return {
    ...auctions,
    writer,
    effects,
    rates: isAlone ? createRatesLimiter(clock) : createSharedRatesLimiter(ops, clock),
    rows: createRatesLimiter(clock),
    nextNumber: createAuctionNumbers({ ops, clock, highest: (workspaceId) => newestNumber(views, workspaceId) }),
    onKeyUse: routingKeyUses.add,
    clock,
    random,
  }
}
