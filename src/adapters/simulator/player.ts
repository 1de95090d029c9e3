import { versionOf } from '../../kernel/entity.ts'
import type { NewEvent, RecordedEvent } from '../../kernel/event.ts'
import { dialResultOf, entryFor, STAYS_SECONDS, scriptKeyOf } from '../../ports/call-script.ts'
import type { CarrierNotice, DialCommand, ReleaseCommand } from '../../ports/carrier.ts'
import type { Clock } from '../../ports/clock.ts'
import type { EventLog } from '../../ports/event-log.ts'
import type { Random } from '../../ports/random.ts'
import { StoreUnavailable } from '../../ports/read-store.ts'
import type { Secrets } from '../../ports/secrets.ts'
import type { PlacedCall } from '../../ports/simulated-carrier.ts'
import { unsealHeaders } from './headers.ts'
import { recordingOf } from './recordings.ts'
import { type SimulatedCallState, simulatedCall } from './simulated-call.ts'

/** What a played call needs. */
export interface PlayerPorts {
  readonly log: EventLog
  readonly clock: Clock
  readonly random: Random
  readonly secrets: Pick<Secrets, 'seal' | 'unseal'>
  /** Takes what the carrier tells; resolves when it is durable. */
  readonly listener: (notice: CarrierNotice) => Promise<void>
}

/** One simulated call being played by this process. */
export interface Player {
  readonly dial: (command: DialCommand) => Promise<void>
  readonly release: (command: ReleaseCommand) => Promise<void>
  /** Tells the platform of the arrival, or goes on where the stored call stands. Resolves when the platform has it. */
  readonly start: () => Promise<void>
  /** Resolves when this process is done with the call: true when it is over, false when it was let go of. */
  readonly over: Promise<boolean>
  readonly stop: () => void
}

const RETRY_MS = 250

/**
 * Plays a call from where its stored state stands. Everything that happens has its instant on the carrier's own clock,
 * fixed when it is decided: a live call waits for it, an instant one does not.
 */
export function createPlayer(
  ports: PlayerPorts,
  start: { readonly state: SimulatedCallState; readonly revision: number; readonly placed: PlacedCall },
): Player {
  const { log, clock, random, listener } = ports
  const { placed } = start
  const { workspaceId, callId, carrierCallId } = placed
  const stream = `${simulatedCall.name}-${carrierCallId}`
  let { state, revision } = start
  let writes = Promise.resolve()
  let cancels: (() => void)[] = []
  let stopped = false
  const { promise: over, resolve: resolveOver } = Promise.withResolvers<boolean>()

  const stop = () => {
    stopped = true
    for (const cancel of cancels) cancel()
    cancels = []
    resolveOver(state.ended)
  }

  const letGo = () => new StoreUnavailable(`This process does not play the simulated call ${carrierCallId} any more.`)

  const plus = (instant: string, seconds: number) =>
    new Date(Date.parse(instant) + (seconds * 1_000) / placed.speed).toISOString()

  /** @throws StoreUnavailable when this process no longer plays the call: whoever does takes it up from the log */
  async function write(event: NewEvent): Promise<void> {
    if (stopped) throw letGo()
    const recorded: RecordedEvent = {
      ...event,
      stream,
      revision: revision + 1,
      position: -1,
      version: versionOf(simulatedCall, event.type),
      meta: {
        eventId: random.uuid(),
        workspaceId,
        at: new Date(clock.now()).toISOString(),
        actor: { type: 'carrier', id: null, name: 'Simulated carrier' },
        commandId: carrierCallId,
        correlationId: callId,
        causationId: null,
        surface: 'carrier',
        ip: null,
      },
    }
    const result = await log.append(stream, revision, [recorded])
    if (!result.ok) {
      // Another process plays this call now, or an append that was not answered has landed.
      stop()
      throw letGo()
    }
    revision += 1
    const evolve = simulatedCall.evolve as Readonly<
      Record<string, (state: SimulatedCallState, event: RecordedEvent) => SimulatedCallState>
    >
    state = evolve[event.type]?.(state, recorded) ?? state
  }

  /** One write after the other, in the order asked. */
  function inTurn<Result>(step: () => Promise<Result>): Promise<Result> {
    const done = writes.then(step)
    writes = done.then(
      () => undefined,
      () => undefined,
    )
    return done
  }

  function when(instant: string, step: () => Promise<void>): void {
    const attempt = () => {
      if (stopped) return
      // A platform that is away is told again, as carriers do.
      step().catch(() => {
        if (stopped) return
        cancels.push(clock.schedule(clock.now() + RETRY_MS, attempt))
      })
    }
    if (placed.mode === 'instant') queueMicrotask(attempt)
    else cancels.push(clock.schedule(Date.parse(instant), attempt))
  }

  const key = { workspaceId, callId }

  const tellArrival = () =>
    listener({
      type: 'call-arrived',
      ...key,
      carrierCallId,
      to: placed.to,
      from: placed.from,
      sipHeaders: unsealHeaders(placed.sipHeaders, ports.secrets),
      seed: placed.seed,
      at: placed.arrivesAt,
    })

  async function tellEnd(): Promise<void> {
    const { ends } = state
    if (!ends || state.ended) return
    const recording = recordingOf(state)
    await listener({ type: 'call-ended', ...key, hungUpBy: ends.hungUpBy, recorded: recording !== null, at: ends.at })
    if (recording) {
      const { carrierRecordingId, ms, expiresAt, savedAt: at } = recording
      const sound = { format: 'wav', channels: 1, durationSeconds: Math.round(ms / 1_000) } as const
      await listener({ type: 'recording-saved', ...key, carrierRecordingId, ...sound, expiresAt, at })
    }
    await inTurn(async () => {
      if (!state.ended) await write({ type: 'SimulatedCallEnded', data: ends })
    })
    stop()
  }

  /** Plans the end that is due first. A later plan for an earlier instant comes in time; the first to come ends the call. */
  function planEnd(): void {
    const { ends } = state
    if (ends) when(ends.at, tellEnd)
  }

  type Dial = SimulatedCallState['dials'][number]

  async function tellResult({ attempt, answered, outcome, ...dial }: Dial): Promise<void> {
    if (state.ended) return
    const { whisperAccepted, resultAt: at } = dial
    if (answered) await listener({ type: 'dial-answered', ...key, attempt, whisperAccepted, at })
    else if (outcome) {
      const { sipCode, retryAfterSeconds } = dial
      await listener({ type: 'dial-failed', ...key, attempt, outcome, sipCode, retryAfterSeconds, whisperAccepted, at })
    }
    // Between the dials of an instant call no time passes: only an answer lets it come to its end.
    if (answered || placed.mode === 'live') planEnd()
  }

  /** Plans what a dial leads to, unless the caller is gone before it comes to that. Who answers and hangs up at once has answered. */
  function planResult(dial: Dial): void {
    const { givesUpAt } = placed
    if (givesUpAt !== null && givesUpAt <= dial.resultAt) planEnd()
    else when(dial.resultAt, () => tellResult(dial))
  }

  return {
    over,
    stop,
    async start() {
      const last = state.dials.at(-1)
      if (state.commands.length > state.dials.length) return planEnd()
      if (last) return planResult(last)
      if (placed.mode === 'live') planEnd()
      try {
        await tellArrival()
      } catch (error) {
        // Whether the platform has it is not known: it is told again until it says so.
        const { mode } = placed
        when(new Date(clock.now() + (mode === 'live' ? RETRY_MS : 0)).toISOString(), tellArrival)
        throw error
      }
    },
    dial: (command) =>
      inTurn(async () => {
        if (state.ended || state.commands.includes(command.commandId)) return
        const dialled = {
          targetId: command.targetId,
          destination: command.destination,
          ringSeconds: command.ringSeconds,
          acceptDigit: command.whisper?.acceptDigit ?? null,
        }
        const known = scriptKeyOf(placed.script, dialled)
        const nth = state.dials.filter(({ scripted }) => scripted === known).length
        const result = dialResultOf(entryFor(placed.script, dialled, nth), dialled)
        const resultAt = plus(command.at, result.afterSeconds)
        const taken: Dial = {
          commandId: command.commandId,
          attempt: command.attempt,
          targetId: command.targetId,
          scripted: known,
          answered: result.answered,
          outcome: result.answered ? null : result.outcome,
          sipCode: result.answered ? null : result.sipCode,
          retryAfterSeconds: result.answered ? null : result.retryAfterSeconds,
          whisperAccepted: result.whisperAccepted,
          resultAt,
          ends: result.answered ? { at: plus(resultAt, result.talkSeconds), hungUpBy: result.hungUpBy } : null,
          record: command.record,
        }
        await write({ type: 'SimulatedDialTaken', data: taken })
        planResult(taken)
      }),
    release: ({ commandId, action, at }) =>
      inTurn(async () => {
        if (state.ended || state.commands.includes(commandId)) return
        const ends = { at: plus(at, STAYS_SECONDS[action.kind]), hungUpBy: 'platform' as const }
        await write({ type: 'SimulatedReleaseTaken', data: { commandId, action: action.kind, ends } })
        planEnd()
      }),
  }
}
