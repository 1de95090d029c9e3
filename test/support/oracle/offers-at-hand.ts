import { isDeepStrictEqual } from 'node:util'
import { type AuctionHeld, auctionEvents } from '../../../src/domain/auctions/auction.ts'
import { decidedAt } from '../../../src/domain/auctions/ping-answer.ts'
import { ledgerEvents } from '../../../src/domain/routing/ledger-events.ts'
import type { RecordedEvent } from '../../../src/kernel/event.ts'

/** An answer to a ping, as its publisher saw it: both numbers are of one sequence. */
export interface SeenAnswer {
  readonly held: AuctionHeld
  readonly sent: number
  readonly answered: number
}

const claimed = ledgerEvents.CallRefused.pick({ offer: true })

/** The auction whose offer an event ends; null for any other event. */
function endedBy({ type, data }: RecordedEvent): string | null {
  if (type === 'CallAdmitted' || type === 'CallRefused') return claimed.parse(data).offer?.auctionId ?? null
  if (type === 'BidVoided') return auctionEvents.BidVoided.parse(data).auctionId
  return type === 'ReservationReleased' ? ledgerEvents.ReservationReleased.parse(data).auctionId : null
}

/**
 * How long (ms) after the end of an offer a ping may still get it: it may be judged on folds that do not know of a claim yet, and a void
 * is known once its next step is done, after a crash by another process.
 */
const GRACE_MS = { ledger: 5_000, void: 30_000 }

/** When (ms) each offer ended, and its place in the log; and the place of each auction. */
function placesOf(events: readonly RecordedEvent[]) {
  const [ends, auctions] = [
    new Map<string, { place: number; atMs: number; by: keyof typeof GRACE_MS }>(),
    new Map<string, number>(),
  ]
  for (const [place, event] of events.entries()) {
    const ended = endedBy(event)
    if (ended !== null && !ends.has(ended))
      ends.set(ended, { place, atMs: Date.parse(event.meta.at), by: event.type === 'BidVoided' ? 'void' : 'ledger' })
    if (event.type === 'AuctionHeld') auctions.set(auctionEvents.AuctionHeld.parse(event.data).ping.auctionId, place)
  }
  return { ends, auctions }
}

const isReal = ({ outcome, ping }: AuctionHeld) =>
  outcome === 'won' && ping.environment === 'production' && ping.caller.kind === 'known'

/** Whether an offer is that which a later ping would get: of its caller and lane, on the same terms, and not below its floor. */
function isSame({ ping, offer, terms }: AuctionHeld, later: AuctionHeld): boolean {
  const { keyId, caller, floorCents } = later.ping
  const pays = (offer?.payoutCents ?? 0) >= (floorCents ?? 0)
  return ping.keyId === keyId && isDeepStrictEqual([ping.caller, terms], [caller, later.terms]) && pays
}

/** Production auctions that are not in `answers`: the ping ran beside others, or its process died. */
function untoldOffers(events: readonly RecordedEvent[], answers: readonly SeenAnswer[]): readonly AuctionHeld[] {
  const told = new Set(answers.map(({ held }) => held.ping.auctionId))
  return events.flatMap(({ type, data }) => {
    if (type !== 'AuctionHeld') return []
    const held = auctionEvents.AuctionHeld.parse(data)
    return isReal(held) && !told.has(held.ping.auctionId) ? [held] : []
  })
}

const isOfSameCaller = (one: AuctionHeld, other: AuctionHeld) =>
  isDeepStrictEqual([one.ping.keyId, one.ping.caller], [other.ping.keyId, other.ping.caller])

/**
 * Pings that got an offer of their own although their caller had one on the lane on the same terms, which was answered before they were
 * sent (Supplement §7: it is repeated). The clocks of all processes must agree.
 */
export function missedRepeats(events: readonly RecordedEvent[], answers: readonly SeenAnswer[]): readonly string[] {
  const { ends, auctions } = placesOf(events)
  const untold = untoldOffers(events, answers)
  return answers.flatMap(({ held, sent }) => {
    // Of two offers that were made at once, either may be at hand.
    if (!isReal(held) || untold.some((one) => isOfSameCaller(one, held))) return []
    const { auctionId } = held.ping
    const [at, place] = [decidedAt(held), auctions.get(auctionId) ?? 0]
    const earlier = answers.filter(
      (one) =>
        isReal(one.held) &&
        one.answered < sent &&
        isOfSameCaller(one.held, held) &&
        (one.held.offer?.expiresAt ?? '') > at,
    )
    const isRepeat = earlier.every(
      (one) => isSame(one.held, held) && (ends.get(one.held.ping.auctionId)?.place ?? place) >= place,
    )
    return earlier.length > 0 && isRepeat
      ? [`${auctionId} made another offer than ${earlier.map((one) => one.held.ping.auctionId)}`]
      : []
  })
}

/** Pings that got an offer again which was over long before. The clocks of all processes must agree. */
export function endedRepeats(events: readonly RecordedEvent[]): readonly string[] {
  const { ends } = placesOf(events)
  return events.flatMap(({ type, data }) => {
    if (type !== 'AuctionHeld') return []
    const { ping, outcome, offer } = auctionEvents.AuctionHeld.parse(data)
    const end = outcome === 'cached' && offer ? ends.get(offer.auctionId) : undefined
    return end && Date.parse(ping.occurredAt) > end.atMs + GRACE_MS[end.by]
      ? [`${ping.auctionId} got the offer of ${offer?.auctionId} again, which was over`]
      : []
  })
}

/** Live offers of two hidden callers that wait for their calls on the same number. The clocks of all processes must agree. */
export function sharedNumbers(events: readonly RecordedEvent[]): readonly string[] {
  const { ends, auctions } = placesOf(events)
  const offers = events.flatMap(({ type, data }) => {
    if (type !== 'AuctionHeld') return []
    const { ping, offer, outcome } = auctionEvents.AuctionHeld.parse(data)
    const isHeld = outcome === 'won' && ping.environment === 'production' && ping.caller.kind === 'hidden'
    return isHeld && offer?.number ? [{ ...offer, numberId: offer.number.id }] : []
  })
  return offers.flatMap((offer, n) =>
    offers.slice(0, n).flatMap((earlier) => {
      const { auctionId, numberId, madeAt } = offer
      const end = ends.get(earlier.auctionId)
      const wasLive = earlier.expiresAt > madeAt && (end?.place ?? events.length) > (auctions.get(auctionId) ?? 0)
      return numberId === earlier.numberId && wasLive
        ? [`${auctionId} was offered the number ${numberId}, which ${earlier.auctionId} waits on`]
        : []
    }),
  )
}
