import { z } from 'zod'
import { addMs } from '../../kernel/instant.ts'
import { id, instant } from '../../kernel/wire.ts'
import { type BidAnswer, type BidResult, bidResult, bidResultOf, readBidAnswer } from '../demand/bid-answer.ts'
import { type Rtb, sipUri } from '../demand/endpoint.ts'
import { price } from '../money/money.ts'
import type { SkipReason } from '../shared/call-codes.ts'
import { e164, named } from '../shared/fields.ts'
import { BID } from '../shared/limits.ts'

/** One request to a bidder, and what came of it. Recorded with the decision that it belongs to. */
export const bid = z.object({
  bidId: id,
  target: named,
  buyer: named,
  askedAt: instant,
  /** When its answer was read, or given up. */
  answeredAt: instant,
  latencyMs: z.int().min(0),
  status: bidResult,
  httpStatus: z.int().nullable(),
  /** The price as the bidder gave it, in cents. */
  rawBidCents: z.int().min(0).nullable(),
  /** The price after modifier, floor and ceiling. */
  bidCents: price.nullable(),
  /** Where the call goes; null when the bid names nothing that can be dialled. */
  destination: z.object({ mode: z.enum(['pstn', 'sip']), value: z.string() }).nullable(),
  durationThresholdSeconds: z.int().min(0).nullable(),
  /** End of the bid's life; null where there is no bid. */
  expiresAt: instant.nullable(),
  rejectCode: z.int().nullable(),
  rejectReason: z.string().nullable(),
  sentence: z.string(),
})
export type Bid = Readonly<z.infer<typeof bid>>

/** What came back from a bidder: its response, or why there is none. */
export type BidderResponse =
  | { readonly ok: true; readonly status: number; readonly body: string }
  | { readonly ok: false; readonly failure: string; readonly sentence: string }

/** What a bidder's response means. */
export interface BidReading extends Pick<Bid, 'status' | 'httpStatus' | 'rawBidCents' | 'rejectCode'> {
  /** What was read of the answer; null where it could not be read. */
  readonly answer: BidAnswer | null
  /** Why there is no bid, to follow the bidder's name in a sentence; null where there is one. */
  readonly problem: string | null
}

const NO_CONTENT = 204
const UNREAD = { rawBidCents: null, rejectCode: null, answer: null } as const

/** Reads a bidder's response. */
export function readBid(rtb: Rtb, response: BidderResponse): BidReading {
  if (!response.ok) {
    return response.failure === 'timeout'
      ? { ...UNREAD, status: 'timeout', httpStatus: null, problem: 'did not answer in time' }
      : { ...UNREAD, status: 'error', httpStatus: null, problem: `gave no answer: ${response.sentence}` }
  }
  const { status: httpStatus, body } = response
  if (httpStatus === NO_CONTENT) return { ...UNREAD, status: 'no_bid', httpStatus, problem: 'did not bid' }
  if (httpStatus < 200 || httpStatus > 299)
    return { ...UNREAD, status: 'error', httpStatus, problem: `answered with status ${httpStatus}` }
  const reading = readBidAnswer(rtb, body)
  if (!reading.ok)
    return {
      ...UNREAD,
      status: 'error',
      httpStatus,
      problem: `gave an answer that cannot be read: ${reading.sentence}`,
    }
  const { answer, rawCents: rawBidCents, rejectCode } = reading
  const status = bidResultOf(answer)
  const declined = `declined${answer.rejectReason === null ? '' : `: ${answer.rejectReason}`}`
  const problem = status === 'bid' ? null : status === 'rejected' ? declined : 'did not bid'
  return { status, httpStatus, rawBidCents, rejectCode, answer, problem }
}

/** Shorter words of a header are no secrets. */
const SECRET_LENGTH = 8
const HIDDEN = '•••'

/** What a bidder's response means, without values of the target's own headers that its reason repeats: they are sealed elsewhere. */
export function withoutHeaders(reading: BidReading, bidHeaders: Rtb['bidHeaders']): BidReading {
  const { answer, problem } = reading
  if (answer === null || answer.rejectReason === null) return reading
  const secrets = Object.values(bidHeaders)
    .flatMap((value) => [value, ...value.split(/\s+/)])
    .filter((value) => value.length >= SECRET_LENGTH)
  const hide = (text: string) => secrets.reduce((left, secret) => left.replaceAll(secret, HIDDEN), text)
  return {
    ...reading,
    answer: { ...answer, rejectReason: hide(answer.rejectReason) },
    problem: problem && hide(problem),
  }
}

const TEN_DIGITS = /^\d{10}$/
const ELEVEN_DIGITS = /^1\d{10}$/

/** Where a bid sends the call: a number in E.164 or with 10 or 11 digits, or a SIP address; null for anything else. */
export function bidDestination(text: string): NonNullable<Bid['destination']> | null {
  const trimmed = text.slice(0, BID.destination).trim()
  const digits = trimmed.replace(/[\s().-]/g, '')
  const spelt = TEN_DIGITS.test(digits) ? `+1${digits}` : ELEVEN_DIGITS.test(digits) ? `+${digits}` : digits
  const number = e164.safeParse(spelt)
  if (number.success) return { mode: 'pstn', value: number.data }
  return sipUri.safeParse(trimmed).success ? { mode: 'sip', value: trimmed } : null
}

/** The destination of a bid, else the target's own (Supplement §5). */
function destinationOf(named: string | null, fallback: Rtb['destination']): Bid['destination'] {
  const own = named === null ? null : bidDestination(named)
  return own ?? (fallback && bidDestination(fallback.value))
}

const dollars = (amountCents: number) => `$${(amountCents / 100).toFixed(2)}`

/** A sentence about a bidder: `problem` may end with a sentence of the bidder's own. */
export const bidderSentence = (who: string, problem: string) => `${who} ${problem.replace(/[.!?]$/, '')}.`

/** The record of one request to a bidder, asked at an instant (ISO) and answered `latencyMs` later. */
export function bidOf(
  asked: Pick<Bid, 'bidId' | 'target' | 'buyer' | 'askedAt' | 'latencyMs'>,
  rtb: Pick<Rtb, 'destination'>,
  { status, httpStatus, rawBidCents, rejectCode, answer, problem }: BidReading,
): Bid {
  const answeredAt = addMs(asked.askedAt, asked.latencyMs)
  const offer = status === 'bid' ? answer : null
  const bidCents = offer?.amountCents ?? null
  const lifeSeconds = Math.min(offer?.expiresInSeconds ?? BID.lifeSeconds, BID.lifeSeconds)
  return {
    ...asked,
    answeredAt,
    status,
    httpStatus,
    rawBidCents,
    bidCents,
    destination: offer && destinationOf(offer.destination, rtb.destination),
    durationThresholdSeconds: offer?.durationSeconds ?? null,
    expiresAt: offer && addMs(answeredAt, lifeSeconds * 1_000),
    rejectCode: offer ? null : rejectCode,
    rejectReason: offer ? null : (answer?.rejectReason ?? null),
    sentence: bidderSentence(`Target ${asked.target.name}`, problem ?? `bid ${dollars(bidCents ?? 0)}`),
  }
}

const SKIPS: Readonly<Record<Exclude<BidResult, 'bid'>, SkipReason>> = {
  no_bid: 'no_bid',
  rejected: 'no_bid',
  timeout: 'timeout',
  error: 'error',
}

/** The skip reason of a target by what its bidder answered; null for a bid (Document 2, Skip reasons). */
export function bidSkipReason(status: BidResult): SkipReason | null {
  return status === 'bid' ? null : SKIPS[status]
}

/** Whether a request failed, so that it counts towards the suppression of its target (Supplement §7). */
export function isBidFailure({ status }: Pick<Bid, 'status'>): boolean {
  return status === 'timeout' || status === 'error'
}
