import type { HealthModel, Model } from './state.ts'

const SECOND = 1_000
/** Consecutive failures after which a target is down, and after which it is suppressed (Supplement §5, Health). */
const DOWN = 3
const SUPPRESSED = 5
const FIRST_SUPPRESSION = 60
const LONGEST_SUPPRESSION = 15 * 60
/** Seconds that a 503 suppresses a target for: its `Retry-After` up to an hour, or half a minute without one. */
const LONGEST_RETRY_AFTER = 3_600
const DEFAULT_RETRY_AFTER = 30

/** The codes of a failed dial. */
export interface FailureCode {
  readonly sipCode: number | null
  readonly retryAfterSeconds: number | null
}

function suppressionSeconds(failures: number, { sipCode, retryAfterSeconds }: FailureCode): number {
  let seconds = sipCode === 503 ? Math.min(retryAfterSeconds ?? DEFAULT_RETRY_AFTER, LONGEST_RETRY_AFTER) : 0
  if (failures >= SUPPRESSED)
    seconds = Math.max(seconds, Math.min(FIRST_SUPPRESSION * 2 ** (failures - SUPPRESSED), LONGEST_SUPPRESSION))
  return seconds
}

/** Suppressions that touch are joined; of two separate ones the later is kept. */
function extendedSuppression(
  known: HealthModel['suppression'],
  from: number,
  until: number,
): HealthModel['suppression'] {
  if (known === null || known.until < from) return { from, until }
  if (until < known.from) return known
  return { from: Math.min(known.from, from), until: Math.max(known.until, until) }
}

/** A dial to a target failed at an instant. */
export function addFailure(model: Model, target: string, code: FailureCode, at: number): void {
  const health = model.health.get(target) ?? { failures: 0, suppression: null }
  health.failures += 1
  const seconds = suppressionSeconds(health.failures, code)
  if (seconds > 0) health.suppression = extendedSuppression(health.suppression, at, at + seconds * SECOND)
  model.health.set(target, health)
  if (health.failures === DOWN) model.notices.push(`${target} is down`)
}

/** A call connected: the target is healthy again. */
export function resetHealth(model: Model, target: string): void {
  model.health.set(target, { failures: 0, suppression: null })
}

/** Whether a target is suppressed at an instant. */
export function isSuppressed({ health }: Model, target: string, at: number): boolean {
  const off = health.get(target)?.suppression
  return off ? off.from <= at && at < off.until : false
}

/** The word for a target's health. */
export function healthWord(health: HealthModel | undefined): string {
  if (!health) return 'unknown'
  if (health.failures === 0) return 'healthy'
  return health.failures < DOWN ? 'degraded' : 'down'
}
