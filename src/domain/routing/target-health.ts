import { z } from 'zod'
import { id, instant } from '../../kernel/wire.ts'
import { type DialOutcome, dialOutcome } from '../shared/call-codes.ts'
import { named } from '../shared/fields.ts'
import { SUPPRESSION_SECONDS, TARGET_FAILURES } from '../shared/limits.ts'

/** How a target's dials go; `unknown` until the first has been answered or has failed (Supplement §5, Health). */
export const healthStatus = z.enum(['unknown', 'healthy', 'degraded', 'down'])

/** A target's health after its latest dial, and the time for which its failures switch it off. */
export const targetHealth = z.object({
  health: healthStatus.exclude(['unknown']),
  /** How the latest failure ended, with the SIP code where there was one; it stays when a call connects. */
  lastError: z.string().nullable(),
  consecutiveFailures: z.int().min(0),
  suppressedFrom: instant.nullable(),
  suppressedUntil: instant.nullable(),
})
export type TargetHealth = Readonly<z.infer<typeof targetHealth>>

/** How a dial failed, as the carrier told it. */
export const dialFailure = z.object({
  outcome: dialOutcome,
  sipCode: z.int().nullable(),
  retryAfterSeconds: z.int().nullable(),
  occurredAt: instant,
})
export type DialFailure = Readonly<z.infer<typeof dialFailure>>

/** A target's third failure in a row (Document 2, `target.down`); what the call is else stands in its own stream. */
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

/** Whether a dial's end says anything of the target: a caller who gives up does not. */
export function isTargetFailure(outcome: DialOutcome): outcome is Exclude<DialOutcome, 'abandoned'> {
  return outcome !== 'abandoned'
}

const errorOf = ({ outcome, sipCode }: Pick<DialFailure, 'outcome' | 'sipCode'>) =>
  sipCode === null ? outcome : `${outcome} (SIP ${sipCode})`

/** Seconds for which a failure switches its target off: for its place in the row, or because the equipment asks for it. */
function suppressionSeconds(failures: number, { sipCode, retryAfterSeconds }: DialFailure): number {
  const { first, max, unavailable, retryAfterMax } = SUPPRESSION_SECONDS
  const further = failures - TARGET_FAILURES.suppressed
  const tripped = further < 0 ? 0 : Math.min(max, first * 2 ** further)
  const asked = sipCode === SERVICE_UNAVAILABLE ? (retryAfterSeconds ?? unavailable) : 0
  return Math.max(tripped, Math.min(retryAfterMax, asked))
}

type Suppression = Pick<TargetHealth, 'suppressedFrom' | 'suppressedUntil'>
const NOT_SUPPRESSED: Suppression = { suppressedFrom: null, suppressedUntil: null }

/** A suppression with one more: never shorter than it was, and one stretch where the two touch. */
function extendSuppression(
  { suppressedFrom, suppressedUntil }: Suppression,
  from: string,
  seconds: number,
): Suppression {
  const until = new Date(Date.parse(from) + seconds * 1_000).toISOString()
  if (seconds === 0 || (suppressedFrom !== null && until < suppressedFrom)) return { suppressedFrom, suppressedUntil }
  const apart = suppressedFrom === null || suppressedUntil === null || suppressedUntil < from
  return {
    suppressedFrom: apart || from < suppressedFrom ? from : suppressedFrom,
    suppressedUntil: apart || until > suppressedUntil ? until : suppressedUntil,
  }
}

/** A target's health after one more failed dial; null stands for a target that has not been heard of. */
export function healthAfterFailure(before: TargetHealth | null, failure: DialFailure): TargetHealth {
  const consecutiveFailures = (before?.consecutiveFailures ?? 0) + 1
  return {
    health: consecutiveFailures < TARGET_FAILURES.down ? 'degraded' : 'down',
    lastError: errorOf(failure),
    consecutiveFailures,
    ...extendSuppression(
      before ?? NOT_SUPPRESSED,
      failure.occurredAt,
      suppressionSeconds(consecutiveFailures, failure),
    ),
  }
}

/** A target's health after a call has connected: whatever was, is over. */
export function healthAfterConnection(before: TargetHealth | null): TargetHealth {
  return { health: 'healthy', lastError: before?.lastError ?? null, consecutiveFailures: 0, ...NOT_SUPPRESSED }
}

/** Until when a target is switched off at an instant; null when it is not. A call dated before the failures is not held back by them. */
export function suppressionEndAt(health: TargetHealth | null, at: string): string | null {
  const { suppressedFrom, suppressedUntil } = health ?? NOT_SUPPRESSED
  if (suppressedFrom === null || suppressedUntil === null) return null
  return suppressedFrom <= at && at < suppressedUntil ? suppressedUntil : null
}

/** Why a target counts as down, in words. */
export function downSentence(target: string, { consecutiveFailures, lastError }: TargetHealth): string {
  return `Target ${target} failed ${consecutiveFailures} dials in a row; the last one was ${lastError}.`
}
