import { z } from 'zod'
import { toCents } from '../money/money.ts'
import { CENTS } from '../shared/limits.ts'
import { firstMatch, type Json } from './bid-path.ts'
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

const priceValue = z
  .union([
    z.number(),
    z
      .string()
      .trim()
      .regex(/^\d+(\.\d+)?$/)
      .transform(Number),
  ])
  .pipe(z.number().min(0))
const textValue = z.union([z.string(), z.number().transform(String)])
const ACCEPTED_VALUES: readonly unknown[] = [true, 1, 'true', 'yes', '1']

/** A bidder's reject reason is shown up to this length, and not stored. */
const REASON_MAX = 300

/** The bid in cents: modified first, then clamped to floor and ceiling (Supplement §5). */
function bidCents(raw: number, { bidUnit, modifierPct, minBidCents, maxBidCents }: Rtb): number {
  const modified = toCents(raw * (bidUnit === 'dollars' ? 100 : 1) * (1 + modifierPct / 100))
  return Math.min(Math.max(modified, minBidCents ?? 0), maxBidCents ?? CENTS.price, CENTS.price)
}

function parseJson(text: string): Json | undefined {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/**
 * Reads a bidder's answer by the target's paths, with `DEFAULT_PATHS` where one is not set. Null when the answer is not
 * JSON.
 */
export function readBidAnswer(rtb: Rtb, answer: string): BidAnswer | null {
  const body = parseJson(answer)
  if (body === undefined) return null
  const at = (name: keyof typeof DEFAULT_PATHS) => firstMatch(rtb[name] ?? DEFAULT_PATHS[name], body)
  const number = (name: keyof typeof DEFAULT_PATHS) => priceValue.safeParse(at(name)).data ?? null
  const text = (name: keyof typeof DEFAULT_PATHS) => textValue.safeParse(at(name)).data ?? null
  const accept = at('acceptPath')
  const isSilent = accept === undefined && rtb.acceptPath === null
  const isAccepted =
    rtb.acceptValue === null ? ACCEPTED_VALUES.includes(accept) : textValue.safeParse(accept).data === rtb.acceptValue
  const raw = number('bidPath')
  return {
    accepted: isSilent || isAccepted,
    amountCents: raw === null || raw === 0 ? null : bidCents(raw, rtb),
    destination: text('destinationPath'),
    durationSeconds: floorOrNull(number('durationPath')),
    expiresInSeconds: floorOrNull(number('expiresPath')),
    rejectReason: text('rejectPath')?.slice(0, REASON_MAX) ?? null,
  }
}

const floorOrNull = (value: number | null) =>
  value === null ? null : Math.min(Math.floor(value), Number.MAX_SAFE_INTEGER)

/** The result that an answer means. */
export function bidResultOf({ accepted, amountCents }: BidAnswer): BidResult {
  if (!accepted) return 'rejected'
  return amountCents === null ? 'no_bid' : 'bid'
}
