import type { Slot } from '../oracle/slots.ts'
import type { OfferModel } from './auction-state.ts'
import { iso, type Model, need } from './state.ts'
import { numberOf } from './world.ts'

/** A publisher's lane on a campaign. */
export interface LaneName {
  readonly campaign: string
  readonly publisher: string
}

const isOfLane = (offer: OfferModel, { campaign, publisher }: LaneName) =>
  offer.campaign === campaign && offer.publisher === publisher

/** Whether an offer can be claimed at an instant. */
export function isLive({ end, madeAt, expiresAt }: OfferModel, at: number): boolean {
  return end === null && madeAt <= at && at < expiresAt
}

/** The live offers of a lane, the latest first. */
export function liveOffers({ offers, now }: Model, lane: LaneName): readonly OfferModel[] {
  return offers.filter((offer) => isOfLane(offer, lane) && isLive(offer, now)).toReversed()
}

/** The number that a lane offers: none while it is held for a hidden caller (Supplement §7, number offered). */
export function freeNumber(model: Model, lane: LaneName): string | null {
  const isHeld = liveOffers(model, lane).some(({ caller }) => caller === null)
  return isHeld ? null : numberOf(lane)
}

/** An offer that a call claims, and what it is attributed by. */
export interface ClaimedModel {
  readonly offer: OfferModel
  readonly attribution: 'rtb_bid' | 'ping_window'
}

/** The offer that a call claims at its arrival (Supplement §6, Arrival, and §7, Posts). */
export function claimedOffer(
  model: Model,
  { dialed, caller, at }: { readonly dialed: string; readonly caller: string | null; readonly at: number },
): ClaimedModel | null {
  const { campaign, publisher } = need(model.numbers, dialed)
  if (campaign === null || publisher === null) return null
  const live = liveOffers(model, { campaign, publisher }).filter((offer) => isLive(offer, at))
  const isKnown = caller !== null
  const announced = live.find(({ post, singleStep, number, ...offer }) => {
    const named =
      post ?? (singleStep && offer.caller !== null && number !== null ? { caller: offer.caller, number } : null)
    return isKnown && named?.caller === caller && named.number === dialed
  })
  const byNumber = live.find((offer) => offer.singleStep && offer.caller === null && offer.number === dialed)
  const won = live.find((offer) => isKnown && offer.caller === caller && offer.post === null)
  const claimed = announced ?? byNumber
  if (claimed) return { offer: claimed, attribution: 'rtb_bid' }
  return won ? { offer: won, attribution: 'ping_window' } : null
}

/** The slots that accepted posts hold on a campaign, lane, target or buyer. */
export function heldSlots(
  { offers, targets }: Model,
  kind: 'target' | 'buyer' | 'campaign' | 'lane',
  name: string,
): readonly Slot[] {
  return offers.flatMap(({ campaign, publisher, plan: [winner], post, end }) => {
    if (!post || !winner || end !== null) return []
    const { buyer } = need(targets, winner.target)
    const names = { campaign, lane: `${campaign}/${publisher}`, target: winner.target, buyer }
    if (names[kind] !== name) return []
    return [
      {
        at: iso(post.at),
        countsOn: 'connected',
        state: 'held',
        live: true,
        settledAt: null,
        converted: false,
        cents: 0,
        capsReset: kind === 'target' && post.capsReset,
      },
    ]
  })
}

/** Ends the posted offers whose calls did not come in time. */
export function expireOffers({ offers, now }: Model): void {
  for (const offer of offers) if (offer.post && offer.end === null && offer.expiresAt <= now) offer.end = 'expired'
}
