import { z } from 'zod'
import { addMs } from '../../kernel/instant.ts'
import { id, instant } from '../../kernel/wire.ts'
import { formatDollars } from '../shared/format.ts'
import { createTextMask, shownNumber } from './mask-caller.ts'
import type { NoBidReason } from './no-bid.ts'
import { knownNumber } from './ping.ts'
import { decidedAt } from './ping-answer.ts'
import { expiredAt, type PingHistory, type ShownAuction } from './ping-history.ts'

/** One step of a ping, from its arrival to the end of its offer. */
export const traceEntry = z
  .object({
    step: z.enum([
      'received',
      'gates',
      'cached',
      'bid',
      'skipped',
      'won',
      'refused',
      'answered',
      'confirm',
      'posted',
      'post_refused',
      'claimed',
      'expired',
      'void',
    ]),
    at: instant,
    /** Since the ping arrived. */
    ms: z.int(),
    targetId: id.nullable(),
    /** The status of a bid, the reason of a skip or of a refusal, or the HTTP status of an answer. */
    code: z.string().nullable(),
    sentence: z.string(),
  })
  .meta({ id: 'PingTraceEntry' })
export type TraceEntry = Readonly<z.infer<typeof traceEntry>>

/** A step without its distance from the arrival. */
type Step = Omit<TraceEntry, 'ms' | 'targetId' | 'code'> & Partial<Pick<TraceEntry, 'targetId' | 'code'>>

/** Reasons that are found behind the publisher's rules: at the auction itself. */
const AUCTION_REASONS: ReadonlySet<NoBidReason> = new Set<NoBidReason>([
  'no_targets',
  'no_bids',
  'below_floor',
  'no_number',
])

function receivedStep(at: string, { campaign, publisher }: Pick<ShownAuction['ping'], 'campaign' | 'publisher'>): Step {
  return { step: 'received', at, sentence: `Publisher ${publisher.name} sent a ping for campaign ${campaign.name}.` }
}

/** The rules on the ping, where it passed them. */
function gatesSteps({ ping, reason }: ShownAuction): readonly Step[] {
  if (reason !== null && !AUCTION_REASONS.has(reason.reason)) return []
  const sentence = 'The ping passed the rules of its campaign and lane.'
  return [{ step: 'gates', at: ping.occurredAt, sentence }]
}

/** Each bidder that was asked, then each target that was passed over without being asked. */
function targetSteps(held: ShownAuction, at: string): readonly Step[] {
  const { bids = [], skipped } = held
  const asked = new Set(bids.map(({ target }) => target.id))
  return [
    ...bids.map(
      ({ target, askedAt, status, sentence }): Step => ({
        step: 'bid',
        at: askedAt,
        targetId: target.id,
        code: status,
        sentence,
      }),
    ),
    ...skipped
      .filter(({ targetId }) => !asked.has(targetId))
      .map(({ targetId, reason, sentence }): Step => ({ step: 'skipped', at, targetId, code: reason, sentence })),
  ]
}

function resultSteps({ outcome, offer, reason }: ShownAuction, at: string): readonly Step[] {
  if (reason) return [{ step: 'refused', at, code: reason.reason, sentence: reason.sentence }]
  if (offer === null) return []
  const { target, clearingPriceCents, payoutCents } = offer
  const figures = `at ${formatDollars(clearingPriceCents)}; the publisher is offered ${formatDollars(payoutCents)}.`
  return outcome === 'cached'
    ? [
        {
          step: 'cached',
          at,
          targetId: target.id,
          sentence: `The offer of an earlier ping is repeated: target ${target.name} ${figures}`,
        },
      ]
    : [{ step: 'won', at, targetId: target.id, sentence: `Target ${target.name} won ${figures}` }]
}

const answeredStep = (at: string, status: number): Step => ({
  step: 'answered',
  at,
  code: String(status),
  sentence: `The ping was answered with status ${status}.`,
})

function confirmSteps({ confirmed }: PingHistory): readonly Step[] {
  if (confirmed === null) return []
  return confirmed.tries.map(({ at, status, sentence }) => ({
    step: 'confirm',
    at,
    targetId: confirmed.target.id,
    code: status === null ? null : String(status),
    sentence,
  }))
}

function postSteps({ held, posted, refusedPosts }: PingHistory): readonly Step[] {
  const isDisclosed = held?.isDisclosed ?? false
  const from = (caller: string) => shownNumber({ caller, isDisclosed })
  return [
    ...refusedPosts.map(
      ({ occurredAt: at, caller, reason }): Step => ({
        step: 'post_refused',
        at,
        code: reason.reason,
        sentence: `The post of ${from(caller)} was refused: ${reason.sentence}`,
      }),
    ),
    ...(posted === null
      ? []
      : [
          {
            step: 'posted' as const,
            at: posted.occurredAt,
            sentence: `The call of ${from(posted.caller)} was posted: it may come to ${posted.number.e164}.`,
          },
        ]),
  ]
}

function endSteps(history: PingHistory, now: string): readonly Step[] {
  const { claimed, voided } = history
  const expired = expiredAt(history, now)
  return [
    ...(claimed === null
      ? []
      : [{ step: 'claimed' as const, at: claimed.occurredAt, sentence: `Call ${claimed.callRef} claimed the offer.` }]),
    ...(expired === null
      ? []
      : [{ step: 'expired' as const, at: expired, sentence: 'The offer expired without a call.' }]),
    ...(voided === null
      ? []
      : [
          {
            step: 'void' as const,
            at: voided.occurredAt,
            targetId: voided.target.id,
            sentence: `The bid of target ${voided.target.name} was voided${voided.note ? `: ${voided.note}` : '.'}`,
          },
        ]),
  ]
}

const ANSWERED = 200

/** The steps of a ping as it stands at an instant, in their order, with its caller masked unless the campaign discloses it. */
export function traceOf(history: PingHistory, now: string): readonly TraceEntry[] {
  const { held, refused } = history
  const begin = held?.ping.occurredAt ?? refused?.occurredAt ?? now
  const after = (at: string) => Date.parse(at) - Date.parse(begin)
  const mask = createTextMask({
    caller: held && knownNumber(held.ping.caller),
    isDisclosed: held?.isDisclosed ?? false,
  })
  return stepsOf(history, begin, now)
    .toSorted((one, other) => after(one.at) - after(other.at))
    .map(({ step, at, targetId = null, code = null, sentence }) => ({
      step,
      at,
      ms: after(at),
      targetId,
      code,
      sentence: mask(sentence),
    }))
}

function stepsOf(history: PingHistory, begin: string, now: string): readonly Step[] {
  const { held, refused } = history
  if (held === null) {
    if (refused === null) return []
    const { elapsedMs, reason, statusCode } = refused
    const at = addMs(begin, elapsedMs)
    return [
      receivedStep(begin, refused),
      { step: 'refused', at, code: reason.reason, sentence: reason.sentence },
      answeredStep(at, statusCode),
    ]
  }
  const at = decidedAt(held)
  return [
    receivedStep(begin, held.ping),
    ...gatesSteps(held),
    ...targetSteps(held, at),
    ...resultSteps(held, at),
    answeredStep(at, ANSWERED),
    ...confirmSteps(history),
    ...postSteps(history),
    ...endSteps(history, now),
  ]
}
