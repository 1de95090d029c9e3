import { z } from 'zod'
import { toCents } from '../money/money.ts'
import { CENTS } from '../shared/limits.ts'
import { type Json, valueAt } from './bid-path.ts'
import type { Rtb } from './endpoint.ts'

/** How a bidder answered one ping (Document 2, outbound statuses that end an ask). */
export const bidResult = z.enum(['bid', 'no_bid', 'rejected', 'timeout', 'error'])
export type BidResult = z.infer<typeof bidResult>

/** What was read out of a bidder's answer. */
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

/** Where a bidder answers that says nothing else of itself: the shape that the platform's own bidders speak (Supplement §11). */
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

/** A sentence of a bidder's is shown, not stored, and no longer than this. */
const REASON_MAX = 300

/** The bid in cents: modifier first, then clamped up and down (Supplement §5). */
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
 * Reads a bidder's answer by the paths of its configuration; where a path is not set, by the platform's own shape. Null
 * when it is not JSON.
 */
export function readBidAnswer(rtb: Rtb, text: string): BidAnswer | null {
  const body = parseJson(text)
  if (body === undefined) return null
  const at = (name: keyof typeof DEFAULT_PATHS) => valueAt(rtb[name] ?? DEFAULT_PATHS[name], body)
  const number = (name: keyof typeof DEFAULT_PATHS) => priceValue.safeParse(at(name)).data ?? null
  const words = (name: keyof typeof DEFAULT_PATHS) => textValue.safeParse(at(name)).data ?? null
  const said = at('acceptPath')
  const silent = said === undefined && rtb.acceptPath === null
  const agreed =
    rtb.acceptValue === null ? ACCEPTED_VALUES.includes(said) : textValue.safeParse(said).data === rtb.acceptValue
  const raw = number('bidPath')
  return {
    accepted: silent || agreed,
    amountCents: raw === null || raw === 0 ? null : bidCents(raw, rtb),
    destination: words('destinationPath'),
    durationSeconds: floorOrNull(number('durationPath')),
    expiresInSeconds: floorOrNull(number('expiresPath')),
    rejectReason: words('rejectPath')?.slice(0, REASON_MAX) ?? null,
  }
}

const floorOrNull = (value: number | null) =>
  value === null ? null : Math.min(Math.floor(value), Number.MAX_SAFE_INTEGER)

/** What an answer amounts to. */
export function bidResultOf({ accepted, amountCents }: BidAnswer): BidResult {
  if (!accepted) return 'rejected'
  return amountCents === null ? 'no_bid' : 'bid'
}
