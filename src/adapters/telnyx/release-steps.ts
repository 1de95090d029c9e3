import { COMMAND_TIMEOUT_MS, hasOutcome, isCompleted, type RecognizedCall, toMs } from './pending-dial.ts'
import { forwardLeg, type Leg, type RequestedRelease, type Session } from './session.ts'
import { type Step, step } from './step.ts'

/** Milliseconds that a message may last. */
const MESSAGE_TIMEOUT_MS = 90_000

/** Whether a leg has not ended and was not hung up by us. */
export const isUp = (session: Session, { id, ended }: Leg) => ended === null && !isCompleted(session, `hangup:${id}`)

export const hangupStep = ({ id }: Pick<Leg, 'id'>): Step => step(`hangup:${id}`, { do: 'hangup', leg: id })

/** Answers the caller, which every later command needs. */
export function answerCallerStep({ session, caller }: RecognizedCall): Step | null {
  return isCompleted(session, 'answer') ? null : step('answer', { do: 'answer', leg: caller.id })
}

/** The attempt whose ringback tone the caller still hears; null when there is none. */
export function ringbackAttempt({ session }: RecognizedCall): number | null {
  const rings = ({ attempt }: { readonly attempt: number }) =>
    hasOutcome(session, `ringback:${attempt}`, 'done') && !isCompleted(session, `quiet:${attempt}`)
  return session.dials.find(rings)?.attempt ?? null
}

/** Stops the ringback tone; null when none is playing. */
export function stopRingbackStep(call: RecognizedCall): Step | null {
  const attempt = ringbackAttempt(call)
  return attempt === null ? null : step(`quiet:${attempt}`, { do: 'stopRingback', leg: call.caller.id })
}

function dismissCallerStep({ session, caller }: RecognizedCall): Step | null {
  if (isCompleted(session, 'answer')) return isUp(session, caller) ? hangupStep(caller) : null
  return isCompleted(session, 'reject') ? null : step('reject', { do: 'reject', leg: caller.id })
}

/** Milliseconds after a command during which the webhook of its effect may arrive: of the answer, of the message's end. */
const TIMEOUT_MS: Readonly<Record<string, number>> = { answer: COMMAND_TIMEOUT_MS, message: MESSAGE_TIMEOUT_MS }

/** When (ms) the webhook of a command's effect is overdue; null when the command was not completed. */
function timeoutAt({ session }: RecognizedCall, name: string): number | null {
  const taken = session.completed[name]
  return taken ? toMs(taken.at) + (TIMEOUT_MS[name] ?? 0) : null
}

function isTimedOut(call: RecognizedCall, name: string): boolean {
  const at = timeoutAt(call, name)
  return at !== null && call.now >= at
}

/** Whether the caller hears us: the answer was reported, or its webhook is overdue and assumed lost. */
const isAudible = (call: RecognizedCall) => call.caller.answeredAt !== null || isTimedOut(call, 'answer')

/** When (ms) a released call must be looked at again without a new webhook. */
export function releaseDeadlines(call: RecognizedCall): readonly number[] {
  if (call.session.releases.length === 0) return []
  return Object.keys(TIMEOUT_MS).flatMap((name) => timeoutAt(call, name) ?? [])
}

/** The next step of a released caller, by the action. */
const RELEASES: {
  readonly [Kind in RequestedRelease['action']['kind']]: (
    call: RecognizedCall,
    action: Extract<RequestedRelease['action'], { readonly kind: Kind }>,
  ) => Step | null
} = {
  hangup: (call) => {
    const dialed = call.session.legs.find((leg) => leg.purpose !== 'caller' && isUp(call.session, leg))
    return dialed ? hangupStep(dialed) : dismissCallerStep(call)
  },
  message: (call, { text }) => {
    const { session, caller } = call
    if (!isCompleted(session, 'answer') || !isAudible(call)) return answerCallerStep(call)
    if (!isCompleted(session, 'message'))
      return stopRingbackStep(call) ?? step('message', { do: 'speak', leg: caller.id, text })
    const speaks = hasOutcome(session, 'message', 'done') && caller.spokenAt === null && !isTimedOut(call, 'message')
    return speaks ? null : dismissCallerStep(call)
  },
  forward: (call, { e164: to }) => {
    const { session, caller } = call
    if (!isCompleted(session, 'answer') || !isAudible(call)) return answerCallerStep(call)
    if (!isCompleted(session, 'forward'))
      return stopRingbackStep(call) ?? step('forward', { do: 'transfer', caller, to })
    return hasOutcome(session, 'forward', 'done') && !forwardLeg(session)?.ended ? null : dismissCallerStep(call)
  },
}

/** The next step of a released caller; null when there is no release, or nothing is left to do. */
export function releaseStep(call: RecognizedCall): Step | null {
  const release = call.session.releases.at(-1)
  const next =
    release &&
    (RELEASES[release.action.kind] as (call: RecognizedCall, action: RequestedRelease['action']) => Step | null)
  return next ? next(call, release.action) : null
}
