import { z } from 'zod'
import type { CarrierDialOutcome } from './carrier.ts'

/** Script of one simulated dial (Supplement §11). Seconds are simulated time: `speed` divides them. */
export const scriptedDial = z.object({
  result: z.enum(['answer', 'no_answer', 'busy', 'rejected', 'failed', 'unavailable']),
  /** Seconds of ringing; by default 3, or the whole ring time for `no_answer`. */
  afterSeconds: z.number().min(0).max(600).optional(),
  talkSeconds: z.number().min(0).max(14_400).optional(),
  hungUpBy: z.enum(['caller', 'buyer']).optional(),
  sipCode: z.int().min(100).max(699).optional(),
  retryAfterSeconds: z.int().min(0).max(86_400).optional(),
  /** Digits that the buyer presses when a whisper asks for one. */
  digits: z.string().max(32).optional(),
})
/** One entry of a script. */
export type ScriptedDial = Readonly<z.infer<typeof scriptedDial>>

/** Scripted dials by target id, E.164 number or sip address: one entry for each successive dial; the last one repeats. */
export const script = z.record(z.string(), z.array(scriptedDial).min(1).max(100).readonly())
/** Scripted dials by key. */
export type Script = Readonly<z.infer<typeof script>>

/** Seconds of ringing and of talk of a dial whose script names none. */
export const RING_SECONDS = 3
export const TALK_SECONDS = 60
const ANSWER: ScriptedDial = { result: 'answer' }

/** The dial to simulate. `destination`: E.164 number or sip address. */
export interface DialInput {
  readonly targetId: string
  readonly destination: string
  readonly ringSeconds: number
  readonly acceptDigit: string | null
}

/** Result of a simulated dial, in simulated seconds. */
export type DialResult =
  | {
      readonly answered: true
      readonly afterSeconds: number
      readonly talkSeconds: number
      readonly hungUpBy: 'caller' | 'agent'
      readonly whisperAccepted: boolean | null
    }
  | {
      readonly answered: false
      readonly afterSeconds: number
      readonly outcome: Exclude<CarrierDialOutcome, 'abandoned'>
      readonly sipCode: number | null
      readonly retryAfterSeconds: number | null
      readonly whisperAccepted: boolean | null
    }

const OUTCOMES: Readonly<
  Record<
    Exclude<ScriptedDial['result'], 'answer'>,
    { readonly outcome: Exclude<CarrierDialOutcome, 'abandoned'>; readonly sipCode: number | null }
  >
> = {
  no_answer: { outcome: 'no_answer', sipCode: null },
  busy: { outcome: 'busy', sipCode: 486 },
  rejected: { outcome: 'rejected', sipCode: 603 },
  failed: { outcome: 'failed', sipCode: 500 },
  unavailable: { outcome: 'failed', sipCode: 503 },
}

/** Test destinations that never answer: each has a fixed failure. */
export const FAILING_DESTINATIONS: Readonly<Record<string, ScriptedDial>> = {
  '+15005550480': { result: 'no_answer' },
  '+15005550486': { result: 'busy' },
  '+15005550500': { result: 'failed' },
  '+15005550503': { result: 'unavailable' },
  '+15005550603': { result: 'rejected' },
  'sip:no-answer@sip.invalid': { result: 'no_answer' },
  'sip:busy@sip.invalid': { result: 'busy' },
  'sip:failed@sip.invalid': { result: 'failed' },
  'sip:unavailable@sip.invalid': { result: 'unavailable' },
  'sip:rejected@sip.invalid': { result: 'rejected' },
}

/** Key of a dial in a script: the target id if the script has it, otherwise the destination. */
export function scriptKeyOf(script: Script, { targetId, destination }: DialInput): string {
  return script[targetId] ? targetId : destination
}

/** The entry for the n-th dial (from 0) with the same key. Without an entry a dial is answered, unless its destination always fails. */
export function entryFor(script: Script, dialled: DialInput, nth: number): ScriptedDial {
  const entries = script[scriptKeyOf(script, dialled)]
  return entries?.[Math.min(nth, entries.length - 1)] ?? FAILING_DESTINATIONS[dialled.destination] ?? ANSWER
}

/** Computes the result of a dial from its entry. Ringing ends after `ringSeconds`. */
export function dialResultOf(entry: ScriptedDial, { ringSeconds, acceptDigit }: DialInput): DialResult {
  const { result, talkSeconds = TALK_SECONDS, retryAfterSeconds = null } = entry
  const afterSeconds = entry.afterSeconds ?? (result === 'no_answer' ? ringSeconds : RING_SECONDS)
  const unanswered = { answered: false, outcome: 'no_answer', sipCode: null, retryAfterSeconds: null } as const
  if (afterSeconds >= ringSeconds) return { ...unanswered, afterSeconds: ringSeconds, whisperAccepted: null }
  if (result !== 'answer') {
    const { outcome, sipCode } = OUTCOMES[result]
    return {
      answered: false,
      afterSeconds,
      outcome,
      sipCode: entry.sipCode ?? sipCode,
      retryAfterSeconds,
      whisperAccepted: null,
    }
  }
  const whisperAccepted = acceptDigit === null ? null : (entry.digits ?? '').includes(acceptDigit)
  if (whisperAccepted === false) return { ...unanswered, outcome: 'rejected', afterSeconds, whisperAccepted }
  const hungUpBy = entry.hungUpBy === 'buyer' ? 'agent' : 'caller'
  return { answered: true, afterSeconds, talkSeconds, hungUpBy, whisperAccepted }
}

/** Simulated seconds that an unrouted caller stays on the line, by action. */
export const STAYS_SECONDS: Readonly<Record<'hangup' | 'message' | 'forward', number>> = {
  hangup: 0,
  message: 5,
  forward: 60,
}
