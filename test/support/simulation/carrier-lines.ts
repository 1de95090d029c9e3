import type { CarrierNotice } from '../../../src/ports/carrier.ts'
import type { Chance } from './chance.ts'
import type { Agenda } from './time.ts'

/** A call as the carrier has it. */
export interface Line {
  readonly workspaceId: string
  readonly callId: string
  readonly carrierCallId: string
  over: boolean
  /** Dials that ring or are connected, by attempt. */
  readonly up: Map<number, { readonly targetId: string; readonly record: boolean; connected: boolean }>
  released: boolean
  /** Cancels what is scheduled for the call, once the call is over. */
  readonly cancels: (() => void)[]
}

/** How callers and called parties behave. */
export interface CallerBehaviour {
  /** The range of seconds that a caller waits for an answer. */
  readonly patience: readonly [number, number]
  readonly talk: readonly [number, number]
  /** Share of the dials that are answered, from 0 to 1. */
  readonly answers: number
}

/** Share of the talks with recording on that leave a recording, and how long (ms) it can be fetched. */
const RECORDED = 0.7
const RECORDING_LIFE_MS = 30 * 24 * 3_600_000
const FAILURES = ['no_answer', 'busy', 'rejected', 'failed'] as const
const SIP_CODES = { no_answer: null, busy: 486, rejected: 603, failed: 503 } as const

/** What lines need to live on. */
export interface LineContext {
  readonly agenda: Agenda
  readonly chance: Chance
  readonly behaviour: CallerBehaviour
  readonly notify: (notice: CarrierNotice) => void
}

/** What happens to calls on the line, each step with its notice. */
export function createLineEvents({ agenda, chance, behaviour, notify }: LineContext) {
  const instant = () => new Date(agenda.now()).toISOString()
  const after = (line: Line, seconds: number, run: () => void) =>
    line.cancels.push(agenda.at(agenda.now() + seconds * 1_000, run))
  const keyOf = ({ workspaceId, callId }: Line) => ({ workspaceId, callId })

  function end(line: Line, hungUpBy: 'caller' | 'agent' | 'platform'): void {
    if (line.over) return
    const talks = [...line.up.values()].some(({ record, connected }) => record && connected)
    const recorded = talks && chance.odds(RECORDED)
    line.over = true
    line.up.clear()
    for (const cancel of line.cancels) cancel()
    // The notices come in either order, as from a carrier that saves recordings on another machine.
    const early = chance.odds(0.2)
    if (recorded && early) keep(line)
    notify({ type: 'call-ended', ...keyOf(line), hungUpBy, recorded, at: instant() })
    if (recorded && !early) agenda.at(agenda.now() + 1_000 * chance.between(0, 5), () => keep(line))
  }

  /** Saves the recording of a talk, which then expires after a while. */
  function keep(line: Line): void {
    notify({
      type: 'recording-saved',
      ...keyOf(line),
      carrierRecordingId: `recording-${line.callId}`,
      format: 'wav',
      channels: 1,
      durationSeconds: 1,
      expiresAt: new Date(agenda.now() + RECORDING_LIFE_MS).toISOString(),
      at: instant(),
    })
  }

  function answer(line: Line, attempt: number): void {
    const dial = line.up.get(attempt)
    if (line.over || !dial) return
    dial.connected = true
    notify({ type: 'dial-answered', ...keyOf(line), attempt, whisperAccepted: null, at: instant() })
    after(line, chance.between(...behaviour.talk), () => end(line, chance.odds(0.5) ? 'caller' : 'agent'))
  }

  function fail(line: Line, attempt: number): void {
    if (line.over || !line.up.delete(attempt)) return
    const outcome = chance.among(FAILURES)
    const failure = { outcome, sipCode: SIP_CODES[outcome], retryAfterSeconds: null, whisperAccepted: null }
    notify({ type: 'dial-failed', ...keyOf(line), attempt, ...failure, at: instant() })
  }

  return { after, keyOf, instant, end, answer, fail }
}
