import { z } from 'zod'
import { addMs } from '../../kernel/instant.ts'
import { id, instant } from '../../kernel/wire.ts'
import { type Bid, isBidFailure } from '../bidding/bid.ts'
import { type DialOutcome, dialOutcome } from '../shared/call-codes.ts'
import { named } from '../shared/fields.ts'
import { SUPPRESSION_SECONDS, TARGET_FAILURES } from '../shared/limits.ts'

/** Health of a target; `unknown` until its first dial was answered or failed (Supplement §5, Health). */
export const healthStatus = z.enum(['unknown', 'healthy', 'degraded', 'down'])

/** A target's health after its latest dial, and the time for which its failures suppress it. */
export const targetHealth = z.object({
  health: healthStatus.exclude(['unknown']),
  /** Outcome of the latest failure, with its SIP code where there was one; it stays when a call connects. */
  lastError: z.string().nullable(),
  consecutiveFailures: z.int().min(0),
  /** Set while the latest failure was a request to its bidder, not a dial. */
  isRequest: z.literal(true).optional(),
  suppressedFrom: instant.nullable(),
  suppressedUntil: instant.nullable(),
})
export type TargetHealth = Readonly<z.infer<typeof targetHealth>>

/** A failed dial, as the carrier reported it. */
export const dialFailure = z.object({
  outcome: dialOutcome,
  sipCode: z.int().nullable(),
  retryAfterSeconds: z.int().nullable(),
  occurredAt: instant,
})
export type DialFailure = Readonly<z.infer<typeof dialFailure>>

/** A target's third failure in a row (Document 2, `target.down`). The rest of the call is in its own stream. */
export const targetWentDown = z.object({
  callId: id,
  occurredAt: instant,
  attempt: z.int().min(1),
  target: named,
  externalRef: z.string().nullable(),
  buyer: named,
  outcome: dialOutcome.exclude(['abandoned']),
  sipCode: z.int().nullable(),
  consecutiveFailures: z.int().min(1),
  sentence: z.string(),
})

const SERVICE_UNAVAILABLE = 503

/** Whether an outcome is a failure of the target: a caller who gives up is not. */
export function isTargetFailure(outcome: DialOutcome): outcome is Exclude<DialOutcome, 'abandoned'> {
  return outcome !== 'abandoned'
}

const errorOf = ({ outcome, sipCode }: Pick<DialFailure, 'outcome' | 'sipCode'>) =>
  sipCode === null ? outcome : `${outcome} (SIP ${sipCode})`

/** Seconds for which failures in a row suppress their target. */
function trippedSeconds(failures: number): number {
  const further = failures - TARGET_FAILURES.suppressed
  return further < 0 ? 0 : Math.min(SUPPRESSION_SECONDS.max, SUPPRESSION_SECONDS.first * 2 ** further)
}

/** Seconds for which a target's equipment asks to be left alone (503). */
function requestedSeconds({ sipCode, retryAfterSeconds }: DialFailure): number {
  const { unavailable, retryAfterMax } = SUPPRESSION_SECONDS
  return sipCode === SERVICE_UNAVAILABLE ? Math.min(retryAfterMax, retryAfterSeconds ?? unavailable) : 0
}

type Suppression = Pick<TargetHealth, 'suppressedFrom' | 'suppressedUntil'>
const NOT_SUPPRESSED: Suppression = { suppressedFrom: null, suppressedUntil: null }

/** Extends a suppression by another one: never shorter than before; two that touch become one. */
function extendSuppression(
  { suppressedFrom, suppressedUntil }: Suppression,
  from: string,
  seconds: number,
): Suppression {
  const until = addMs(from, seconds * 1_000)
  if (seconds === 0 || (suppressedFrom !== null && until < suppressedFrom)) return { suppressedFrom, suppressedUntil }
  const apart = suppressedFrom === null || suppressedUntil === null || suppressedUntil < from
  return {
    suppressedFrom: apart || from < suppressedFrom ? from : suppressedFrom,
    suppressedUntil: apart || until > suppressedUntil ? until : suppressedUntil,
  }
}

function afterOneMore(
  before: TargetHealth | null,
  lastError: string,
  { occurredAt, seconds = 0 }: { readonly occurredAt: string; readonly seconds?: number },
): TargetHealth {
  const consecutiveFailures = (before?.consecutiveFailures ?? 0) + 1
  const suppressed = Math.max(trippedSeconds(consecutiveFailures), seconds)
  return {
    health: consecutiveFailures < TARGET_FAILURES.down ? 'degraded' : 'down',
    lastError,
    consecutiveFailures,
    ...extendSuppression(before ?? NOT_SUPPRESSED, occurredAt, suppressed),
  }
}

/** A target's health after one more failed dial; `before` is null for a target without health. */
export function healthAfterFailure(before: TargetHealth | null, failure: DialFailure): TargetHealth {
  const { occurredAt } = failure
  return afterOneMore(before, errorOf(failure), { occurredAt, seconds: requestedSeconds(failure) })
}

/**
 * A target's health after a request to its bidder. A failed one counts as a failed dial does; one that was answered, with a bid or
 * without, ends a row of failed requests, and of those alone. A bidder that was not asked changes nothing.
 */
export function healthAfterBid(
  before: TargetHealth | null,
  { status, httpStatus, answeredAt }: Bid,
): TargetHealth | null {
  if (!isBidFailure({ status }))
    return before?.isRequest && httpStatus !== null ? healthAfterConnection(before) : before
  const lastError = httpStatus === null ? `bid ${status}` : `bid ${status} (HTTP ${httpStatus})`
  return { ...afterOneMore(before, lastError, { occurredAt: answeredAt }), isRequest: true }
}

/** A target's health after a call connected: healthy, without failures or suppression. */
export function healthAfterConnection(before: TargetHealth | null): TargetHealth {
  return { health: 'healthy', lastError: before?.lastError ?? null, consecutiveFailures: 0, ...NOT_SUPPRESSED }
}

/** End of the suppression of a target at an instant; null when it is not suppressed then. A call dated before the failures is not affected. */
export function suppressionEndAt(health: TargetHealth | null, at: string): string | null {
  const { suppressedFrom, suppressedUntil } = health ?? NOT_SUPPRESSED
  if (suppressedFrom === null || suppressedUntil === null) return null
  return suppressedFrom <= at && at < suppressedUntil ? suppressedUntil : null
}

/** The sentence of `target.down`. */
export function downSentence(target: string, { consecutiveFailures, lastError }: TargetHealth): string {
  return `Target ${target} failed ${consecutiveFailures} dials in a row; the last one was ${lastError}.`
}
