import { expect } from 'vitest'
import { auctionEvents } from '../../../src/domain/auctions/auction.ts'
import { inboundPing } from '../../../src/domain/auctions/inbound-ping.ts'
import type { LedgerState } from '../../../src/domain/routing/ledger.ts'
import type { OfferModel, PingModel } from './auction-state.ts'
import { iso, type Model } from './state.ts'
import type { System } from './system.ts'

const row = inboundPing.pick({
  outcome: true,
  reason: true,
  payoutCents: true,
  clearingPriceCents: true,
  winningTarget: true,
})

/** The row of a ping in its ledger. */
const rowOf = ({ outcome, reason, offer }: PingModel) => ({
  outcome,
  reason,
  payoutCents: offer?.payoutCents ?? null,
  clearingPriceCents: offer?.plan[0]?.revenueCents ?? null,
  winningTarget: offer?.plan[0]?.target ?? null,
})

function shownRowOf(doc: unknown): Readonly<Record<keyof ReturnType<typeof rowOf>, unknown>> {
  const { reason, winningTarget, outcome, ...figures } = row.parse(doc)
  return { ...figures, outcome, reason: reason?.reason ?? null, winningTarget: winningTarget?.name ?? null }
}

/** What became of an offer: its post, and its claim or expiry, each at most once. */
function fateOf({ calls }: Model, offer: OfferModel): readonly string[] {
  const { post, end, expiresAt } = offer
  const call = calls.find((each) => each.offer === offer)
  return [
    ...(post ? [`posted by ${post.caller} for ${post.number} at ${iso(post.at)}`] : []),
    ...(call ? [`claimed by ${call.id} at ${iso(call.at)}`] : []),
    ...(end === 'expired' ? [`expired at ${iso(expiresAt)}`] : []),
  ]
}

/** The same, as the events of auctions tell it. */
function recordedFates({ log }: System): ReadonlyMap<string, readonly string[]> {
  const fates = new Map<string, string[]>()
  const add = (auctionId: string, what: string) => fates.set(auctionId, [...(fates.get(auctionId) ?? []), what])
  for (const { type, data } of log.events) {
    if (type === 'OfferPosted') {
      const { auctionId, caller, number, occurredAt } = auctionEvents.OfferPosted.parse(data)
      add(auctionId, `posted by ${caller} for ${number.e164} at ${occurredAt}`)
    }
    if (type === 'OfferClaimed') {
      const { auctionId, callId, occurredAt } = auctionEvents.OfferClaimed.parse(data)
      add(auctionId, `claimed by ${callId} at ${occurredAt}`)
    }
    if (type === 'OfferExpired') {
      const { auctionId, occurredAt } = auctionEvents.OfferExpired.parse(data)
      add(auctionId, `expired at ${occurredAt}`)
    }
  }
  return fates
}

/** Compares the rows of all pings, what became of each offer, and the posts that hold slots. */
export function expectOffers(model: Model, system: System, { reservations }: LedgerState): void {
  const rows = system.docs('ping-ledger')
  expect(rows.size).toBe(model.pings.length)
  for (const ping of model.pings) expect(shownRowOf(rows.get(ping.id)), ping.id).toEqual(rowOf(ping))
  const fates = recordedFates(system)
  for (const offer of model.offers) expect(fates.get(offer.id) ?? [], offer.id).toEqual(fateOf(model, offer))
  const held = model.offers.filter(({ post, end }) => post && end === null).map(({ id }) => id)
  expect([...reservations.keys()].toSorted()).toEqual(held.toSorted())
}

/** Expects that every accepted post has ended in a claim or an expiry. */
export function expectPostsEnded({ offers }: Model, { reservations }: LedgerState): void {
  expect([...reservations.keys()]).toEqual([])
  expect(offers.filter(({ post, end }) => post && end === null)).toEqual([])
}
