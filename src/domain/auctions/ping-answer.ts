import { z } from 'zod'
import { addMs } from '../../kernel/instant.ts'
import { id, instant } from '../../kernel/wire.ts'
import { payout } from '../money/money.ts'
import { pluralize } from '../shared/format.ts'
import type { AuctionHeld, Offer } from './auction.ts'
import { noBid } from './no-bid.ts'

/** What the answer to a ping is computed from. */
type AnsweredAuction = Omit<AuctionHeld, 'inputs'>

/** What a publisher is answered to a ping (Supplement §7). A repeated offer is `won` and `cached`. */
export const pingAnswerShape = z
  .discriminatedUnion('outcome', [
    z.object({
      auctionId: id,
      ref: z.string(),
      outcome: z.literal('won'),
      payoutCents: payout,
      durationThresholdSeconds: z.int(),
      expiresAt: instant,
      expiresInSeconds: z.int(),
      cached: z.boolean(),
    }),
    z.object({ auctionId: id, ref: z.string(), outcome: z.literal('no_bid'), reason: noBid }),
  ])
  .meta({ id: 'PingAnswer' })
export type PingAnswer = Readonly<z.infer<typeof pingAnswerShape>>

const remark = z.object({ code: z.int(), description: z.string() })
type Remark = Readonly<z.infer<typeof remark>>

/** What a publisher is answered to a single-step ping (Supplement §7). A payout of 0 is a win; `rejectCode` tells a rejection. */
export const compatAnswerShape = z
  .union([
    z.object({
      bidId: id,
      /** Dollars. */
      bidAmount: z.number(),
      expireInSeconds: z.int(),
      /** Seconds since the epoch. */
      expireEpoch: z.int(),
      phoneNumber: z.string(),
      phoneNumberNoPlus: z.string(),
      sipAddress: z.string().optional(),
      bidTerms: z.array(remark).readonly(),
      warnings: z.array(remark).readonly(),
    }),
    z.object({ bidId: id, bidAmount: z.literal(0), rejectReason: z.string(), rejectCode: z.int() }),
  ])
  .meta({ id: 'CompatAnswer' })
export type CompatAnswer = Readonly<z.infer<typeof compatAnswerShape>>

/** When a ping was decided. */
export function decidedAt({ ping, elapsedMs }: Pick<AuctionHeld, 'ping' | 'elapsedMs'>): string {
  return addMs(ping.occurredAt, elapsedMs)
}

/** Whole seconds of an offer's life that are left. */
function secondsLeft({ expiresAt }: Offer, now: string): number {
  return Math.max(0, Math.floor((Date.parse(expiresAt) - Date.parse(now)) / 1_000))
}

/** The answer to a ping, as it is sent at an instant. */
export function pingAnswer(held: AnsweredAuction, now: string = decidedAt(held)): PingAnswer {
  const { ping, ref, outcome, offer, reason } = held
  const { auctionId } = ping
  if (offer === null || reason !== null) return { auctionId, ref, outcome: 'no_bid', reason: reasonOf(held) }
  const { payoutCents, durationThresholdSeconds, expiresAt } = offer
  return {
    auctionId,
    ref,
    outcome: 'won',
    payoutCents,
    durationThresholdSeconds,
    expiresAt,
    expiresInSeconds: secondsLeft(offer, now),
    cached: outcome === 'cached',
  }
}

/** The reason of a ping without an offer. @throws Error for an event that has neither */
function reasonOf({ reason, ping }: AnsweredAuction) {
  if (reason === null) throw new Error(`The auction ${ping.auctionId} has neither an offer nor a reason.`)
  return reason
}

interface RemarkRule {
  readonly code: number
  readonly applies: (held: AnsweredAuction) => boolean
  readonly description: (offer: Offer) => string
}

/** Terms of an offer, in the order of their codes. */
const TERMS: readonly RemarkRule[] = [
  {
    code: 100,
    applies: () => true,
    description: ({ durationThresholdSeconds }) =>
      `The call must last at least ${pluralize(durationThresholdSeconds, 'second')}.`,
  },
  {
    code: 110,
    applies: ({ terms }) => terms?.payoutMode === 'revshare',
    description: () => 'The payout is a share of the revenue.',
  },
  {
    code: 120,
    applies: ({ ping }) => ping.caller.kind === 'known',
    description: () => "The caller's number must match that of the ping.",
  },
]

/** Warnings of an offer, in the order of their codes. */
const WARNINGS: readonly RemarkRule[] = [
  {
    code: 200,
    applies: ({ ping }) => ping.caller.kind !== 'known',
    description: () => "The ping has no caller's number.",
  },
  {
    code: 220,
    applies: ({ ping }) => ping.environment === 'test',
    description: () => 'The key is a test key: the offer reserves nothing.',
  },
  {
    code: 230,
    applies: ({ outcome }) => outcome === 'cached',
    description: () => 'The offer is that of an earlier ping of the same caller.',
  },
]

function remarksOf(rules: readonly RemarkRule[], held: AnsweredAuction, offer: Offer): readonly Remark[] {
  return rules.flatMap(({ code, applies, description }) =>
    applies(held) ? [{ code, description: description(offer) }] : [],
  )
}

/** The address of a number on the platform's SIP domain; null where the environment names no domain. */
export function sipAddressOf(e164: string, sipDomain: string | null): string | null {
  return sipDomain === null ? null : `sip:${e164.slice(1)}@${sipDomain}`
}

/**
 * The answer to a single-step ping, as it is sent at an instant (by default when it was decided). The address is named where
 * the publisher takes SIP and the environment has a domain.
 */
export function compatAnswer(
  held: AnsweredAuction,
  { sipDomain, now = decidedAt(held) }: { readonly sipDomain: string | null; readonly now?: string },
): CompatAnswer {
  const { ping, offer, reason } = held
  const { auctionId: bidId } = ping
  if (offer === null || offer.number === null || reason !== null) {
    const { code: rejectCode, sentence: rejectReason } = reasonOf(held)
    return { bidId, bidAmount: 0, rejectReason, rejectCode }
  }
  const { e164 } = offer.number
  const sipAddress = ping.sipOk ? sipAddressOf(e164, sipDomain) : null
  return {
    bidId,
    bidAmount: offer.payoutCents / 100,
    expireInSeconds: secondsLeft(offer, now),
    expireEpoch: Math.floor(Date.parse(offer.expiresAt) / 1_000),
    phoneNumber: e164,
    phoneNumberNoPlus: e164.slice(1),
    ...(sipAddress !== null && { sipAddress }),
    bidTerms: remarksOf(TERMS, held, offer),
    warnings: remarksOf(WARNINGS, held, offer),
  }
}
