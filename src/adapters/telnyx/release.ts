import { COMMAND_TIMEOUT_MS, hasOutcome, isCompleted, type RecognizedCall, toMs } from './pending-dial.ts'
import { forwardLeg, type Leg, type RequestedRelease, type Session } from './session.ts'
import { type Step, step } from './step.ts'

/** How long (ms) after its beginning a message may last. */
const MESSAGE_TIMEOUT_MS = 90_000

/** Whether a leg is there, and nobody has hung it up. */
export const isUp = (session: Session, { id, ended }: Leg) => ended === null && !isCompleted(session, `hangup:${id}`)

export const hangupStep = ({ id }: Pick<Leg, 'id'>): Step => step(`hangup:${id}`, { do: 'hangup', leg: id })

/** The caller is answered before anything can be done with them. */
export function answerStep({ session, caller }: RecognizedCall): Step | null {
  return isCompleted(session, 'answer') ? null : step('answer', { do: 'answer', leg: caller.id })
}

/** The attempt in which the caller was given a ringing tone that has not been ended. */
export function ringbackAttempt({ session }: RecognizedCall): number | null {
  const rings = ({ attempt }: { readonly attempt: number }) =>
    hasOutcome(session, `ringback:${attempt}`, 'done') && !isCompleted(session, `quiet:${attempt}`)
  return session.dials.find(rings)?.attempt ?? null
}

/** Ends the ringing tone that the caller hears, where there is one. */
export function stopRingbackStep(known: RecognizedCall): Step | null {
  const attempt = ringbackAttempt(known)
  return attempt === null ? null : step(`quiet:${attempt}`, { do: 'stopRingback', leg: known.caller.id })
}

function dismissCallerStep({ session, caller }: RecognizedCall): Step | null {
  if (isCompleted(session, 'answer')) return isUp(session, caller) ? hangupStep(caller) : null
  return isCompleted(session, 'reject') ? null : step('reject', { do: 'reject', leg: caller.id })
}

/** How long (ms) after a command what it leads to may be on its way: the answer of the caller's leg, the end of a message. */
const TIMEOUT_MS: Readonly<Record<string, number>> = { answer: COMMAND_TIMEOUT_MS, message: MESSAGE_TIMEOUT_MS }

/** When the patience with a command's consequence ends (ms); null for one that was not done. */
function timeoutAt({ session }: RecognizedCall, name: string): number | null {
  const taken = session.completed[name]
  return taken ? toMs(taken.at) + (TIMEOUT_MS[name] ?? 0) : null
}

function isTimedOut(known: RecognizedCall, name: string): boolean {
  const at = timeoutAt(known, name)
  return at !== null && known.now >= at
}

/** Whether the caller hears what is said to them; where nothing tells so in time, it is taken for granted. */
const isAudible = (known: RecognizedCall) => known.caller.answeredAt !== null || isTimedOut(known, 'answer')

/** When a caller whom the platform lets go of is to be looked at again (ms), though nothing is heard of them. */
export function releaseDeadlines(known: RecognizedCall): readonly number[] {
  if (known.session.releases.length === 0) return []
  return Object.keys(TIMEOUT_MS).flatMap((name) => timeoutAt(known, name) ?? [])
}

/** What is done with a caller whom the platform lets go of, by the action. */
const RELEASES: {
  readonly [Kind in RequestedRelease['action']['kind']]: (
    known: RecognizedCall,
    action: Extract<RequestedRelease['action'], { readonly kind: Kind }>,
  ) => Step | null
} = {
  hangup: (known) => {
    const dialed = known.session.legs.find((leg) => leg.purpose !== 'caller' && isUp(known.session, leg))
    return dialed ? hangupStep(dialed) : dismissCallerStep(known)
  },
  message: (known, { text }) => {
    const { session, caller } = known
    if (!isCompleted(session, 'answer') || !isAudible(known)) return answerStep(known)
    if (!isCompleted(session, 'message'))
      return stopRingbackStep(known) ?? step('message', { do: 'speak', leg: caller.id, text })
    const speaks = hasOutcome(session, 'message', 'done') && caller.spokenAt === null && !isTimedOut(known, 'message')
    return speaks ? null : dismissCallerStep(known)
  },
  forward: (known, { e164: to }) => {
    const { session, caller } = known
    if (!isCompleted(session, 'answer') || !isAudible(known)) return answerStep(known)
    if (!isCompleted(session, 'forward'))
      return stopRingbackStep(known) ?? step('forward', { do: 'transfer', caller, to })
    return hasOutcome(session, 'forward', 'done') && !forwardLeg(session)?.ended ? null : dismissCallerStep(known)
  },
}

/** What is done next with a caller whom the platform lets go of; null when it does not, or nothing is left to do. */
export function releaseStep(known: RecognizedCall): Step | null {
  const release = known.session.releases.at(-1)
  const next =
    release &&
    (RELEASES[release.action.kind] as (known: RecognizedCall, action: RequestedRelease['action']) => Step | null)
  return next ? next(known, release.action) : null
}
