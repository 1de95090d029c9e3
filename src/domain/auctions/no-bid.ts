import { z } from 'zod'

/** What came of a publisher's ping (Document 2, Inbound ping). */
export const pingOutcome = z
  .enum(['won', 'no_bid', 'cached', 'rate_limited', 'blocked', 'error'])
  .meta({ id: 'PingOutcome' })
export type PingOutcome = z.infer<typeof pingOutcome>

interface NoBidRow {
  readonly code: number
  /** The outcome of the ping in the ledger. */
  readonly outcome: Exclude<PingOutcome, 'won' | 'cached'>
  /** What the publisher is told: nothing of buyers, targets or figures. */
  readonly sentence: string
}

/** Why a ping gets no offer, by reason word (Supplement §7). Codes and words never change. */
export const NO_BIDS = {
  campaign_not_live: { code: 1001, outcome: 'no_bid', sentence: 'The campaign is not accepting calls.' },
  publisher_not_live: { code: 1002, outcome: 'no_bid', sentence: 'The publisher is not live.' },
  lane_inactive: { code: 1003, outcome: 'no_bid', sentence: "The publisher's lane on the campaign is switched off." },
  caller_blocked: { code: 1004, outcome: 'blocked', sentence: 'The caller is blocked.' },
  caller_id_required: { code: 1005, outcome: 'no_bid', sentence: "The caller's number is required." },
  closed: { code: 1006, outcome: 'no_bid', sentence: 'The campaign takes no calls at this hour.' },
  capped: { code: 1007, outcome: 'no_bid', sentence: 'A cap is full.' },
  state_not_targeted: { code: 1008, outcome: 'no_bid', sentence: "Callers of the caller's state are not taken." },
  duplicate: { code: 1009, outcome: 'no_bid', sentence: 'The caller was sent before, within the duplicate window.' },
  no_targets: { code: 1010, outcome: 'no_bid', sentence: 'No buyer is available.' },
  no_bids: { code: 1011, outcome: 'no_bid', sentence: 'No buyer gave a price.' },
  below_floor: { code: 1012, outcome: 'no_bid', sentence: 'The best offer is below the floor of the ping.' },
  no_number: { code: 1013, outcome: 'no_bid', sentence: 'No number is free.' },
  workspace_inactive: { code: 1014, outcome: 'no_bid', sentence: 'The campaign is not accepting calls.' },
  rate_limited: { code: 1024, outcome: 'rate_limited', sentence: 'The key has used up its rate.' },
  caller_id_invalid: { code: 1100, outcome: 'no_bid', sentence: "The caller's number is not a phone number." },
  internal: { code: 1500, outcome: 'error', sentence: 'The auction failed.' },
} as const satisfies Readonly<Record<string, NoBidRow>>

/** Reason words of no-bids. */
export type NoBidReason = keyof typeof NO_BIDS

const reasons = Object.keys(NO_BIDS) as readonly NoBidReason[]

/** Why a ping got no offer, as the publisher reads it. */
export const noBid = z
  .object({ code: z.int(), reason: z.enum(reasons as [NoBidReason, ...NoBidReason[]]), sentence: z.string() })
  .meta({ id: 'NoBid' })

export type NoBid = Readonly<z.infer<typeof noBid>>

/** The no-bid of a reason word. */
export function noBidOf(reason: NoBidReason): NoBid {
  const { code, sentence } = NO_BIDS[reason]
  return { code, reason, sentence }
}
