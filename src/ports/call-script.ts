import { z } from 'zod'
import type { DialOutcome } from './carrier.ts'

/** How one simulated dial goes (Supplement §11). Seconds are the call's own, before any speed. */
export const scriptedDial = z.object({
  result: z.enum(['answer', 'no_answer', 'busy', 'rejected', 'failed', 'unavailable']),
  /** Seconds of ringing; by default 3, or the whole ring time for `no_answer`. */
  afterSeconds: z.number().min(0).max(600).optional(),
  talkSeconds: z.number().min(0).max(14_400).optional(),
  hungUpBy: z.enum(['caller', 'buyer']).optional(),
  sipCode: z.int().min(100).max(699).optional(),
  retryAfterSeconds: z.int().min(0).max(86_400).optional(),
  /** What the buyer presses when a whisper asks for a digit. */
  digits: z.string().max(32).optional(),
})
export type ScriptedDial = Readonly<z.infer<typeof scriptedDial>>

/** Dials by target id, E.164 or sip address: one entry for each successive dial, the last repeats. */
export const script = z.record(z.string(), z.array(scriptedDial).min(1).max(100).readonly())
export type Script = Readonly<z.infer<typeof script>>

const RING_SECONDS = 3
const TALK_SECONDS = 60
const ANSWER: ScriptedDial = { result: 'answer' }

/** What is about to be dialled. */
export interface DialInput {
  readonly targetId: string
  readonly destination: string
  readonly ringSeconds: number
  readonly acceptDigit: string | null
}

/** How a dial turns out, in the call's own seconds. */
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
      readonly outcome: Exclude<DialOutcome, 'abandoned'>
      readonly sipCode: number | null
      readonly retryAfterSeconds: number | null
      readonly whisperAccepted: boolean | null
    }

const OUTCOMES: Readonly<
  Record<
    Exclude<ScriptedDial['result'], 'answer'>,
    { readonly outcome: Exclude<DialOutcome, 'abandoned'>; readonly sipCode: number | null }
  >
> = {
  no_answer: { outcome: 'no_answer', sipCode: null },
  busy: { outcome: 'busy', sipCode: 486 },
  rejected: { outcome: 'rejected', sipCode: 603 },
  failed: { outcome: 'failed', sipCode: 500 },
  unavailable: { outcome: 'failed', sipCode: 503 },
}

/** Numbers and sip addresses, of nobody, that never answer: each always fails in its own way. */
const FAILING_DESTINATIONS: Readonly<Record<string, ScriptedDial>> = {
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

/** What a script knows a dial by: its target's id where that stands there, else its address. */
export function scriptKeyOf(script: Script, { targetId, destination }: DialInput): string {
  return script[targetId] ? targetId : destination
}

/** The script's entry for the n-th dial (from 0) that it knows by the same; where it says nothing an answer, but from numbers that never give one. */
export function entryFor(script: Script, dialled: DialInput, nth: number): ScriptedDial {
  const entries = script[scriptKeyOf(script, dialled)]
  return entries?.[Math.min(nth, entries.length - 1)] ?? FAILING_DESTINATIONS[dialled.destination] ?? ANSWER
}

/** How a dial turns out by its entry. It rings no longer than the platform lets it. */
export function dialResultOf(entry: ScriptedDial, { ringSeconds, acceptDigit }: DialInput): DialResult {
  const { result, talkSeconds = TALK_SECONDS, retryAfterSeconds = null } = entry
  const afterSeconds = entry.afterSeconds ?? (result === 'no_answer' ? ringSeconds : RING_SECONDS)
  const nobody = { answered: false, outcome: 'no_answer', sipCode: null, retryAfterSeconds: null } as const
  if (afterSeconds >= ringSeconds) return { ...nobody, afterSeconds: ringSeconds, whisperAccepted: null }
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
  if (whisperAccepted === false) return { ...nobody, outcome: 'rejected', afterSeconds, whisperAccepted }
  const hungUpBy = entry.hungUpBy === 'buyer' ? 'agent' : 'caller'
  return { answered: true, afterSeconds, talkSeconds, hungUpBy, whisperAccepted }
}

/** How long a caller whom nobody took stays on the line, in the call's own seconds. */
export const STAYS_SECONDS: Readonly<Record<'hangup' | 'message' | 'forward', number>> = {
  hangup: 0,
  message: 5,
  forward: 60,
}
