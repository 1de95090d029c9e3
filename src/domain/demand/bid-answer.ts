import { z } from 'zod'
import { toCents } from '../money/money.ts'
import { CENTS, REJECT_CODE } from '../shared/limits.ts'
import { type Json, pathProblem, valueAtPath } from './bid-path.ts'
import type { Rtb } from './endpoint.ts'

/** The result of one ping to a bidder (Document 2, final outbound statuses). */
export const bidResult = z.enum(['bid', 'no_bid', 'rejected', 'timeout', 'error'])
export type BidResult = z.infer<typeof bidResult>

/** The values read from a bidder's answer. */
export const bidAnswer = z.object({
  accepted: z.boolean(),
  /** After unit, modifier, floor and ceiling; null where no price could be read. */
  amountCents: z.int().nullable(),
  destination: z.string().nullable(),
  durationSeconds: z.int().nullable(),
  expiresInSeconds: z.int().nullable(),
  rejectReason: z.string().nullable(),
})
export type BidAnswer = Readonly<z.infer<typeof bidAnswer>>

/** Paths used where a target sets none: the answer format of the platform's own bidders (Supplement §11). */
const DEFAULT_PATHS = {
  acceptPath: '$.accept',
  bidPath: '$.bid.amountCents',
  destinationPath: '$.destination',
  durationPath: '$.durationSeconds',
  expiresPath: '$.expiresInSeconds',
  rejectPath: '$.reason',
} as const

/** The settings that are paths into a bidder's answer. */
export const BID_PATHS = [
  'bidPath',
  'acceptPath',
  'destinationPath',
  'durationPath',
  'expiresPath',
  'rejectPath',
] as const satisfies readonly (keyof typeof DEFAULT_PATHS)[]

/** Cached results of `storedPathProblem`, which an auction calls twice for each bidder. */
const pathProblems = new WeakMap<object, string | null>()

/**
 * Why a target's answers are not read, as a sentence: a path that was stored under earlier rules and is refused now; null when
 * all its paths are valid. A bidder whose answer would not be read is not asked.
 */
export function storedPathProblem(rtb: Pick<Rtb, (typeof BID_PATHS)[number]>): string | null {
  const known = pathProblems.get(rtb)
  if (known !== undefined) return known
  const problem = findPathProblem(rtb)
  pathProblems.set(rtb, problem)
  return problem
}

function findPathProblem(rtb: Pick<Rtb, (typeof BID_PATHS)[number]>): string | null {
  for (const name of BID_PATHS) {
    const problem = rtb[name] === null ? null : pathProblem(rtb[name])
    if (problem !== null) return `The target's rtb.${name} is no longer accepted. ${problem}`
  }
  return null
}

const DECIMAL = /^\d+(\.\d+)?$/

/** A number, or a text of decimal digits, as a number of at least 0; null for anything else. */
function numberIn(value: unknown): number | null {
  const text = typeof value === 'string' ? value.trim() : null
  const number = text !== null && DECIMAL.test(text) ? Number(text) : value
  return typeof number === 'number' && Number.isFinite(number) && number >= 0 ? number : null
}

/** A text or a number, as a text; null for anything else. */
function textIn(value: unknown): string | null {
  if (typeof value === 'number' && Number.isFinite(value)) return String(value)
  return typeof value === 'string' ? value : null
}

/** A reject reason that is a number, as the ping ledger's filter takes it. */
const isRejectCode = (value: unknown): value is number =>
  typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= REJECT_CODE.max
const ACCEPTED_VALUES: readonly unknown[] = [true, 1, 'true', 'yes', '1']

/** A bidder's reject reason is shown up to this length, and not stored. */
const REASON_MAX = 300

/** A bidder's price in cents, before it is rounded. */
const inCents = (raw: number, { bidUnit }: Pick<Rtb, 'bidUnit'>) => raw * (bidUnit === 'dollars' ? 100 : 1)

/** The bid in cents: modified first, then clamped to floor and ceiling (Supplement §5). */
function bidCents(raw: number, rtb: Rtb): number {
  const { modifierPct, minBidCents, maxBidCents } = rtb
  const modified = toCents(inCents(raw, rtb) * (1 + modifierPct / 100))
  return Math.min(Math.max(modified, minBidCents ?? 0), maxBidCents ?? CENTS.price, CENTS.price)
}

function parseJson(text: string): Json | undefined {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** A bidder's answer as read, or a sentence that says why it is not. */
export type BidParseResult =
  | {
      readonly ok: true
      readonly answer: BidAnswer
      /** The price as the bidder gave it, in cents; null where there is none. */
      readonly rawCents: number | null
      /** The reject reason where it is a number. */
      readonly rejectCode: number | null
    }
  | { readonly ok: false; readonly sentence: string }

/** Reads a bidder's answer by the target's paths, with `DEFAULT_PATHS` where one is not set. */
export function readBidAnswer(rtb: Rtb, text: string): BidParseResult {
  const refused = storedPathProblem(rtb)
  if (refused !== null) return { ok: false, sentence: refused }
  const body = parseJson(text)
  return body === undefined
    ? { ok: false, sentence: "The bidder's answer is not JSON." }
    : { ok: true, ...answerIn(rtb, body) }
}

function answerIn(rtb: Rtb, body: Json): Omit<Extract<BidParseResult, { readonly ok: true }>, 'ok'> {
  const at = (name: keyof typeof DEFAULT_PATHS) => valueAtPath(rtb[name] ?? DEFAULT_PATHS[name], body)
  const accept = at('acceptPath')
  const reject = at('rejectPath')
  const isSilent = accept === undefined && rtb.acceptPath === null
  const isAccepted = rtb.acceptValue === null ? ACCEPTED_VALUES.includes(accept) : textIn(accept) === rtb.acceptValue
  const raw = numberIn(at('bidPath'))
  return {
    answer: {
      accepted: isSilent || isAccepted,
      amountCents: raw === null || raw === 0 ? null : bidCents(raw, rtb),
      destination: textIn(at('destinationPath')),
      durationSeconds: floorOrNull(numberIn(at('durationPath'))),
      expiresInSeconds: floorOrNull(numberIn(at('expiresPath'))),
      rejectReason: textIn(reject)?.slice(0, REASON_MAX).toWellFormed() ?? null,
    },
    rawCents: raw === null ? null : Math.min(toCents(inCents(raw, rtb)), Number.MAX_SAFE_INTEGER),
    rejectCode: isRejectCode(reject) ? reject : null,
  }
}

const floorOrNull = (value: number | null) =>
  value === null ? null : Math.min(Math.floor(value), Number.MAX_SAFE_INTEGER)

/** The result that an answer means. */
export function bidResultOf({ accepted, amountCents }: BidAnswer): BidResult {
  if (!accepted) return 'rejected'
  return amountCents === null ? 'no_bid' : 'bid'
}
