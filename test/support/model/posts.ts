import type { OfferModel, PingModel, PostAnswerModel } from './auction-state.ts'
import { skipReason } from './eligibility.ts'
import { freeNumber, isLive } from './offers.ts'
import { judgementOf, refusalOf } from './pings.ts'
import { type Model, need } from './state.ts'

const CONFLICT = { outcome: 'refused', reason: 'conflict' } as const
const EXPIRED = { outcome: 'refused', reason: 'bid-expired' } as const
const CAPPED: ReadonlySet<string> = new Set(['concurrency', 'capped', 'buyer_capped', 'spend_capped'])

/** Why an offer can no longer be had by a caller, although it is alive: the reason word of a no-bid, or null. */
function noBidReason(model: Model, { plan: [winner], ...offer }: OfferModel, caller: string): string | null {
  const judged = judgementOf(model, { ...offer, callerNumber: caller })
  const refusal = refusalOf(model, judged)
  if (refusal !== null || !winner) return refusal
  const { states } = need(model.campaigns, offer.campaign)
  const call = { caller, callerState: offer.callerState, routing: { states }, arrivalTags: offer.tags }
  const reason = skipReason(model, winner.target, { call, at: model.now })
  return reason === null ? null : CAPPED.has(reason) ? 'capped' : 'no_targets'
}

function answerTo(model: Model, { offer, caller: known, number: named }: PingModel, caller: string): PostAnswerModel {
  if (offer === null) return CONFLICT
  const { post, payoutCents, expiresAt } = offer
  const accepted = (number: string) => ({ outcome: 'accepted', number, payoutCents, expiresAt }) as const
  if (post && post.caller !== caller) return CONFLICT
  if (post && offer.end === 'claimed') return accepted(post.number)
  if ((known !== null && known !== caller) || offer.end === 'claimed') return CONFLICT
  if (!isLive(offer, model.now)) return EXPIRED
  if (post) return accepted(post.number)
  const number = named ?? offer.number ?? freeNumber(model, offer)
  if (number === null) return { outcome: 'no_bid', reason: 'no_number' }
  const reason = noBidReason(model, offer, caller)
  return reason === null ? accepted(number) : { outcome: 'no_bid', reason }
}

/** A publisher posts the offer of a ping for a caller (Supplement §7, Posts). */
export function postOffer(model: Model, ping: PingModel, caller: string): PostAnswerModel {
  const { offer } = ping
  const answer = answerTo(model, ping, caller)
  const isFirst = answer.outcome === 'accepted' && offer?.post === null
  const word = answer.outcome === 'accepted' ? (isFirst ? 'accepted' : 'repeated') : answer.reason
  // Each cap has room but for the slots of other posts.
  const isHeld = word === 'capped' && offer && noBidReason({ ...model, offers: [] }, offer, caller) === null
  model.posts.push(isHeld ? 'capped by other posts' : word)
  if (isFirst) offer.post = { caller, number: answer.number, at: model.now, capsReset: false }
  return answer
}
