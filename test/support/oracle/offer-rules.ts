import type { z } from 'zod'
import { type AuctionHeld, auctionEvents } from '../../../src/domain/auctions/auction.ts'
import { type WorkspaceState, workspace } from '../../../src/domain/configuration/workspace.ts'
import { ledgerEvents } from '../../../src/domain/routing/ledger-events.ts'
import { streamOf } from '../../../src/kernel/entity.ts'
import type { RecordedEvent } from '../../../src/kernel/event.ts'
import { emptyFold, foldEvents } from '../../../src/runtime/write/fold.ts'
import type { Rule } from './rule.ts'

type Reserved = z.infer<typeof ledgerEvents.OfferReserved>
type WonCall = z.infer<typeof wonCall>

const wonCall = ledgerEvents.CallRefused.pick({ arrival: true, terms: true, offer: true })

/** An offer of an auction, and what has become of it. */
interface MadeOffer {
  readonly held: AuctionHeld
  post: Reserved | null
  /** The call that has claimed it, or how it ended without one. */
  end: string | null
}

/** Why a call may not claim an offer (Supplement §6, Arrival, and §7, Posts). */
function claimProblems({ held, post, end }: MadeOffer, { arrival }: WonCall): readonly string[] {
  const { ping, offer } = held
  const { occurredAt: at, caller } = arrival
  const known = ping.caller.kind === 'known' ? ping.caller.e164 : null
  // The number alone is enough for a single-step win of a hidden caller.
  const bySingleStep = known === null && ping.protocol === 'rtb_v1_compat' && arrival.numberId === offer?.number?.id
  const isExpected = caller !== null && caller === (post?.caller ?? known)
  return [
    ...(end === null ? [] : [`which ${end} already`]),
    ...(offer && offer.madeAt <= at && at < offer.expiresAt ? [] : [`outside its life, at ${at}`]),
    ...(isExpected || bySingleStep ? [] : [`by the caller ${caller}`]),
    ...(ping.environment === 'production' ? [] : ['of a test']),
  ]
}

/** Why what a call was promised is not what its publisher was offered. */
function promiseProblems({ held: { offer } }: MadeOffer, { terms: { promise } }: WonCall): readonly string[] {
  const same =
    promise?.payoutCents === offer?.payoutCents && promise?.durationThresholdSeconds === offer?.durationThresholdSeconds
  return same ? [] : [`with the promise ${JSON.stringify(promise)}`]
}

/**
 * An offer is claimed by one call at most, inside its life, by its caller, on a number of its lane, with what was promised; its
 * slots are given back as the ledger says.
 */
export function offerRule(): Rule {
  const offers = new Map<string, MadeOffer>()
  /** The configuration by revision of the workspace's stream. */
  const states: WorkspaceState[] = []
  let fold = emptyFold(workspace)

  function judgeClaim(event: RecordedEvent): readonly string[] {
    const called = wonCall.parse(event.data)
    const { arrival, offer } = called
    if (!offer) return arrival.auction ? [`${arrival.callId} names an auction without an offer`] : []
    const made = offers.get(offer.auctionId)
    if (!made) return [`${arrival.callId} claimed an offer that was never made`]
    const { campaign, publisher } = made.held.ping
    const configuration = states[event.meta.reads?.[streamOf(workspace, event.meta.workspaceId ?? '')] ?? -1]
    const number = configuration?.numbers.get(arrival.numberId ?? '')
    const ofLane = number?.campaignId === campaign.id && number.publisherId === publisher.id
    const problems = [
      ...claimProblems(made, called),
      ...promiseProblems(made, called),
      ...(ofLane ? [] : [`on the number ${arrival.dialedNumber} of another lane`]),
    ]
    made.end = `${arrival.callId} has claimed`
    return problems.map((problem) => `${arrival.callId} claimed the offer of ${offer.auctionId} ${problem}`)
  }

  const on: Readonly<Record<string, (event: RecordedEvent) => readonly string[]>> = {
    CallAdmitted: judgeClaim,
    CallRefused: judgeClaim,
    AuctionHeld({ data }) {
      const held = auctionEvents.AuctionHeld.parse(data)
      if (held.outcome !== 'won' || held.ping.environment !== 'production') return []
      offers.set(held.ping.auctionId, { held, post: null, end: null })
      return []
    },
    OfferReserved({ data }) {
      const post = ledgerEvents.OfferReserved.parse(data)
      const made = offers.get(post.auctionId)
      if (!made) return [`${post.auctionId} was posted without an offer`]
      const { ping, offer } = made.held
      const otherCaller = ping.caller.kind === 'known' && ping.caller.e164 !== post.caller
      const isLate = !offer || post.occurredAt >= offer.expiresAt
      const problems = [
        ...(otherCaller ? [`for another caller than ${ping.auctionId}'s`] : []),
        ...(isLate ? ['after its end'] : []),
        ...(made.end === null ? [] : [`although ${made.end}`]),
      ]
      made.post = post
      return problems.map((problem) => `${post.auctionId} was posted ${problem}`)
    },
    ReservationReleased({ data, stream }) {
      const { auctionId, reason } = ledgerEvents.ReservationReleased.parse(data)
      const made = offers.get(auctionId)
      if (!made?.post) return [`${stream} gives back slots that ${auctionId} never had`]
      // The claim itself follows in the same append.
      if (reason !== 'claimed') made.end = `it has ended (${reason})`
      return []
    },
  }

  return {
    see(event) {
      if (event.type in workspace.events) {
        fold = foldEvents(workspace, fold, [event])
        states[event.revision] = fold.state
      }
      return on[event.type]?.(event) ?? []
    },
  }
}
