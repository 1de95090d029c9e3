import type { Carrier, CarrierNotice, DialCommand, ReleaseCommand } from '../../../src/ports/carrier.ts'
import type { Chance } from './chance.ts'
import type { Agenda } from './time.ts'

/** A call as the carrier has it. */
interface Line {
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

/** A call that is placed on the carrier. */
export interface PlacedCall {
  readonly workspaceId: string
  readonly callId: string
  readonly to: string
  readonly from: string | null
}

/** The carrier outside the platform. It never crashes, and executes each command once. */
export interface SimulatedCarrier {
  readonly place: (call: PlacedCall) => void
  readonly commands: Pick<Carrier, 'dial' | 'release'>
  /** Number of calls on the line. */
  readonly liveCalls: () => number
  /** A sentence for each command that no carrier may be given. */
  readonly violations: readonly string[]
}

const MOST_SECONDS = 1_200
/** Share of the talks with recording on that leave a recording, and how long (ms) it can be fetched. */
const RECORDED = 0.7
const RECORDING_LIFE_MS = 30 * 24 * 3_600_000
const RELEASE_SECONDS: Readonly<Record<ReleaseCommand['action']['kind'], number>> = {
  hangup: 0,
  message: 5,
  forward: 30,
}
const FAILURES = ['no_answer', 'busy', 'rejected', 'failed'] as const
const SIP_CODES = { no_answer: null, busy: 486, rejected: 603, failed: 503 } as const

/** Creates a carrier. `notify` delivers its notices, retrying until they are accepted. */
export function createSimulatedCarrier(options: {
  readonly agenda: Agenda
  readonly chance: Chance
  readonly behaviour: CallerBehaviour
  /** The number of calls that each target may have at once. */
  readonly lineCaps: ReadonlyMap<string, number>
  readonly notify: (notice: CarrierNotice) => void
}): SimulatedCarrier {
  const { agenda, chance, behaviour, lineCaps, notify } = options
  const lines = new Map<string, Line>()
  const taken = new Set<string>()
  const violations: string[] = []
  const instant = () => new Date(agenda.now()).toISOString()
  const after = (line: Line, seconds: number, run: () => void) =>
    line.cancels.push(agenda.at(agenda.now() + seconds * 1_000, run))
  const keyOf = ({ workspaceId, callId }: Line) => ({ workspaceId, callId })

  const liveOn = (targetId: string) =>
    [...lines.values()].flatMap(({ up }) => [...up.values()]).filter((dial) => dial.targetId === targetId).length

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
    const told = { outcome, sipCode: SIP_CODES[outcome], retryAfterSeconds: null, whisperAccepted: null }
    notify({ type: 'dial-failed', ...keyOf(line), attempt, ...told, at: instant() })
  }

  async function dial({
    commandId,
    carrierCallId,
    attempt,
    targetId,
    ringSeconds,
    record,
  }: DialCommand): Promise<void> {
    const line = lines.get(carrierCallId)
    if (taken.has(commandId) || !line || line.over) return
    taken.add(commandId)
    if (line.up.size > 0) violations.push(`${line.callId} was to dial ${targetId} while it had another target`)
    if (line.released) violations.push(`${line.callId} was to dial ${targetId} after it was let go`)
    line.up.set(attempt, { targetId, record, connected: false })
    const cap = lineCaps.get(targetId)
    if (cap !== undefined && liveOn(targetId) > cap)
      violations.push(`${targetId} was to be dialled over its ${cap} at once`)
    const answers = chance.odds(behaviour.answers)
    const rings = chance.between(0, Math.max(0, ringSeconds - 1))
    after(line, rings, () => (answers ? answer(line, attempt) : fail(line, attempt)))
  }

  async function release({ commandId, carrierCallId, action }: ReleaseCommand): Promise<void> {
    const line = lines.get(carrierCallId)
    if (taken.has(commandId) || !line || line.over) return
    taken.add(commandId)
    line.released = true
    after(line, RELEASE_SECONDS[action.kind], () => end(line, 'platform'))
  }

  return {
    violations,
    commands: { dial, release },
    place({ workspaceId, callId, to, from }) {
      const carrierCallId = `line-${callId}`
      const line: Line = {
        workspaceId,
        callId,
        carrierCallId,
        over: false,
        up: new Map(),
        released: false,
        cancels: [],
      }
      lines.set(carrierCallId, line)
      const told = { ...keyOf(line), carrierCallId, to, from, sipHeaders: {}, at: instant() }
      notify({ type: 'call-arrived', ...told })
      after(line, chance.between(...behaviour.patience), () => {
        if (![...line.up.values()].some(({ connected }) => connected)) end(line, 'caller')
      })
      after(line, MOST_SECONDS, () => end(line, 'caller'))
    },
    liveCalls: () => [...lines.values()].filter(({ over }) => !over).length,
  }
}
