import { instantText } from '../../kernel/instant.ts'
import type { CarrierNotice } from '../../ports/carrier.ts'
import { type CallEnd, GONE_GRACE_MS } from './call-end.ts'
import { dialOutcomeOf } from './causes.ts'
import { type CompletedStep, dialLeg, isBridged, type Leg, type RequestedDial, type Session } from './session.ts'

/** Milliseconds after which a dial fails when Telnyx does not accept a command of it. */
export const COMMAND_TIMEOUT_MS = 20_000
/** Milliseconds after the ring time during which the webhook of a dial's end may still arrive. */
export const RING_GRACE_MS = 20_000
/** Milliseconds that a whisper may take after the answer. */
export const WHISPER_TIMEOUT_MS = 90_000

/** A call on a number of a workspace. */
export interface RecognizedCall {
  readonly session: Session
  readonly key: { readonly workspaceId: string; readonly callId: string }
  readonly sessionId: string
  readonly caller: Leg
  readonly end: CallEnd | null
  /** Milliseconds since the epoch. */
  readonly now: number
}

/** A dial whose outcome has not been notified. */
export interface PendingDial extends RecognizedCall {
  readonly dial: RequestedDial
  readonly leg: Leg | null
}

/** How a dial ended when the caller was not connected. */
export type FailedDial = Pick<
  Extract<CarrierNotice, { type: 'dial-failed' }>,
  'outcome' | 'sipCode' | 'whisperAccepted' | 'at'
>

export const isCompleted = ({ completed }: Session, name: string) => completed[name] !== undefined
export const hasOutcome = ({ completed }: Session, name: string, outcome: CompletedStep['outcome']) =>
  completed[name]?.outcome === outcome
export const toMs = (instant: string) => Date.parse(instant)

/** The dial in progress; null when there is none. */
export function pendingDialOf(call: RecognizedCall): PendingDial | null {
  const { session } = call
  const dial = session.dials.at(-1)
  if (
    !dial ||
    isCompleted(session, `tell:answered:${dial.attempt}`) ||
    isCompleted(session, `tell:failed:${dial.attempt}`)
  )
    return null
  return { ...call, dial, leg: dialLeg(session, dial.attempt) }
}

/** Whether the buyer takes the call after the whisper; null while that is open. Without a whisper, answering takes it. */
export function whisperResult({
  session,
  dial,
  leg,
  now,
}: PendingDial): { readonly takes: boolean; readonly at: string } | null {
  if (!leg?.answeredAt) return null
  if (!dial.whisper) return { takes: true, at: leg.answeredAt }
  const { acceptDigit } = dial.whisper
  if (acceptDigit !== null) return leg.gathered && { takes: leg.gathered.digits === acceptDigit, at: leg.gathered.at }
  const spoken = session.completed[`whisper:${dial.attempt}`]
  const deadline = toMs(leg.answeredAt) + WHISPER_TIMEOUT_MS
  const at = leg.spokenAt ?? (spoken?.outcome === 'refused' ? spoken.at : null)
  return at === null && now < deadline ? null : { takes: true, at: at ?? instantText(deadline) }
}

/** The `whisperAccepted` of a notice: null when no digit was required. */
export function whisperAcceptance(accepted: boolean, { dial }: PendingDial): boolean | null {
  return dial.whisper && dial.whisper.acceptDigit !== null ? accepted : null
}

const failedAt = (at: string): FailedDial => ({ outcome: 'failed', sipCode: null, whisperAccepted: null, at })

/** How a dial failed by a command that was not done. After `gone`, the webhook of the leg's end gets time to arrive first. */
function commandFailure(step: CompletedStep | undefined, now: number): FailedDial | null {
  if (!step || step.outcome === 'done') return null
  if (step.outcome === 'refused') return failedAt(step.at)
  const due = toMs(step.at) + GONE_GRACE_MS
  return now >= due ? failedAt(instantText(due)) : null
}

/** How a dial failed by the end of its leg. An answered leg ended before the caller was connected. */
function legFailure(pending: PendingDial, ended: NonNullable<Leg['ended']>): FailedDial {
  const { dial, leg } = pending
  const { at, sipCode } = ended
  if (!leg?.answeredAt) return { outcome: dialOutcomeOf(ended), sipCode, whisperAccepted: null, at }
  return {
    outcome: dial.whisper ? 'rejected' : 'failed',
    sipCode: null,
    whisperAccepted: whisperAcceptance(false, pending),
    at,
  }
}

/** When (ms) a dial times out, by its progress. */
export function deadlineOf(pending: PendingDial): number {
  const { session, dial, leg } = pending
  const acceptance = whisperResult(pending)
  if (acceptance) return toMs(acceptance.at) + COMMAND_TIMEOUT_MS
  if (leg?.answeredAt) return toMs(leg.answeredAt) + WHISPER_TIMEOUT_MS
  const sent = session.completed[`dial:${dial.attempt}`]
  return sent ? toMs(sent.at) + dial.ringSeconds * 1_000 + RING_GRACE_MS : toMs(dial.at) + COMMAND_TIMEOUT_MS
}

function timeoutFailure(pending: PendingDial): FailedDial {
  const { session, dial, leg, now } = pending
  const late = failedAt(instantText(now))
  if (whisperResult(pending)) return late
  if (leg?.answeredAt) return { ...late, outcome: 'rejected', whisperAccepted: whisperAcceptance(false, pending) }
  return isCompleted(session, `dial:${dial.attempt}`) ? { ...late, outcome: 'no_answer' } : late
}

/** How a dial has failed; null while it is open or when it succeeded. */
export function failureOf(pending: PendingDial): FailedDial | null {
  const { session, dial, leg, now } = pending
  const { attempt, whisper } = dial
  if (isBridged(session, attempt)) return null
  if (leg?.ended) return legFailure(pending, leg.ended)
  const acceptance = whisperResult(pending)
  if (acceptance && !acceptance.takes)
    return { outcome: 'rejected', sipCode: null, whisperAccepted: false, at: acceptance.at }
  const digitSteps = whisper && whisper.acceptDigit !== null ? [`whisper:${attempt}`] : []
  for (const name of [`dial:${attempt}`, ...digitSteps, `bridge:${attempt}`]) {
    const failure = commandFailure(session.completed[name], now)
    if (failure) return failure
  }
  return now >= deadlineOf(pending) ? timeoutFailure(pending) : null
}
