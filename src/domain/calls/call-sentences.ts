import type { DialOutcome } from '../shared/call-codes.ts'
import { formatDollars, pluralize } from '../shared/format.ts'

const ENDERS: Readonly<Record<'caller' | 'agent' | 'platform' | 'unknown', string>> = {
  caller: 'The caller hung up',
  agent: 'The buyer hung up',
  platform: 'The platform ended the call',
  unknown: 'The call ended',
}

const whileRinging = (hungUpBy: keyof typeof ENDERS, target: string, rang: string) =>
  `${ENDERS[hungUpBy]} after ${rang}, while ${target} was ringing.`

const FAILURES: Readonly<Record<DialOutcome, (target: string, rang: string) => string>> = {
  no_answer: (target, rang) => `${target} did not answer in ${rang}.`,
  busy: (target) => `${target} was busy.`,
  rejected: (target) => `${target} rejected the call.`,
  failed: (target) => `The call to ${target} failed.`,
  abandoned: (target, rang) => whileRinging('caller', target, rang),
}

/** Sentence of a failed dial. */
export function failureSentence(
  target: string,
  outcome: DialOutcome,
  rangSeconds: number,
  sipCode: number | null,
): string {
  const sentence = FAILURES[outcome](target, pluralize(rangSeconds, 'second'))
  return sipCode === null ? sentence : `${sentence.slice(0, -1)} (SIP ${sipCode}).`
}

/** Sentence of a dial that was ringing when the call ended. */
export function abandonedSentence(hungUpBy: keyof typeof ENDERS, target: string, rangSeconds: number): string {
  return whileRinging(hungUpBy, target, pluralize(rangSeconds, 'second'))
}

/** Sentence of the end of a call. */
export function endedSentence(hungUpBy: keyof typeof ENDERS, talkSeconds: number, connected: boolean): string {
  return connected ? `${ENDERS[hungUpBy]} after ${pluralize(talkSeconds, 'second')} of talk.` : `${ENDERS[hungUpBy]}.`
}

/** Sentence of a call's books. */
export function settledSentence(books: {
  readonly converted: boolean
  readonly revenueCents: number
  readonly payoutCents: number
  readonly reason: string
}): string {
  const figures = `${formatDollars(books.revenueCents)} revenue, ${formatDollars(books.payoutCents)} payout.`
  if (books.converted) return `Converted: ${figures}`
  if (books.revenueCents !== 0 || books.payoutCents !== 0) return `Not converted, but corrected to ${figures}`
  if (books.reason === 'manual') return 'Not converted: somebody corrected it.'
  const under = /^under_threshold:(\d+)s_of_(\d+)s$/.exec(books.reason)
  if (under) return `Not converted: ${pluralize(Number(under[1]), 'second')} of talk, and ${under[2]} are needed.`
  return 'Nothing to book: no buyer answered.'
}
