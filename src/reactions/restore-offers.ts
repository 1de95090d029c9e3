import { auction, auctionEvents } from '../domain/auctions/auction.ts'
import { upcast } from '../kernel/entity.ts'
import type { RecordedEvent, RecordedOf } from '../kernel/event.ts'
import type { EventLog } from '../ports/event-log.ts'
import type { Offers } from './offers.ts'

const { AuctionHeld, OfferPosted, OfferClaimed, OfferExpired, BidVoided } = auctionEvents
const events = { AuctionHeld, OfferPosted, OfferClaimed, OfferExpired, BidVoided }
type Type = keyof typeof events

/** What each event of an auction changes in the offers; resolves when it is stored. @throws StoreUnavailable */
export const offerSteps: {
  readonly [K in Type]: (offers: Offers, event: RecordedOf<typeof events, K>) => Promise<void>
} = {
  AuctionHeld: (offers, { meta, data }) => offers.restoreOffer(meta.workspaceId ?? '', data),
  OfferPosted: (offers, { meta, data }) => offers.recordPost(meta.workspaceId ?? '', data),
  OfferClaimed: (offers, { meta, data }) => offers.endOffer(meta.workspaceId ?? '', data.auctionId),
  OfferExpired: (offers, { meta, data }) => offers.endOffer(meta.workspaceId ?? '', data.auctionId),
  BidVoided: (offers, { meta, data }) => offers.endOffer(meta.workspaceId ?? '', data.auctionId),
}

const types: ReadonlySet<string> = new Set(Object.keys(events))

/**
 * Restores the offers from the events after a position (exclusive) up to the end of the log: the last process may have ended before
 * it stored them. Auctions are restored concurrently, the events of each in order. @throws LogUnavailable, StoreUnavailable
 */
export async function restoreOffers(
  log: Pick<EventLog, 'readAll' | 'head'>,
  offers: Offers,
  after: number,
): Promise<void> {
  const steps = offerSteps as Readonly<Record<string, (offers: Offers, event: RecordedEvent) => Promise<void>>>
  const head = await log.head()
  for (let position = after; position < head; ) {
    const page = await log.readAll(position, undefined, { types })
    const byStream = Object.values(Object.groupBy(page.events, ({ stream }) => stream))
    await Promise.all(
      byStream.map(async (events = []) => {
        for (const event of events) await steps[event.type]?.(offers, upcast(auction, event))
      }),
    )
    position = page.position
  }
}
