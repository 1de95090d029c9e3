import { z } from 'zod'
import { recordPost } from '../../../commands/auctions/record-post.ts'
import { refusePost } from '../../../commands/auctions/refuse-post.ts'
import { reserveOffer } from '../../../commands/auctions/reserve-offer.ts'
import { type AuctionHeld, type AuctionState, auction, type OfferedNumber } from '../../domain/auctions/auction.ts'
import { laneNumbers } from '../../domain/auctions/lane-numbers.ts'
import { type NoBid, type NoBidReason, noBid, noBidOf } from '../../domain/auctions/no-bid.ts'
import { knownNumber, readCaller, readTags } from '../../domain/auctions/ping.ts'
import { sipAddressOf } from '../../domain/auctions/ping-answer.ts'
import { TEXT } from '../../domain/shared/limits.ts'
import { isRefusal, type Refusal, refuse } from '../../kernel/refusal.ts'
import { id } from '../../kernel/wire.ts'
import type { AuctionDesk } from './hold-ping.ts'
import { publisherContext } from './hold-ping.ts'
import { type PublisherRequest, readCheckedBody } from './ping-request.ts'
import type { PublisherKey } from './publisher-keys.ts'

/** The body of a post. */
export const postBody = z.object({
  auctionId: id,
  callerNumber: z.string().max(TEXT.reference),
  tags: z.record(z.string(), z.unknown()).nullish(),
})

/** Details of the ledger's refusal of a post. */
const postRefusal = noBid.pick({ reason: true })

/** What a publisher is answered to a post (Supplement §7). */
export const postAnswerShape = z
  .discriminatedUnion('outcome', [
    z.object({
      auctionId: id,
      ref: z.string(),
      outcome: z.literal('accepted'),
      number: z.string(),
      sipAddress: z.string().nullable(),
      payoutCents: z.int(),
      expiresAt: z.string(),
    }),
    z.object({
      auctionId: id,
      ref: z.string(),
      outcome: z.literal('no_bid'),
      reason: noBid,
    }),
  ])
  .meta({ id: 'PostAnswer' })
type PostAnswer = Readonly<z.infer<typeof postAnswerShape>>

/** The ping that is posted, and the auction that made its offer: the same, unless the offer was repeated. */
interface PostedAuction {
  readonly pinged: AuctionHeld
  readonly source: AuctionState & { readonly held: AuctionHeld }
}

type Post = Readonly<{ auctionId: string; caller: string; tags: Readonly<Record<string, string>> }>

/** How often, and how long (ms), the outcome of another request's post is waited for. */
const WAIT = { times: 40, ms: 50 } as const

const notFound = refuse('not-found', null, 'Auction not found.')
const conflict = (message: string) => refuse('conflict', null, message)

/** Refuses a post of an offer that is over without a call: it has expired, or its bid was voided. */
function refuseEnded({ pinged, source }: PostedAuction, now: string): Refusal<'bid-expired'> | null {
  if (source.claimedBy !== null) return null
  const isEnded = source.expired || source.voided || now >= (pinged.offer?.expiresAt ?? now)
  return isEnded ? refuse('bid-expired') : null
}

function readPost({ raw }: PublisherRequest): Post | Refusal {
  const read = readCheckedBody(raw, postBody)
  if (isRefusal(read)) return read
  const { auctionId, callerNumber, tags } = read.body
  const caller = knownNumber(readCaller(callerNumber))
  if (caller === null) return refuse('validation-error', { callerNumber: 'must be a phone number' })
  return { auctionId, caller, tags: readTags(tags ?? {}) }
}

/** Creates what takes posts. */
export function createPostDesk(desk: AuctionDesk, sipDomain: string | null) {
  const { writer, effects, offers, clock, random } = desk

  async function auctionOf({ workspaceId, key }: PublisherKey, auctionId: string): Promise<PostedAuction | null> {
    const state = await writer.stateOf(auction, auctionId, workspaceId)
    const pinged = state?.held ?? null
    if (!state || pinged === null || pinged.ping.keyId !== key.id) return null
    const offered = pinged.offer?.auctionId ?? auctionId
    const source = offered === auctionId ? state : await writer.stateOf(auction, offered, workspaceId)
    return source?.held ? { pinged, source: { ...source, held: source.held } } : null
  }

  function accepted({ pinged, source }: PostedAuction, number: string): PostAnswer {
    const { ref, ping, offer } = pinged
    return {
      auctionId: ping.auctionId,
      ref,
      outcome: 'accepted',
      number,
      sipAddress: sipAddressOf(number, sipDomain),
      payoutCents: offer?.payoutCents ?? 0,
      expiresAt: source.posted?.expiresAt ?? offer?.expiresAt ?? '',
    }
  }

  /** Answers a post whose offer was posted before: as the first, while its call may come or has come; null for the first. */
  function repeatedAnswer(posted: PostedAuction, caller: string, now: string): PostAnswer | Refusal | null {
    const before = posted.source.posted
    if (!before) return null
    if (before.caller !== caller) return conflict('The offer was posted by another caller number.')
    return refuseEnded(posted, now) ?? accepted(posted, before.number.e164)
  }

  /** Why a post cannot be taken, before its caps are checked. */
  function checkPost(posted: PostedAuction, caller: string, now: string): Refusal | null {
    const { pinged, source } = posted
    if (pinged.offer === null) return conflict('The auction made no offer.')
    const known = knownNumber(pinged.ping.caller)
    if (known !== null && known !== caller) return conflict('The ping was for another caller number.')
    if (source.claimedBy !== null) return conflict('The call of the offer has already come.')
    return refuseEnded(posted, now)
  }

  async function numberFor(found: PublisherKey, { pinged, source }: PostedAuction): Promise<OfferedNumber | null> {
    const { campaignId, publisherId } = found.key
    const { workspaceId, configured } = found
    const named = pinged.offer?.number ?? source.held.offer?.number ?? null
    if (named) return named
    const numbers = laneNumbers(configured, campaignId, publisherId)
    if (pinged.ping.environment === 'test') return numbers[0] ?? null
    const held = await offers.heldNumbers({ workspaceId, campaignId, publisherId })
    return numbers.find((number) => !held.includes(number.id)) ?? null
  }

  /** The outcome of a post that another request is making. @throws Error when it does not come */
  async function awaitOther(found: PublisherKey, { auctionId, caller }: Post): Promise<PostAnswer | Refusal> {
    for (let n = 0; n < WAIT.times; n += 1) {
      const posted = await auctionOf(found, auctionId)
      const answer = posted && repeatedAnswer(posted, caller, new Date(clock.now()).toISOString())
      if (answer) return answer
      await new Promise<void>((resolve) => void clock.schedule(clock.now() + WAIT.ms, resolve))
    }
    return refuse('unavailable')
  }

  async function refused(
    found: PublisherKey,
    request: PublisherRequest,
    { pinged, source }: PostedAuction,
    { caller }: Post,
    reason: NoBidReason,
  ): Promise<PostAnswer> {
    const { auctionId, ref } = { auctionId: pinged.ping.auctionId, ref: pinged.ref }
    const told: NoBid = noBidOf(reason)
    const context = publisherContext(found, request, source.held.ping.auctionId, random.uuid())
    const occurredAt = new Date(clock.now()).toISOString()
    const data = { auctionId: source.held.ping.auctionId, postedBy: auctionId, occurredAt, caller, reason: told }
    await writer.handle(refusePost, data, context)
    return { auctionId, ref, outcome: 'no_bid', reason: told }
  }

  /** Takes a post. @throws LogUnavailable, StoreUnavailable */
  return async function post(found: PublisherKey, request: PublisherRequest): Promise<PostAnswer | Refusal> {
    const sent = readPost(request)
    if (isRefusal(sent)) return sent
    const posted = await auctionOf(found, sent.auctionId)
    if (!posted) return notFound
    const { caller, tags } = sent
    const occurredAt = new Date(clock.now()).toISOString()
    const answer = repeatedAnswer(posted, caller, occurredAt) ?? checkPost(posted, caller, occurredAt)
    if (answer) return answer
    const { pinged, source } = posted
    const { ping, ref, offer, plan } = source.held
    const [winner] = plan
    if (!offer || !winner) return conflict('The auction made no offer.')
    const number = await numberFor(found, posted)
    if (number === null) return refused(found, request, posted, sent, 'no_number')
    const context = publisherContext(found, request, ping.auctionId, random.uuid())
    const postedBy = pinged.ping.auctionId
    if (ping.environment === 'test') {
      const { auctionId, expiresAt } = offer
      await writer.handle(recordPost, { auctionId, occurredAt, postedBy, caller, number, tags, expiresAt }, context)
      return accepted(posted, number.e164)
    }
    const input = { ping, offer, winner, ref, postedBy, caller, number, tags: { ...ping.tags, ...tags }, occurredAt }
    const outcome = await writer.handle(reserveOffer, input, context)
    if (isRefusal(outcome)) {
      const refusal = postRefusal.safeParse(outcome.details)
      return refusal.success ? refused(found, request, posted, sent, refusal.data.reason) : outcome
    }
    if (outcome.events.length === 0) return awaitOther(found, sent)
    await effects.processEvents(outcome.events)
    return accepted(posted, number.e164)
  }
}
