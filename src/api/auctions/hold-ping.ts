import { holdAuction } from '../../../commands/auctions/hold-auction.ts'
import { refusePing } from '../../../commands/auctions/refuse-ping.ts'
import { biddersTime, createAnswerReserve } from '../../domain/auctions/answer-reserve.ts'
import { type AuctionHeld, auctionEvents, auctionRef } from '../../domain/auctions/auction.ts'
import { budgetLeft } from '../../domain/auctions/decide-auction.ts'
import { laneNumbers } from '../../domain/auctions/lane-numbers.ts'
import { type NoBid, noBidOf } from '../../domain/auctions/no-bid.ts'
import { knownNumber, type Ping, type PingBody, pingFrom } from '../../domain/auctions/ping.ts'
import { type BidQuestion, bidsField } from '../../domain/routing/bids.ts'
import { BID } from '../../domain/shared/limits.ts'
import { appendedDataOf } from '../../kernel/event.ts'
import { instantText } from '../../kernel/instant.ts'
import { isRefusal, type Refusal, refuse } from '../../kernel/refusal.ts'
import type { Clock } from '../../ports/clock.ts'
import type { CommandContext } from '../../ports/command-handler.ts'
import type { Random } from '../../ports/random.ts'
import { decideWithBids } from '../../reactions/ask-bidders.ts'
import type { AuctionPorts } from '../../reactions/tools.ts'
import type { RatesLimiter } from '../../runtime/rates/rates-limiter.ts'
import type { Effects } from '../../runtime/reactions/effects.ts'
import type { StreamWriter } from '../../runtime/write/stream-writer.ts'
import type { NextAuctionNumber } from './auction-numbers.ts'
import { type PublisherRequest, storedRequest } from './ping-request.ts'
import type { PublisherKey } from './publisher-keys.ts'

/** What holding auctions needs. */
export interface AuctionDesk extends AuctionPorts {
  readonly writer: Pick<StreamWriter, 'handle' | 'stateOf'>
  readonly effects: Pick<Effects<never>, 'processEvents'>
  readonly rates: RatesLimiter
  /** Limits the rows of refused pings. */
  readonly rows: RatesLimiter
  readonly nextNumber: NextAuctionNumber
  readonly onKeyUse: (use: { readonly workspaceId: string; readonly keyId: string; readonly at: string }) => void
  readonly clock: Clock
  readonly random: Pick<Random, 'uuid'>
  /** Whether auctions are decided at the time of `clock`, which the sandbox sets back, and not at that of the writer. */
  readonly isDatedBack?: boolean
}

/** An auction that was held, up to the position of its event. */
export interface AuctionResult {
  readonly held: AuctionHeld
  readonly position: number
}

/** Why a ping whose body cannot be read gets no offer. */
export const UNREADABLE: NoBid = { ...noBidOf('internal'), sentence: 'The body of the ping cannot be read.' }

const SYSTEM_ERRORS: ReadonlySet<string> = new Set(['LogUnavailable', 'StoreUnavailable', 'UnknownEventVersion'])

/** The metadata of what a publisher does. */
export function publisherContext(
  { workspaceId, key }: PublisherKey,
  { requestId, ip }: Pick<PublisherRequest, 'requestId' | 'ip'>,
  correlationId: string,
  commandId: string,
): CommandContext {
  const publisher = { type: 'publisher', id: key.publisherId, name: key.prefix } as const
  return { workspaceId, actor: publisher, commandId, correlationId, causationId: requestId, surface: 'rtb', ip }
}

function namesOf({ key, configured }: PublisherKey): Pick<Ping, 'campaign' | 'publisher'> {
  const { campaignId, publisherId } = key
  return {
    campaign: { id: campaignId, name: configured.campaigns.get(campaignId)?.name ?? '' },
    publisher: { id: publisherId, name: configured.publishers.get(publisherId)?.name ?? '' },
  }
}

/** Creates what judges pings. */
export function createPingDesk(desk: AuctionDesk) {
  const { writer, effects, offers, rates, rows, nextNumber, onKeyUse, clock, random, isDatedBack = false } = desk
  const answerReserve = createAnswerReserve()

  /** Writes a row of a request that was refused before it was judged: of a key, at most as many a minute as its rate allows pings. */
  async function writeRefusal(
    found: PublisherKey,
    request: PublisherRequest,
    protocol: Ping['protocol'],
    { reason, statusCode }: { readonly reason: NoBid; readonly statusCode: number },
  ): Promise<void> {
    const { key, workspaceId } = found
    const rate = { limit: key.ratePerMinute, windowMs: 60_000 }
    if (!(await rows.consume(`ping-rows:${key.id}`, [rate])).allowed) return
    const auctionId = random.uuid()
    const seq = await nextNumber(workspaceId)
    const outcome = statusCode === 429 ? 'rate_limited' : 'error'
    const row = {
      auctionId,
      occurredAt: instantText(request.receivedMs),
      ref: auctionRef(seq),
      seq,
      request: storedRequest(request, { caller: null, isDisclosed: false }),
      elapsedMs: Math.max(0, clock.now() - request.receivedMs),
      protocol,
      environment: key.environment,
      keyId: key.id,
      ...namesOf(found),
      outcome,
      reason,
      statusCode,
    }
    await writer.handle(refusePing, row, publisherContext(found, request, auctionId, auctionId))
  }

  /** Counts a request against the three rates of its key. */
  async function checkRates({ key }: PublisherKey): Promise<Refusal<'rate-limited'> | null> {
    const { allowed, nextMs } = await rates.consume(`publisher-key:${key.id}`, [
      { limit: key.ratePerMinute, windowMs: 60_000 },
      { limit: key.ratePerHour, windowMs: 3_600_000 },
      { limit: key.ratePerDay, windowMs: 86_400_000 },
    ])
    return allowed ? null : refuse('rate-limited', { retryAfterSeconds: Math.max(1, Math.ceil(nextMs / 1_000)) })
  }

  /** What the operational store knows of the lane: the caller's live offer, and the numbers that are held for hidden callers. */
  async function claimsOf({ workspaceId, configured }: PublisherKey, ping: Ping) {
    const lane = { workspaceId, campaignId: ping.campaign.id, publisherId: ping.publisher.id }
    const caller = knownNumber(ping.caller)
    if (ping.environment === 'test') return { lane, repeats: null, heldNumbers: [], heldNumber: null }
    if (ping.caller.kind === 'hidden') {
      const numbers = laneNumbers(configured, lane.campaignId, lane.publisherId)
      const untilMs = clock.now() + ping.tmaxMs + BID.lifeSeconds * 1_000
      const heldNumber = await offers.holdNumber(lane, numbers, ping.auctionId, untilMs)
      return { lane, repeats: null, heldNumbers: [], heldNumber }
    }
    const [repeats, heldNumbers] = await Promise.all([
      caller === null ? null : offers.liveOffer(lane, caller),
      offers.heldNumbers(lane),
    ])
    return { lane, repeats, heldNumbers, heldNumber: null }
  }

  /** Holds the auction of a ping, and records what it came to. @throws LogUnavailable, StoreUnavailable */
  async function hold(
    found: PublisherKey,
    request: PublisherRequest,
    body: PingBody,
    protocol: Ping['protocol'],
  ): Promise<AuctionResult> {
    const { key, workspaceId, configured } = found
    const auctionId = random.uuid()
    const ping: Ping = {
      ...pingFrom(body),
      auctionId,
      occurredAt: instantText(request.receivedMs),
      protocol,
      environment: key.environment,
      keyId: key.id,
      ...namesOf(found),
    }
    const [{ lane, ...claims }, seq] = await Promise.all([claimsOf(found, ping), nextNumber(workspaceId)])
    const isDisclosed = configured.campaigns.get(key.campaignId)?.discloseCallerId ?? false
    const asked = {
      ping,
      ref: auctionRef(seq),
      seq,
      request: storedRequest(request, { caller: knownNumber(ping.caller), isDisclosed }),
      ...claims,
    }
    const decidedAt = () => (isDatedBack ? instantText(clock.now()) : null)
    const context = publisherContext(found, request, auctionId, auctionId)
    let bidsDueMs = Number.POSITIVE_INFINITY
    // A decision asks at the instant of the ping, which may have waited for its turn since: that is time of its budget, too.
    const withinBudget = (question: BidQuestion): BidQuestion => {
      const now = clock.now()
      const budgetMs = biddersTime(question.budgetMs, budgetLeft(ping, now, answerReserve.at(now)))
      bidsDueMs = now + budgetMs
      return { ...question, budgetMs }
    }
    const outcome = await decideWithBids(
      (question) => desk.askBidders(workspaceId, withinBudget(question)),
      (bids, seed) =>
        writer.handle(holdAuction, { ...asked, ...bidsField(bids), seed, decidedAt: decidedAt() }, context),
    )
    if (isRefusal(outcome)) throw new Error(`The auction was refused: ${outcome.refused}`)
    const held = appendedDataOf(auctionEvents, outcome.events, 'AuctionHeld')
    if (!held) throw new Error('The auction has no event.')
    const { heldNumber } = claims
    if (heldNumber !== null && held.offer?.number?.id !== heldNumber)
      await offers.releaseNumber(lane, heldNumber, auctionId)
    await offers.recordOffer(workspaceId, held)
    // What follows from the auction keeps no publisher waiting; the reaction repeats it if it fails.
    effects.processEvents(outcome.events).catch(() => undefined)
    const now = clock.now()
    answerReserve.note(now - bidsDueMs, now)
    return { held, position: outcome.position }
  }

  return {
    writeRefusal,
    checkRates,
    /** Judges a ping: its key's rates, its body, then its auction. */
    async judge(
      found: PublisherKey,
      request: PublisherRequest,
      protocol: Ping['protocol'],
      read: (request: PublisherRequest) => { readonly body: PingBody } | Refusal,
    ): Promise<AuctionResult | Refusal> {
      const { key, workspaceId } = found
      const refused = await checkRates(found)
      if (refused) {
        await writeRefusal(found, request, protocol, { reason: noBidOf('rate_limited'), statusCode: 429 })
        return refused
      }
      onKeyUse({ workspaceId, keyId: key.id, at: instantText(request.receivedMs) })
      const sent = read(request)
      if (isRefusal(sent)) {
        const statusCode = sent.refused === 'unsupported-media-type' ? 415 : 400
        await writeRefusal(found, request, protocol, { reason: UNREADABLE, statusCode })
        return sent
      }
      try {
        return await hold(found, request, sent.body, protocol)
      } catch (error) {
        const isDown = error instanceof Error && SYSTEM_ERRORS.has(error.name)
        if (!isDown)
          await writeRefusal(found, request, protocol, { reason: noBidOf('internal'), statusCode: 500 }).catch(
            () => undefined,
          )
        throw error
      }
    },
  }
}
export type PingDesk = ReturnType<typeof createPingDesk>
