import type { PlannedModel, TermsModel } from './terms-state.ts'

/** An accepted post: it holds a slot of every cap until its call arrives or its offer ends. */
interface PostModel {
  readonly caller: string
  readonly number: string
  readonly at: number
  /** Whether the target's caps were reset after the post. */
  capsReset: boolean
}

/** An offer that an auction made. */
export interface OfferModel {
  /** The id of the auction. */
  readonly id: string
  readonly campaign: string
  readonly publisher: string
  readonly singleStep: boolean
  /** The caller of the ping; null when the number was hidden. */
  readonly caller: string | null
  readonly callerState: string | null
  /** The number that the answer named; null when a post has to name it. */
  readonly number: string | null
  /** The winner, then the others in the order of the auction. */
  readonly plan: readonly PlannedModel[]
  readonly terms: TermsModel
  readonly payoutCents: number
  readonly thresholdSeconds: number
  readonly madeAt: number
  readonly expiresAt: number
  readonly tags: Readonly<Record<string, string>>
  post: PostModel | null
  /** How it ended; null while it may be claimed, and for one that expired without a post. */
  end: 'claimed' | 'expired' | null
}

/** A ping that was judged. */
export interface PingModel {
  readonly id: string
  readonly campaign: string
  readonly publisher: string
  /** Null for a number that was hidden or cannot be read. */
  readonly caller: string | null
  readonly outcome: 'won' | 'cached' | 'no_bid' | 'blocked'
  /** The reason word of a ping without an offer. */
  readonly reason: string | null
  /** The number that the answer named. */
  readonly number: string | null
  /** Its own offer, or the earlier one that was repeated. */
  readonly offer: OfferModel | null
}

/** What a publisher is answered to a post: the number to call, a no-bid's reason word, or that of a refusal. */
export type PostAnswerModel =
  | { readonly outcome: 'accepted'; readonly number: string; readonly payoutCents: number; readonly expiresAt: number }
  | { readonly outcome: 'no_bid' | 'refused'; readonly reason: string }
