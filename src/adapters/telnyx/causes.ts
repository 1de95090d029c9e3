import type { CarrierDialOutcome } from '../../ports/carrier.ts'

/**
 * How a dial ended, by Telnyx's hangup cause. `timeout`: our ring time passed. `originator_cancel`: our side hung up,
 * which happens only when the caller is gone.
 */
const BY_CAUSE: ReadonlyMap<string, CarrierDialOutcome> = new Map([
  ['user_busy', 'busy'],
  ['call_rejected', 'rejected'],
  ['no_answer', 'no_answer'],
  ['timeout', 'no_answer'],
  ['originator_cancel', 'abandoned'],
  ['not_found', 'failed'],
])

/** How a dial ended by its SIP code, for causes that say nothing. */
const BY_SIP_CODE: Readonly<Record<number, CarrierDialOutcome>> = {
  408: 'no_answer',
  480: 'no_answer',
  486: 'busy',
  487: 'no_answer',
  600: 'busy',
  603: 'rejected',
  607: 'rejected',
  608: 'rejected',
}

/** SIP codes that report a failure. */
const FAILURE = { from: 300, to: 699 } as const

/** How an unanswered dial ended, by the end of its leg. */
export function dialOutcomeOf({
  cause,
  sipCode,
}: {
  readonly cause: string
  readonly sipCode: number | null
}): CarrierDialOutcome {
  // A gateway failure (5xx) counts as failed, whatever the cause says.
  if (sipCode !== null && sipCode >= 500 && sipCode < 600) return 'failed'
  return BY_CAUSE.get(cause) ?? (sipCode === null ? undefined : BY_SIP_CODE[sipCode]) ?? 'failed'
}

/** Causes whose SIP code is that of our own cancelling. */
const OUR_OWN: ReadonlySet<string> = new Set(['timeout', 'originator_cancel'])

/** The failure code of the endpoint in Telnyx's `sip_hangup_cause`; null when there is none, or when we cancelled. */
export function sipCodeOf(sipCause: string, cause: string): number | null {
  const code = /^\d{3}$/.test(sipCause) && !OUR_OWN.has(cause) ? Number(sipCause) : null
  return code !== null && code >= FAILURE.from && code <= FAILURE.to ? code : null
}
