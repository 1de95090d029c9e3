import { LRUCache } from 'lru-cache'
import { z } from 'zod'
import {
  type AuctionHeld,
  type AuctionState,
  auction,
  madeOffer,
  type OfferedNumber,
  type RepeatableOffer,
} from '../domain/auctions/auction.ts'
import { knownNumber } from '../domain/auctions/ping.ts'
import { wonOfferOf } from '../domain/auctions/won-offer-of.ts'
import type { WorkspaceState } from '../domain/configuration/workspace.ts'
import { isOfferLive, type WonOffer } from '../domain/routing/won-offer.ts'
import { laneId } from '../domain/supply/lane.ts'
import { id } from '../kernel/wire.ts'
import type { Clock } from '../ports/clock.ts'
import type { CommandHandler } from '../ports/command-handler.ts'
import type { Entries } from '../ports/operational-store.ts'

/** A lane of a workspace. */
export interface OfferLane {
  readonly workspaceId: string
  readonly campaignId: string
  readonly publisherId: string
}

/** The post of an offer, as the call that it announces is found by. */
interface Post {
  readonly auctionId: string
  readonly number: OfferedNumber
  readonly caller: string
  readonly expiresAt: string
}

/**
 * Live offers and holds of numbers, as claims in the operational store that end with the offer. The events of auctions are their
 * source: a reaction restores those that are missing. The methods that reactions call resolve when the change is stored, the others
 * when every process on the stores can read it. Every method throws StoreUnavailable.
 */
export interface Offers {
  /** The caller's live offer on a lane; of several, in different terms, the latest. */
  readonly liveOffer: (lane: OfferLane, caller: string) => Promise<RepeatableOffer | null>
  /** Ids of the lane's numbers that are held for hidden callers. */
  readonly heldNumbers: (lane: OfferLane) => Promise<readonly string[]>
  /** Holds a number of the lane for a hidden caller; null when all are held. */
  readonly holdNumber: (
    lane: OfferLane,
    numbers: readonly OfferedNumber[],
    auctionId: string,
    untilMs: number,
  ) => Promise<string | null>
  readonly releaseNumber: (lane: OfferLane, numberId: string, auctionId: string) => Promise<void>
  /** Removes what is noted of the offer of an auction, now that the offer is over. */
  readonly endOffer: (workspaceId: string, auctionId: string) => Promise<void>
  /** Records the offer that an auction has just made; once in a process. */
  readonly recordOffer: (workspaceId: string, held: AuctionHeld) => Promise<void>
  /** Writes the entries of an offer that are missing. Does not replace the hold of a later auction on the number. */
  readonly restoreOffer: (workspaceId: string, held: AuctionHeld) => Promise<void>
  /** Records a post. */
  readonly recordPost: (workspaceId: string, post: Post) => Promise<void>
  /** The offer that a call claims by its caller and number, given the configuration of its workspace. */
  readonly offerFor: (
    workspaceId: string,
    configured: WorkspaceState,
    call: { readonly to: string; readonly caller: string | null; readonly at: string },
  ) => Promise<WonOffer | null>
}

const reference = z.object({ auctionId: id })

/** Holds a number for an auction until an instant (ms). */
type Hold = (key: string, auctionId: string, untilMs: number) => Promise<unknown>

/** How the keys of offers begin, of their posts and of the holds of numbers. */
export const OFFER_ENTRIES = ['offer:', 'offer-post:', 'number-hold:'] as const

const laneKey = ({ workspaceId, campaignId, publisherId }: OfferLane) =>
  `${workspaceId}:${laneId(campaignId, publisherId)}`
/** Followed by the auction: a caller may have several offers, in different terms. */
const offerPrefix = (lane: OfferLane, caller: string) => `offer:${laneKey(lane)}:${caller}:`
const holdPrefix = (lane: OfferLane) => `number-hold:${laneKey(lane)}:`
const holdKey = (lane: OfferLane, numberId: string) => `${holdPrefix(lane)}${numberId}`
const postPrefix = (workspaceId: string, numberId: string, caller: string) =>
  `offer-post:${workspaceId}:${numberId}:${caller}:`

/** Value of an entry that has all of its information in its key. */
const NOTED = true

/** Offers that a process remembers to have recorded. */
const MAX_RECORDED = 10_000

/** Creates the store of live offers. */
export function createOffers({
  entries,
  clock,
  writer,
}: {
  readonly entries: Entries
  readonly clock: Clock
  readonly writer: Pick<CommandHandler, 'stateOf'>
}): Offers {
  const recorded = new LRUCache<string, true>({ max: MAX_RECORDED })

  async function auctionOf(key: string): Promise<string | null> {
    const entry = await entries.get(key, clock.now())
    return entry && reference.parse(entry.value).auctionId
  }

  /** Holds a number for an auction. */
  const holdFor: Hold = (key, auctionId, untilMs) => entries.put(key, { auctionId }, untilMs)

  /** Holds it unless it is held for a later auction: ids rise with time. */
  const holdUnlessLater: Hold = async (key, auctionId, untilMs) => {
    for (;;) {
      const entry = await entries.get(key, clock.now())
      if (entry && reference.parse(entry.value).auctionId > auctionId) return
      if (await entries.putIf(key, entry?.version ?? 0, { auctionId }, untilMs, clock.now())) return
    }
  }

  /** The auctions whose entries begin with a prefix, the latest first: ids rise with time. */
  async function auctionsUnder(prefix: string): Promise<readonly string[]> {
    const found = await entries.list(prefix, clock.now())
    return found.map(({ key }) => key.slice(prefix.length)).toReversed()
  }

  async function stateOf(workspaceId: string, auctionId: string | null): Promise<AuctionState | null> {
    return auctionId === null ? null : writer.stateOf(auction, auctionId, workspaceId)
  }

  async function heldNumbers(lane: OfferLane): Promise<readonly string[]> {
    const prefix = holdPrefix(lane)
    const found = await entries.list(prefix, clock.now())
    return found.map(({ key }) => key.slice(prefix.length))
  }

  async function holdNumber(
    lane: OfferLane,
    numbers: readonly OfferedNumber[],
    auctionId: string,
    untilMs: number,
  ): Promise<string | null> {
    for (const { id: numberId } of numbers) {
      const isHeld = await entries.putIf(holdKey(lane, numberId), 0, { auctionId }, untilMs, clock.now())
      if (isHeld) return numberId
    }
    return null
  }

  async function releaseNumber(lane: OfferLane, numberId: string, auctionId: string): Promise<void> {
    const key = holdKey(lane, numberId)
    if ((await auctionOf(key)) === auctionId) await entries.delete(key)
  }

  async function putPost(workspaceId: string, { auctionId, number, caller, expiresAt }: Post): Promise<void> {
    const untilMs = Date.parse(expiresAt)
    if (untilMs <= clock.now()) return
    await entries.put(`${postPrefix(workspaceId, number.id, caller)}${auctionId}`, NOTED, untilMs)
  }

  async function noteOffer(workspaceId: string, held: AuctionHeld, hold: Hold): Promise<void> {
    const { offer, ping } = held
    if (!offer || !madeOffer(held) || recorded.has(offer.auctionId)) return
    const untilMs = Date.parse(offer.expiresAt)
    if (untilMs <= clock.now()) return
    const { auctionId, number } = offer
    const lane = { workspaceId, campaignId: ping.campaign.id, publisherId: ping.publisher.id }
    const caller = knownNumber(ping.caller)
    await Promise.all([
      caller && entries.put(`${offerPrefix(lane, caller)}${auctionId}`, NOTED, untilMs),
      caller && number && putPost(workspaceId, { auctionId, number, caller, expiresAt: offer.expiresAt }),
      !caller && number && hold(holdKey(lane, number.id), auctionId, untilMs),
    ])
    recorded.set(auctionId, true)
  }

  /** The auctions that a call on a lane's number may claim, and by what: its post, the number's hold, a won ping of the caller. */
  async function* claimsOf(lane: OfferLane, numberId: string, caller: string | null) {
    const { workspaceId } = lane
    const [posted, holding, pinged] = await Promise.all([
      caller === null ? [] : auctionsUnder(postPrefix(workspaceId, numberId, caller)),
      auctionOf(holdKey(lane, numberId)),
      caller === null ? [] : auctionsUnder(offerPrefix(lane, caller)),
    ])
    for (const auctionId of posted)
      yield { state: await stateOf(workspaceId, auctionId), attribution: 'rtb_bid' as const }
    const held = await stateOf(workspaceId, holding)
    // The number alone is enough for a single-step win: a post tells the caller.
    if (held?.held?.ping.protocol === 'rtb_v1_compat') yield { state: held, attribution: 'rtb_bid' as const }
    for (const auctionId of pinged) {
      const state = await stateOf(workspaceId, auctionId)
      // The call of a posted offer comes to the number that the post named.
      if (!state?.posted) yield { state, attribution: 'ping_window' as const }
    }
  }

  async function liveOffer(lane: OfferLane, caller: string): Promise<RepeatableOffer | null> {
    const [latest = null] = await auctionsUnder(offerPrefix(lane, caller))
    const { offer = null, terms = null } = (await stateOf(lane.workspaceId, latest))?.held ?? {}
    return offer && terms && { offer, terms }
  }

  return {
    liveOffer,
    heldNumbers,
    holdNumber,
    releaseNumber,
    async endOffer(workspaceId, auctionId) {
      const { held, posted } = (await stateOf(workspaceId, auctionId)) ?? {}
      if (!held) return
      const { campaign, publisher } = held.ping
      const lane = { workspaceId, campaignId: campaign.id, publisherId: publisher.id }
      const [caller, number] = [knownNumber(held.ping.caller), held.offer?.number ?? null]
      const post = posted ?? (caller && number ? { number, caller } : null)
      await Promise.all([
        caller && entries.delete(`${offerPrefix(lane, caller)}${auctionId}`),
        post && entries.delete(`${postPrefix(workspaceId, post.number.id, post.caller)}${auctionId}`),
        !caller && number && releaseNumber(lane, number.id, auctionId),
      ])
      await entries.stored()
    },
    recordOffer: (workspaceId, held) => noteOffer(workspaceId, held, holdFor),
    async restoreOffer(workspaceId, held) {
      await noteOffer(workspaceId, held, holdUnlessLater)
      await entries.stored()
    },
    async recordPost(workspaceId, post) {
      await putPost(workspaceId, post)
      await entries.stored()
    },
    async offerFor(workspaceId, configured, { to, caller, at }) {
      const number = configured.numbers.get(configured.numberIds.get(to) ?? '')
      const { campaignId = null, publisherId = null } = number ?? {}
      if (!number || campaignId === null || publisherId === null) return null
      for await (const { state, attribution } of claimsOf(
        { workspaceId, campaignId, publisherId },
        number.id,
        caller,
      )) {
        const won = wonOfferOf(state, attribution)
        if (won && isOfferLive(won, at)) return won
      }
      return null
    },
  }
}
