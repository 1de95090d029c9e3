import { z } from 'zod'
import { id, instant } from '../../kernel/wire.ts'
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

/** Seconds for which a failure suppresses its target: by the number of failures in a row, or as the equipment asks (503). */
function suppressionSeconds(failures: number, { sipCode, retryAfterSeconds }: DialFailure): number {
  const { first, max, unavailable, retryAfterMax } = SUPPRESSION_SECONDS
  const further = failures - TARGET_FAILURES.suppressed
  const tripped = further < 0 ? 0 : Math.min(max, first * 2 ** further)
  const requested = sipCode === SERVICE_UNAVAILABLE ? (retryAfterSeconds ?? unavailable) : 0
  return Math.max(tripped, Math.min(retryAfterMax, requested))
}

type Suppression = Pick<TargetHealth, 'suppressedFrom' | 'suppressedUntil'>
const NOT_SUPPRESSED: Suppression = { suppressedFrom: null, suppressedUntil: null }

/** Extends a suppression by another one: never shorter than before; two that touch become one. */
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

/** A target's health after one more failed dial; `before` is null for a target without health. */
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
