import { z } from 'zod'
import { auctionEvents } from '../../src/domain/auctions/auction.ts'
import { PING, PING_RETENTION_MS } from '../../src/domain/shared/limits.ts'
import { defineProjection } from '../../src/kernel/projection.ts'
import { id } from '../../src/kernel/wire.ts'

const { AuctionHeld, PingRefused, OfferPosted, PostRefused, OfferClaimed, OfferExpired, BidVoided, WinConfirmed } =
  auctionEvents

const doc = z.object({
  workspaceId: id,
  atMs: z.int(),
  /** The auction without what only its decision needs; null for a ping that was refused before. */
  held: AuctionHeld.omit({ inputs: true }).nullable(),
  refused: PingRefused.nullable(),
  posted: OfferPosted.nullable(),
  /** Oldest first. */
  refusedPosts: z.array(PostRefused).readonly(),
  claimed: OfferClaimed.nullable(),
  expired: OfferExpired.nullable(),
  voided: BidVoided.nullable(),
  confirmed: WinConfirmed.nullable(),
})
type Doc = Readonly<z.infer<typeof doc>>

const initial = {
  held: null,
  refused: null,
  posted: null,
  refusedPosts: [],
  claimed: null,
  expired: null,
  voided: null,
  confirmed: null,
}

/** What happened at each ping, by auction id: its detail is computed from it (Document 2, Inbound ping). */
export const pingStory = defineProjection({
  name: 'ping-story',
  version: 1,
  events: { AuctionHeld, PingRefused, OfferPosted, PostRefused, OfferClaimed, OfferExpired, BidVoided, WinConfirmed },
  cached: false,
  doc,
  indexes: [],
  key: ({ data }) => ('ping' in data ? data.ping.auctionId : data.auctionId),
  create: {
    AuctionHeld({ data: { inputs: _, ...held }, meta: { workspaceId } }): Doc | null {
      return workspaceId === null ? null : { ...initial, workspaceId, atMs: Date.parse(held.ping.occurredAt), held }
    },
    PingRefused({ data: refused, meta: { workspaceId } }): Doc | null {
      return workspaceId === null ? null : { ...initial, workspaceId, atMs: Date.parse(refused.occurredAt), refused }
    },
  },
  update: {
    OfferPosted: (doc, { data: posted }): Doc => ({ ...doc, posted }),
    PostRefused: (doc, { data }): Doc =>
      doc.refusedPosts.length < PING.shownPosts ? { ...doc, refusedPosts: [...doc.refusedPosts, data] } : doc,
    OfferClaimed: (doc, { data: claimed }): Doc => ({ ...doc, claimed }),
    OfferExpired: (doc, { data: expired }): Doc => ({ ...doc, expired }),
    BidVoided: (doc, { data: voided }): Doc => ({ ...doc, voided }),
    WinConfirmed: (doc, { data: confirmed }): Doc => ({ ...doc, confirmed }),
  },
  expiresAt: ({ atMs }) => atMs + PING_RETENTION_MS,
})
