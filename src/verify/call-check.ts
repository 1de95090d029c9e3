import { isDeepStrictEqual } from 'node:util'
import { booksOf, usageFor } from '../domain/calls/books.ts'
import { call, type callEvents } from '../domain/calls/call.ts'
import type { Books, Corrections, Posted } from '../domain/calls/call-changes.ts'
import { type Figures, figuresOf, sameFigures } from '../domain/money/figures.ts'
import { wallet, type walletEvents } from '../domain/money/wallet.ts'
import { NOT_COUNTED } from '../domain/routing/counted-call.ts'
import type { Claim, Terms } from '../domain/routing/decision.ts'
import { ledger } from '../domain/routing/ledger.ts'
import type { ledgerEvents } from '../domain/routing/ledger-events.ts'
import { parseStreamName } from '../kernel/entity.ts'
import type { EventOf, RecordedEvent } from '../kernel/event.ts'
import { type CheckTime, fine, type KeyedCheck, laterInstant, type Step, stepOf } from './keyed-check.ts'

type CallEvent = EventOf<typeof callEvents>
type LedgerEvent = EventOf<typeof ledgerEvents>
type WalletEvent = EventOf<typeof walletEvents>

/** What follows from an event in another stream must be there after so long (ms): a process may be away for a while. */
const SETTLED_AFTER_MS = 3_600_000

interface Sale {
  readonly revenueCents: number
  readonly durationThresholdSeconds: number
}

/** A claim of the ledger, and the dial of the call that it is for. */
interface Attempt {
  readonly claim: Sale | null
  readonly claimState: 'open' | 'connected' | 'released' | null
  readonly dial: Sale | null
  readonly answered: boolean
}

interface CallBooks {
  /** Facts of the call's own stream; null before them. */
  readonly terms: Terms | null
  readonly attempts: Readonly<Record<number, Attempt>>
  readonly ended: { readonly talkSeconds: number; readonly usageCents: number; readonly usageDue: boolean } | null
  readonly posted: Posted | null
  readonly corrections: Corrections
  /** Figures of the settlement, then after each change of the books. */
  readonly figures: readonly Figures[]
  readonly usageCents: number | null
  /** What the wallet was charged for the call. */
  readonly chargedCents: number | null
  readonly admitted: boolean
  readonly released: boolean
  /** What the ledger counted last, and the number of the books' change of that. */
  readonly counted: (Figures & { readonly change: number }) | null
  /** Recorded instant of the last event. */
  readonly at: string
}

const NO_ATTEMPT: Attempt = { claim: null, claimState: null, dial: null, answered: false }

const saleOf = ({ revenueCents, durationThresholdSeconds }: Claim): Sale => ({ revenueCents, durationThresholdSeconds })

function withAttempt(state: CallBooks, number: number, change: Partial<Attempt>): CallBooks {
  const attempt = { ...(state.attempts[number] ?? NO_ATTEMPT), ...change }
  return { ...state, attempts: { ...state.attempts, [number]: attempt } }
}

/** The dial that was answered; undefined when none was. */
const soldIn = ({ attempts }: CallBooks): Attempt | undefined =>
  Object.values(attempts).find(({ answered }) => answered)

const centsText = ({ converted, revenueCents, payoutCents }: Figures): string =>
  `${converted ? 'converted' : 'not converted'}, ${revenueCents} cents revenue, ${payoutCents} cents payout`

/** What books say that does not follow from the facts of the call. */
function booksProblem(
  state: CallBooks,
  { converted, source, reason, revenueCents, payoutCents }: Books,
): string | false {
  const { terms, ended, posted, corrections, attempts } = state
  if (!terms || !ended) return 'settles a call that has not ended'
  const facts = { terms, talkSeconds: ended.talkSeconds, posted, corrections }
  const sold = soldIn(state)?.dial ?? null
  const expected = booksOf({ ...facts, sold, dialled: Object.values(attempts).some(({ dial }) => dial) })
  const stated: Books = { converted, source, reason, revenueCents, payoutCents }
  if (isDeepStrictEqual(stated, expected)) return false
  return `books "${reason}" (${centsText(stated)}), and the facts of the call give "${expected.reason}" (${centsText(expected)})`
}

function callStep(state: CallBooks, { type, data }: CallEvent): Step<CallBooks> {
  switch (type) {
    case 'CallArrived':
      return fine({ ...state, terms: data.terms })
    case 'TargetDialed': {
      const dial = saleOf(data.claim)
      const claim = state.attempts[data.claim.attempt]?.claim ?? null
      return stepOf(
        withAttempt(state, data.claim.attempt, { dial }),
        !isDeepStrictEqual(claim, dial) &&
          `dials at ${dial.revenueCents} cents, and the ledger's claim ${claim ? `is of ${claim.revenueCents} cents` : 'is missing'}`,
      )
    }
    case 'TargetAnswered':
    case 'TargetFailed':
      return stepOf(
        withAttempt(state, data.attempt, { answered: type === 'TargetAnswered' }),
        !state.attempts[data.attempt]?.dial && `is of attempt ${data.attempt}, which was never dialed`,
      )
    case 'CallEnded': {
      const { talkSeconds, usageCents, usageDueAt } = data
      const owed = state.terms && usageFor(talkSeconds, state.terms.usageRateCents)
      return stepOf(
        { ...state, ended: { talkSeconds, usageCents, usageDue: usageDueAt !== null } },
        owed !== null &&
          owed !== usageCents &&
          `owes ${usageCents} cents usage, and ${talkSeconds} s of talk cost ${owed}`,
      )
    }
    case 'CallSettled':
      return stepOf(
        { ...state, figures: [figuresOf(data)] },
        state.figures.length > 0 && 'settles a call that is settled already',
        booksProblem(state, data),
      )
    case 'BooksChanged':
      return booksChangedStep(state, data)
    case 'ConversionPosted': {
      const { source, revenueCents, note, externalId } = data
      return fine({ ...state, posted: { source, revenueCents, note, externalId } })
    }
    case 'CallAdjusted':
      return fine({ ...state, corrections: data.corrections })
    case 'UsageCharged': {
      const owed = state.ended?.usageCents ?? null
      return stepOf(
        { ...state, usageCents: data.usageCents },
        state.usageCents !== null && 'charges usage a second time',
        owed !== data.usageCents && `charges ${data.usageCents} cents usage, and the call owes ${owed ?? 'none'}`,
      )
    }
    default:
      return fine(state)
  }
}

function booksChangedStep(
  state: CallBooks,
  data: Extract<CallEvent, { type: 'BooksChanged' }>['data'],
): Step<CallBooks> {
  const before = state.figures.at(-1)
  return stepOf(
    { ...state, figures: [...state.figures, figuresOf(data)] },
    data.change !== state.figures.length && `is change ${data.change} of the books, and ${state.figures.length} is due`,
    before !== undefined &&
      !sameFigures(before, data.before) &&
      `changes books of "${centsText(data.before)}", and they were "${centsText(before)}"`,
    booksProblem(state, data),
  )
}

function claimed(state: CallBooks, claim: Claim | null): Step<CallBooks> {
  if (!claim) return fine(state)
  return stepOf(
    withAttempt(state, claim.attempt, { claim: saleOf(claim), claimState: 'open' }),
    (state.attempts[claim.attempt]?.claimState ?? null) !== null && `claims attempt ${claim.attempt} a second time`,
  )
}

function ledgerStep(state: CallBooks, { type, data }: LedgerEvent): Step<CallBooks> {
  switch (type) {
    case 'CallAdmitted': {
      const { state: after, problems } = claimed({ ...state, admitted: true }, data.claim)
      return stepOf(after, state.admitted && 'admits a call a second time', ...problems)
    }
    case 'TargetClaimed':
      return claimed(state, data.claim)
    case 'ClaimReleased': {
      const before = state.attempts[data.attempt]?.claimState ?? null
      return stepOf(
        withAttempt(state, data.attempt, { claimState: 'released' }),
        before !== 'open' &&
          `releases attempt ${data.attempt}, which ${before === null ? 'was never claimed' : `is ${before}`}`,
      )
    }
    case 'ClaimConnected': {
      const before = state.attempts[data.attempt]?.claimState ?? null
      return stepOf(
        withAttempt(state, data.attempt, { claimState: 'connected' }),
        before !== 'open' &&
          `connects attempt ${data.attempt}, which ${before === null ? 'was never claimed' : `is ${before}`}`,
      )
    }
    case 'CallReleased':
      return stepOf(
        { ...state, released: true },
        !state.admitted && 'releases a call that was never admitted',
        state.released && 'releases a call a second time',
      )
    case 'CallCounted':
      return stepOf(
        { ...state, counted: { ...figuresOf(data), change: 0 } },
        state.counted !== null && 'counts a call a second time',
        !state.figures.some((figures) => sameFigures(figures, data)) &&
          `counts "${centsText(data)}", and the call is settled with "${state.figures.map(centsText).join('", then "') || 'nothing'}"`,
      )
    case 'CallRecounted': {
      const before = state.counted ?? NOT_COUNTED
      const settled = state.figures[data.change]
      return stepOf(
        { ...state, counted: { ...data.after, change: data.change } },
        !sameFigures(before, data.before) &&
          `recounts "${centsText(data.before)}", and "${centsText(before)}" was counted`,
        (settled === undefined || !sameFigures(settled, data.after)) &&
          `recounts change ${data.change} as "${centsText(data.after)}", and the call has "${settled ? centsText(settled) : 'no such change'}"`,
      )
    }
    default:
      return fine(state)
  }
}

function walletStep(state: CallBooks, { type, data }: WalletEvent): Step<CallBooks> {
  if (type !== 'WalletCharged') return fine(state)
  const { amountCents } = data
  const owed = state.ended?.usageCents
  return stepOf(
    { ...state, chargedCents: (state.chargedCents ?? 0) + amountCents },
    state.chargedCents !== null && 'charges a call a second time',
    owed !== amountCents && `charges ${amountCents} cents for a call that owes ${owed ?? 'nothing'}`,
  )
}

/** Id of the call that an event of a ledger or wallet is about; null for none. */
function calledIn({ data }: RecordedEvent): string | null {
  const { callId, arrival } = data as {
    readonly callId?: string | null
    readonly arrival?: { readonly callId: string }
  }
  return callId ?? arrival?.callId ?? null
}

/** What another stream still lacks, a good while after the call's last event. */
function lateProblems(state: CallBooks, callId: string, { now }: CheckTime): readonly string[] {
  if (Date.parse(now) - Date.parse(state.at) < SETTLED_AFTER_MS) return []
  const { figures, counted, ended, usageCents, chargedCents, released, admitted, terms } = state
  const isSold = soldIn(state) !== undefined
  const due = figures.length - 1
  return [
    admitted && terms === null && `Call ${callId} was admitted by the ledger, and its own stream has no arrival.`,
    isSold && due >= 0 && counted === null && `Call ${callId} is settled, and the ledger has not counted it.`,
    counted !== null &&
      counted.change < due &&
      `Call ${callId} has change ${due} of its books, and the ledger counted change ${counted.change} last.`,
    ended !== null && admitted && !released && `Call ${callId} has ended, and the ledger still holds its slots.`,
    ended?.usageDue === true &&
      usageCents === null &&
      `Call ${callId} owes ${ended.usageCents} cents usage, which its stream has not charged.`,
    usageCents !== null &&
      usageCents > 0 &&
      chargedCents === null &&
      `Call ${callId} was charged ${usageCents} cents usage, and its wallet has no such entry.`,
  ].filter((sentence) => sentence !== false)
}

/** Books, claims, counts and charges of each call agree, over its own stream, the ledger and the wallet. */
export const callBooks: KeyedCheck<CallBooks> = {
  name: 'call-books',
  proves:
    'The books of each call follow from its facts, and its dials, claims, counts and usage charges agree in the call, the ledger and the wallet.',
  keys(event) {
    const { category, id } = parseStreamName(event.stream)
    if (category === call.name) return [id]
    const isAbout = category === ledger.name || (category === wallet.name && event.type === 'WalletCharged')
    const callId = isAbout ? calledIn(event) : null
    return callId === null ? [] : [callId]
  },
  initial: {
    terms: null,
    attempts: {},
    ended: null,
    posted: null,
    corrections: {},
    figures: [],
    usageCents: null,
    chargedCents: null,
    admitted: false,
    released: false,
    counted: null,
    at: '',
  },
  step(before, event) {
    const state = { ...before, at: laterInstant(event.meta.at, before.at) }
    const { category } = parseStreamName(event.stream)
    if (category === call.name) return callStep(state, event as unknown as CallEvent)
    if (category === ledger.name) return ledgerStep(state, event as unknown as LedgerEvent)
    return walletStep(state, event as unknown as WalletEvent)
  },
  end: lateProblems,
}
