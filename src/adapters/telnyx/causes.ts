import type { DialOutcome } from '../../ports/carrier.ts'

/**
 * How a dial ended, by Telnyx's own causes. `timeout` is our ring time being over; `originator_cancel` is our side having
 * hung up, which it does by itself only when the caller is gone.
 */
const BY_CAUSE: ReadonlyMap<string, DialOutcome> = new Map([
  ['user_busy', 'busy'],
  ['call_rejected', 'rejected'],
  ['no_answer', 'no_answer'],
  ['timeout', 'no_answer'],
  ['originator_cancel', 'abandoned'],
  ['not_found', 'failed'],
])

/** What the codes of SIP say where the cause says nothing. */
const BY_SIP_CODE: Readonly<Record<number, DialOutcome>> = {
  408: 'no_answer',
  480: 'no_answer',
  486: 'busy',
  487: 'no_answer',
  600: 'busy',
  603: 'rejected',
  607: 'rejected',
  608: 'rejected',
}

/** The codes that endpoints answer a dial with, and no other: a code of success is no cause. */
const FAILURE = { from: 300, to: 699 } as const

/** How a dial that nobody took ended, by how its leg did. */
export function dialOutcomeOf({
  cause,
  sipCode,
}: {
  readonly cause: string
  readonly sipCode: number | null
}): DialOutcome {
  // A gateway that is out of order is that, whatever cause it is wrapped in.
  if (sipCode !== null && sipCode >= 500 && sipCode < 600) return 'failed'
  return BY_CAUSE.get(cause) ?? (sipCode === null ? undefined : BY_SIP_CODE[sipCode]) ?? 'failed'
}

/** Causes after which the code is that of our own cancelling. */
const OUR_OWN: ReadonlySet<string> = new Set(['timeout', 'originator_cancel'])

/** Telnyx's `sip_hangup_cause` as the code that the endpoint answered; null where it is none, no failure, or our own. */
export function sipCodeOf(sipCause: string, cause: string): number | null {
  const code = /^\d{3}$/.test(sipCause) && !OUR_OWN.has(cause) ? Number(sipCause) : null
  return code !== null && code >= FAILURE.from && code <= FAILURE.to ? code : null
}
