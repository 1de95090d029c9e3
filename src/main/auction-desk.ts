import { pingLedger } from '../../projections/auctions/ping-ledger.ts'
import { readAll } from '../../queries/shared/documents.ts'
import { createAuctionNumbers } from '../api/auctions/auction-numbers.ts'
import type { AuctionDesk } from '../api/auctions/hold-ping.ts'
import type { Entries } from '../ports/operational-store.ts'
import { auctionFlow } from '../reactions/auction-flow.ts'
import { LEASE_ENTRIES, LEASE_HISTORY } from '../reactions/lease-entries.ts'
import { createOffers, OFFER_ENTRIES, type Offers } from '../reactions/offers.ts'
import { restoreOffers } from '../reactions/restore-offers.ts'
import type { AuctionPorts } from '../reactions/tools.ts'
import { openEntryCache, sharedEntries } from '../runtime/entries/entry-cache.ts'
import { createRatesLimiter, createSharedRatesLimiter } from '../runtime/rates/rates-limiter.ts'
import { readReactionPositions } from '../runtime/reactions/reaction-checkpoint.ts'
import { type Config, isSingleProcess } from './config.ts'
import type { Core } from './core.ts'
import type { PlatformEffects } from './platform-effects.ts'

/** Sessions and visitors that a process keeps in memory; it reads the others. */
const MAX_LEASE_HISTORY = 50_000

/** The number of a workspace's newest auction; 0 for none. */
async function newestNumber(views: Core['views'], workspaceId: string): Promise<number> {
  const [newest] = await readAll(views, pingLedger, { filter: { workspaceId }, sort: { atMs: -1 }, limit: 1 })
  return newest?.seq ?? 0
}

/** The entries of offers and leases, and the offers of this process, with those that the process before it had yet to store. @throws LogUnavailable, StoreUnavailable */
export async function openOffers(
  config: Config,
  { log, ops, clock, writer }: Core,
): Promise<{ readonly entries: Entries; readonly offers: Offers }> {
  if (!isSingleProcess(config)) {
    const entries = sharedEntries(ops)
    return { entries, offers: createOffers({ entries, clock, writer }) }
  }
  const entries = await openEntryCache({ ops, clock }, [...OFFER_ENTRIES, ...LEASE_ENTRIES], {
    prefixes: LEASE_HISTORY,
    max: MAX_LEASE_HISTORY,
  })
  const offers = createOffers({ entries, clock, writer })
  const positions = [...(await readReactionPositions(ops, auctionFlow.name, clock.now())).values()]
  // Without a checkpoint the reaction restores all of them.
  if (positions.length > 0) await restoreOffers(log, offers, Math.min(...positions.map(({ position }) => position)))
  return { entries, offers }
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
