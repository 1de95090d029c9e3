import { isDeepStrictEqual } from 'node:util'
import { figuresOf } from '../money/figures.ts'
import { laneKeyOf } from '../routing/decision.ts'
import { booksOf } from './books.ts'
import { answeredAttempt, type CallState } from './call.ts'
import type { Books } from './call-changes.ts'
import { settledSentence } from './call-sentences.ts'

/** The books of a call by its facts and talk time. `changes` replaces its posts or corrections, to preview a change. */
export function computeBooks(
  state: CallState,
  talkSeconds: number,
  changes: Partial<Pick<CallState, 'posts' | 'corrections'>> = {},
): Books {
  const { terms, attempts, posts, corrections } = { ...state, ...changes }
  const posted = posts.at(-1) ?? null
  const sold = answeredAttempt(state)?.claim ?? null
  return booksOf({ terms, sold, dialled: attempts.length > 0, talkSeconds, posted, corrections })
}

/** `CallSettled` of a call that ended, at an instant. */
export function settlementEvent(state: CallState, callId: string, talkSeconds: number, occurredAt: string) {
  const { campaign, publisher } = state.arrival
  const claim = answeredAttempt(state)?.claim ?? null
  const books = computeBooks(state, talkSeconds)
  return {
    type: 'CallSettled' as const,
    data: {
      callId,
      occurredAt,
      campaignId: campaign?.id ?? null,
      publisherId: publisher?.id ?? null,
      ...laneKeyOf(state.arrival),
      targetId: claim?.target.id ?? null,
      buyerId: claim?.buyer.id ?? null,
      capCountsOn: claim?.capCountsOn ?? null,
      claimedAt: claim?.occurredAt ?? null,
      ...books,
      sentence: settledSentence(books),
    },
  }
}

/** `BooksChanged` when the books of a settled call differ from `after`; none before the settlement. */
export function booksChangedEvents(
  state: CallState,
  callId: string,
  after: Books,
  occurredAt: string,
  note: string | null,
) {
  if (!state.settled) return []
  const { at: settledAt, changes, ...before } = state.settled
  if (isDeepStrictEqual(before, after)) return []
  const { campaign, publisher } = state.arrival
  const dial = answeredAttempt(state)
  const data = {
    callId,
    occurredAt,
    settledAt,
    change: changes + 1,
    campaignId: campaign?.id ?? null,
    publisherId: publisher?.id ?? null,
    ...laneKeyOf(state.arrival),
    claim: dial && claimSummary(dial.claim),
    before: figuresOf(before),
    ...after,
    note,
    sentence: settledSentence(after),
  }
  return [{ type: 'BooksChanged' as const, data }]
}

type Claim = NonNullable<ReturnType<typeof answeredAttempt>>['claim']

const claimSummary = ({ target, buyer, externalRef, capCountsOn, occurredAt }: Claim) => ({
  target,
  buyer,
  externalRef,
  capCountsOn,
  occurredAt,
})
