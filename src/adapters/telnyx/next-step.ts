import { instantText } from '../../kernel/instant.ts'
import { callEnd, GONE_GRACE_MS, goneAt } from './call-end.ts'
import {
  deadlineOf,
  failureOf,
  hasOutcome,
  isCompleted,
  type PendingDial,
  pendingDialOf,
  type RecognizedCall,
  toMs,
  whisperAcceptance,
  whisperResult,
} from './pending-dial.ts'
import {
  answerCallerStep,
  hangupStep,
  isUp,
  releaseDeadlines,
  releaseStep,
  ringbackAttempt,
  stopRingbackStep,
} from './release-steps.ts'
import { attemptIn, callerLeg, isBridged, type Leg, type Session } from './session.ts'
import { type Step, step } from './step.ts'

/** Milliseconds without activity after which Telnyx is asked whether the call still exists. */
export const SILENCE_MS = 10 * 60_000
/** Days for which Telnyx is assumed to keep a recording; it may be deleted earlier. */
export const RECORDING_DAYS = 365
const DAY_MS = 86_400_000

type Rule = (call: RecognizedCall) => Step | null

const notifyArrival: Rule = ({ session, key, sessionId, caller: { initiated } }) => {
  if (!initiated?.to || isCompleted(session, 'tell:arrived')) return null
  const { to, from, sipHeaders, at } = initiated
  const notice = { type: 'call-arrived', ...key, carrierCallId: sessionId, to, from, sipHeaders, at } as const
  return step('tell:arrived', { do: 'notify', notice })
}

/** Notifies that a buyer was connected, before anything that happened later. */
const notifyAnswer: Rule = (call) => {
  const pending = pendingDialOf(call)
  if (!pending?.leg?.answeredAt || !isBridged(call.session, pending.dial.attempt)) return null
  const { key, dial } = pending
  const { attempt } = dial
  const at = pending.leg.answeredAt
  const whisperAccepted = whisperAcceptance(true, pending)
  const notice = { type: 'dial-answered', ...key, attempt, whisperAccepted, at } as const
  return step(`tell:answered:${attempt}`, { do: 'notify', notice })
}

/** Notifies that a dial failed; one that failed after the end of the call is not reported. */
const notifyFailure: Rule = (call) => {
  const pending = pendingDialOf(call)
  const failure = pending && failureOf(pending)
  if (!pending || !failure || (call.end && call.end.at < failure.at)) return null
  const { attempt } = pending.dial
  const notice = { type: 'dial-failed', ...call.key, attempt, retryAfterSeconds: null, ...failure } as const
  return step(`tell:failed:${attempt}`, { do: 'notify', notice })
}

const notifyEnd: Rule = ({ session, key, end }) => {
  if (!end || isCompleted(session, 'tell:ended')) return null
  const recorded = hasOutcome(session, 'record', 'done')
  const notice = { type: 'call-ended', ...key, hungUpBy: end.hungUpBy, recorded, at: end.at } as const
  return step('tell:ended', { do: 'notify', notice })
}

/** Hangs up the legs that are still up when the call has ended. */
const hangUpOpenLegs: Rule = ({ session, end }) => {
  const open = end && session.legs.find((leg) => isUp(session, leg))
  return open ? hangupStep(open) : null
}

const notifyRecordings: Rule = ({ session, key }) => {
  const saved = session.recordings.find(({ recordingId }) => !isCompleted(session, `tell:recorded:${recordingId}`))
  if (!saved || !isCompleted(session, 'tell:ended')) return null
  const { recordingId: carrierRecordingId, format, channels, durationSeconds, at } = saved
  const expiresAt = instantText(toMs(at) + RECORDING_DAYS * DAY_MS)
  const recording = { carrierRecordingId, format, channels, durationSeconds, expiresAt, at }
  return step(`tell:recorded:${carrierRecordingId}`, {
    do: 'notify',
    notice: { type: 'recording-saved', ...key, ...recording },
  })
}

/** Hangs up the legs of failed dials, also those reported after the failure. */
const hangUpFailedDials: Rule = ({ session }) => {
  const open = session.legs.find((leg) => {
    const attempt = attemptIn(leg.purpose)
    return attempt !== null && isCompleted(session, `tell:failed:${attempt}`) && isUp(session, leg)
  })
  return open ? hangupStep(open) : null
}

const playRingback = (call: RecognizedCall, { dial, caller }: PendingDial): Step | null => {
  const name = `ringback:${dial.attempt}`
  if (caller.answeredAt === null || isCompleted(call.session, name) || ringbackAttempt(call) !== null) return null
  return step(name, { do: 'ringback', leg: caller.id })
}

const advanceDial: Rule = (call) => {
  const pending = pendingDialOf(call)
  if (!pending || call.session.releases.length > 0) return null
  const { session, caller, dial, leg } = pending
  const { attempt, whisper } = dial
  const answered = answerCallerStep(call)
  if (answered) return answered
  if (!isCompleted(session, `dial:${attempt}`)) return step(`dial:${attempt}`, { do: 'dial', caller, dial })
  if (!leg?.answeredAt) return playRingback(call, pending)
  if (whisper && !isCompleted(session, `whisper:${attempt}`)) {
    const { text, acceptDigit } = whisper
    return step(`whisper:${attempt}`, { do: acceptDigit === null ? 'speak' : 'ask', leg: leg.id, text })
  }
  if (!whisperResult(pending)?.takes || isCompleted(session, `bridge:${attempt}`)) return null
  return stopRingbackStep(call) ?? step(`bridge:${attempt}`, { do: 'bridge', leg: caller.id, with: leg.id })
}

const startRecording: Rule = ({ session, caller }) => {
  const dial = session.dials.at(-1)
  if (!dial?.record || !isCompleted(session, `tell:answered:${dial.attempt}`) || isCompleted(session, 'record'))
    return null
  return step('record', { do: 'record', leg: caller.id })
}

/** Polls a silent call: the webhook of its end may be lost. */
const checkStatus: Rule = ({ session: { lastActivityAt }, caller, now }) =>
  lastActivityAt !== null && now >= toMs(lastActivityAt) + SILENCE_MS
    ? step(`look:${lastActivityAt}`, { do: 'poll', leg: caller.id })
    : null

/** The rules of a recognized call while it lasts and after its end. The first rule that returns a step wins. */
const NOTIFICATIONS: readonly Rule[] = [notifyArrival, notifyAnswer, notifyFailure, notifyEnd]
const LIVE: readonly Rule[] = [
  ...NOTIFICATIONS,
  hangUpFailedDials,
  releaseStep,
  advanceDial,
  startRecording,
  checkStatus,
]
const OVER: readonly Rule[] = [...NOTIFICATIONS, hangUpOpenLegs, notifyRecordings]

function recognizedCallOf(session: Session, now: number): RecognizedCall | null {
  const caller = callerLeg(session)
  const { recognized } = session
  if (!caller || recognized === null || recognized.workspaceId === null) return null
  const { workspaceId, callId, sessionId } = recognized
  return { session, key: { workspaceId, callId }, sessionId, caller, now, end: callEnd(session, now) }
}

const isProbe = ({ purpose }: Leg) => purpose !== null && purpose !== 'caller' && 'probe' in purpose

/**
 * The next step of a call that is not recognized: look up the number, then reject the call if no workspace takes it. A
 * probe is hung up once it is answered.
 */
function firstStep(session: Session): Step | null {
  const probe = session.legs.find((leg) => isProbe(leg) && leg.answeredAt !== null && isUp(session, leg))
  if (probe) return hangupStep(probe)
  const caller = callerLeg(session)
  if (!caller?.initiated) return null
  if (session.recognized === null) return step('recognize', { do: 'recognize', to: caller.initiated.to })
  return caller.ended || isCompleted(session, 'reject') ? null : step('reject', { do: 'reject', leg: caller.id })
}

/**
 * The next step of a call, or null when there is none. Steps in `failing` failed in this run and are skipped; while a
 * notice fails, no other notice is sent, so that the platform receives them in order.
 */
export function nextStep(session: Session, now: number, failing: ReadonlySet<string> = new Set()): Step | null {
  const call = recognizedCallOf(session, now)
  const steps = call ? (call.end ? OVER : LIVE).map((rule) => rule(call)) : [firstStep(session)]
  const silent = [...failing].some((name) => name.startsWith('tell:'))
  return steps.find((one) => one !== null && !failing.has(one.name) && !(silent && one.act.do === 'notify')) ?? null
}

/** When (ms) a call must be looked at again without a new webhook; null for never. */
export function nextPollAt(session: Session, now: number): number | null {
  const call = recognizedCallOf(session, now)
  if (!call || isCompleted(session, 'tell:ended')) return null
  const pending = pendingDialOf(call)
  const gone = goneAt(session)
  const instants = [
    ...(pending ? [deadlineOf(pending), ...goneDeadlines(pending)] : []),
    ...releaseDeadlines(call),
    ...(gone === null ? [] : [toMs(gone) + GONE_GRACE_MS]),
    ...(session.lastActivityAt === null ? [] : [toMs(session.lastActivityAt) + SILENCE_MS]),
  ]
  const coming = instants.filter((time) => time > now)
  return coming.length === 0 ? null : Math.min(...coming)
}

/** When (ms) the dial counts as failed after a command that found its leg gone. */
function goneDeadlines({ session, dial: { attempt } }: PendingDial): readonly number[] {
  return ['dial', 'whisper', 'bridge']
    .map((name) => session.completed[`${name}:${attempt}`])
    .flatMap((taken) => (taken?.outcome === 'gone' ? [toMs(taken.at) + GONE_GRACE_MS] : []))
}
