import { answeredClaim } from './books.ts'
import { ringingClaim } from './calls.ts'
import { editTarget } from './edits.ts'
import {
  type AnnouncedCall,
  announce,
  type DialScript,
  edgeBefore,
  endCall,
  failDial,
  HOUR,
  type ModelRun,
  resolveDial,
  runDueWork,
  wait,
} from './play.ts'
import type { CallModel, DialEnd } from './state.ts'

/** What comes of a call: the outcome of each dial (an answer if the list ends), the talk time, and who hangs up. */
export interface CallScript {
  readonly dials: readonly DialScript[]
  readonly talkMs: number
  readonly by: 'caller' | 'agent'
}

/** A whole call that is over when it is announced. */
export interface ScriptedCall extends AnnouncedCall, CallScript {
  /** Milliseconds before the latest possible instant of arrival, or the distance from the edge of a window. */
  readonly before: number
  readonly edge: 'hour' | 'day' | 'month' | null
}

/** Calls arrive within the retention of hourly counts. */
const PAST = 40 * HOUR

/** The arrival of a call that must be over by now. */
function arrivalOf(now: number, { dials, talkMs, before, edge }: ScriptedCall): number {
  const latest = now - dials.reduce((sum, { ringMs }) => sum + ringMs, 30_000) - talkMs
  if (edge === null) return Math.max(now - PAST, latest - before)
  const from = edgeBefore(latest, edge)
  // It arrives shortly before or after the edge, so that the waterfall or the talk may cross it.
  return from < now - PAST ? latest : Math.min(latest, from + (before % 60_000) - 30_000)
}

const ANSWER: DialScript = { end: 'answer', ringMs: 3_000, retryAfterSeconds: null }

/** The time of a call. */
interface CallClock {
  readonly now: () => number
  readonly pass: (ms: number) => Promise<void>
}

/** Plays an announced call to its end. */
async function playOn(line: ModelRun, call: CallModel, script: CallScript, clock: CallClock): Promise<void> {
  const dials = [...script.dials]
  for (let claim = ringingClaim(call); claim; claim = ringingClaim(call)) {
    const dial = dials.shift() ?? ANSWER
    await clock.pass(Math.min(dial.ringMs, claim.ringSeconds * 1_000))
    if (dial.end === 'gives_up') break
    await resolveDial(line, call, dial, clock.now())
  }
  if (answeredClaim(call)) await clock.pass(script.talkMs)
  await endCall(line, call, call.unrouted === null ? script.by : 'platform', clock.now())
  await runDueWork(line)
}

/** Plays a whole call at once, as an instant call of the sandbox. */
export async function playCall(line: ModelRun, script: ScriptedCall): Promise<void> {
  let at = arrivalOf(line.model.now, script)
  const call = await announce(line, script, at)
  const pass = async (ms: number) => {
    at += ms
  }
  await playOn(line, call, script, { now: () => at, pass })
}

/** Plays a whole call while time passes. */
export async function playLiveCall(line: ModelRun, called: AnnouncedCall, script: CallScript): Promise<void> {
  const { model } = line
  const call = await announce(line, called, model.now)
  await playOn(line, call, script, { now: () => model.now, pass: (ms) => wait(line, ms, null) })
}

/**
 * A call finds the target of an earlier one busy: the earlier one ends, then the dials of the later one fail until its plan
 * is spent.
 */
export async function callBusyTarget(
  line: ModelRun,
  called: AnnouncedCall,
  laterCaller: string | null,
  end: DialEnd,
): Promise<void> {
  const { now } = line.model
  const earlier = await announce(line, called, now)
  const claim = ringingClaim(earlier)
  if (claim) await editTarget(line, claim.target, { concurrencyCap: 1 })
  const later = await announce(line, { ...called, caller: laterCaller }, now)
  await endCall(line, earlier, 'caller', now)
  while (ringingClaim(later)) await failDial(line, later, { end, ringMs: 0, retryAfterSeconds: null }, now)
  await endCall(line, later, 'platform', now)
  await runDueWork(line)
}
