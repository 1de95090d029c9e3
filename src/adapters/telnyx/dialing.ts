import type { CarrierNotice } from '../../ports/carrier.ts'
import { dialOutcomeOf } from './causes.ts'
import { type End, GONE_SLACK_MS } from './ending.ts'
import { type Dial, dialLeg, isBridged, type Leg, type Session, type Taken } from './session.ts'

/** How long (ms) a caller waits for a command that Telnyx does not take before the dial counts as failed. */
export const COMMAND_PATIENCE_MS = 20_000
/** How long (ms) after its ring time a dial's end may still be on its way. */
export const RING_SLACK_MS = 20_000
/** How long (ms) after answering a buyer may take over a whisper. */
export const WHISPER_PATIENCE_MS = 90_000

/** A call that is known to be somebody's. */
export interface Known {
  readonly session: Session
  readonly key: { readonly workspaceId: string; readonly callId: string }
  readonly sessionId: string
  readonly caller: Leg
  readonly end: End | null
  /** Milliseconds since the epoch. */
  readonly now: number
}

/** A dial whose outcome the platform has not yet been told. */
export interface Dialing extends Known {
  readonly dial: Dial
  readonly leg: Leg | null
}

/** How a dial ended without the caller being put through. */
export type Failure = Pick<
  Extract<CarrierNotice, { type: 'dial-failed' }>,
  'outcome' | 'sipCode' | 'whisperAccepted' | 'at'
>

export const has = ({ taken }: Session, name: string) => taken[name] !== undefined
export const was = ({ taken }: Session, name: string, outcome: Taken['outcome']) => taken[name]?.outcome === outcome
export const ms = (instant: string) => Date.parse(instant)
export const instant = (time: number) => new Date(time).toISOString()

/** The dial that is under way; null when none is. */
export function dialingOf(known: Known): Dialing | null {
  const { session } = known
  const dial = session.dials.at(-1)
  if (!dial || has(session, `tell:answered:${dial.attempt}`) || has(session, `tell:failed:${dial.attempt}`)) return null
  return { ...known, dial, leg: dialLeg(session, dial.attempt) }
}

/** What a whisper has come to: nothing yet, or whether the buyer takes the call. Without one, who answers takes it. */
export function whispered({
  session,
  dial,
  leg,
  now,
}: Dialing): { readonly takes: boolean; readonly at: string } | null {
  if (!leg?.answeredAt) return null
  if (!dial.whisper) return { takes: true, at: leg.answeredAt }
  const { acceptDigit } = dial.whisper
  if (acceptDigit !== null) return leg.gathered && { takes: leg.gathered.digits === acceptDigit, at: leg.gathered.at }
  const spoken = session.taken[`whisper:${dial.attempt}`]
  const unheard = ms(leg.answeredAt) + WHISPER_PATIENCE_MS
  const at = leg.spokenAt ?? (spoken?.outcome === 'refused' ? spoken.at : null)
  return at === null && now < unheard ? null : { takes: true, at: at ?? instant(unheard) }
}

/** What is told of the whisper's digit where one was asked for. */
export function told(accepted: boolean, { dial }: Dialing): boolean | null {
  return dial.whisper && dial.whisper.acceptDigit !== null ? accepted : null
}

const failed = (at: string): Failure => ({ outcome: 'failed', sipCode: null, whisperAccepted: null, at })

/** What a command that was not done makes of a dial: refused it has failed, but a leg that is gone has its own end to tell. */
function undone(step: Taken | undefined, now: number): Failure | null {
  if (!step || step.outcome === 'done') return null
  if (step.outcome === 'refused') return failed(step.at)
  const due = ms(step.at) + GONE_SLACK_MS
  return now >= due ? failed(instant(due)) : null
}

/** How the end of a dial's leg reads: of one that was answered, the buyer hung up before the caller was put through. */
function legFailure(dialing: Dialing, ended: NonNullable<Leg['ended']>): Failure {
  const { dial, leg } = dialing
  const { at, sipCode } = ended
  if (!leg?.answeredAt) return { outcome: dialOutcomeOf(ended), sipCode, whisperAccepted: null, at }
  return { outcome: dial.whisper ? 'rejected' : 'failed', sipCode: null, whisperAccepted: told(false, dialing), at }
}

/** When the patience with a dial ends (ms), by how far it has come. */
export function patienceOf(dialing: Dialing): number {
  const { session, dial, leg } = dialing
  const heard = whispered(dialing)
  if (heard) return ms(heard.at) + COMMAND_PATIENCE_MS
  if (leg?.answeredAt) return ms(leg.answeredAt) + WHISPER_PATIENCE_MS
  const sent = session.taken[`dial:${dial.attempt}`]
  return sent ? ms(sent.at) + dial.ringSeconds * 1_000 + RING_SLACK_MS : ms(dial.at) + COMMAND_PATIENCE_MS
}

function overdue(dialing: Dialing): Failure {
  const { session, dial, leg, now } = dialing
  const late = failed(instant(now))
  if (whispered(dialing)) return late
  if (leg?.answeredAt) return { ...late, outcome: 'rejected', whisperAccepted: told(false, dialing) }
  return has(session, `dial:${dial.attempt}`) ? { ...late, outcome: 'no_answer' } : late
}

/** How a dial has failed; null while it may still succeed, or has. */
export function failureOf(dialing: Dialing): Failure | null {
  const { session, dial, leg, now } = dialing
  const { attempt, whisper } = dial
  if (isBridged(session, attempt)) return null
  if (leg?.ended) return legFailure(dialing, leg.ended)
  const heard = whispered(dialing)
  if (heard && !heard.takes) return { outcome: 'rejected', sipCode: null, whisperAccepted: false, at: heard.at }
  const asked = whisper && whisper.acceptDigit !== null ? [`whisper:${attempt}`] : []
  for (const name of [`dial:${attempt}`, ...asked, `bridge:${attempt}`]) {
    const failure = undone(session.taken[name], now)
    if (failure) return failure
  }
  return now >= patienceOf(dialing) ? overdue(dialing) : null
}
