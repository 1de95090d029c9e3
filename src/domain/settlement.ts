import { booksOf } from './books.ts'
import { answered, type CallState } from './call.ts'
import { settledSentence } from './call-sentences.ts'

/** The settlement of a call whose end is known, at an instant. */
export function settlement(state: CallState, callId: string, talkSeconds: number, occurredAt: string) {
  const { arrival, terms, attempts } = state
  const claim = answered(state)?.claim ?? null
  const books = claim
    ? booksOf(terms, claim, talkSeconds)
    : {
        converted: false,
        source: null,
        reason: attempts.length === 0 ? 'no_buyer' : 'not_answered',
        revenueCents: 0,
        payoutCents: 0,
      }
  return {
    type: 'CallSettled' as const,
    data: {
      callId,
      occurredAt,
      campaignId: arrival.campaign?.id ?? null,
      publisherId: arrival.publisher?.id ?? null,
      targetId: claim?.target.id ?? null,
      buyerId: claim?.buyer.id ?? null,
      capCountsOn: claim?.capCountsOn ?? null,
      claimedAt: claim?.occurredAt ?? null,
      ...books,
      sentence: settledSentence(books),
    },
  }
}
