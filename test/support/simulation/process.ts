import { pino } from 'pino'
import { call } from '../../../src/domain/calls/call.ts'
import { wallet } from '../../../src/domain/money/wallet.ts'
import { ledger } from '../../../src/domain/routing/ledger.ts'
import type { AnyCommand } from '../../../src/kernel/command.ts'
import type { AnyProjection } from '../../../src/kernel/projection.ts'
import type { Refusal } from '../../../src/kernel/refusal.ts'
import { createPlatformEffects, type PlatformEffects } from '../../../src/main/effects.ts'
import { createLookupLoader } from '../../../src/main/read-side/lookup-loader.ts'
import { columns, followed, projections, queries, upcasts } from '../../../src/main/registry.ts'
import { runWorkers } from '../../../src/main/workers.ts'
import type { Carrier, CarrierNotice } from '../../../src/ports/carrier.ts'
import { CarrierUnavailable } from '../../../src/ports/carrier-numbers.ts'
import type { CommandContext, CommandResult } from '../../../src/ports/command-handler.ts'
import { type EventLog, LogUnavailable } from '../../../src/ports/event-log.ts'
import type { OperationalStore } from '../../../src/ports/operational-store.ts'
import { type ReadStore, StoreUnavailable } from '../../../src/ports/read-store.ts'
import type { NumberTools } from '../../../src/reactions/number-orders.ts'
import { withColumns } from '../../../src/runtime/columns/column-store.ts'
import { withActiveBuilds } from '../../../src/runtime/projections/active-builds.ts'
import { createCheckpointTracker } from '../../../src/runtime/projections/checkpoint-tracker.ts'
import { runProjections } from '../../../src/runtime/projections/projection-runner.ts'
import { createQueryRunner, type QueryRunner } from '../../../src/runtime/queries/query-runner.ts'
import { createStreamWriter, type StreamWriter } from '../../../src/runtime/write/stream-writer.ts'
import { type FaultPlan, withFaults } from '../faults/with-faults.ts'
import { simulatedRandom } from './chance.ts'
import type { PendingCalls, PortName } from './steps.ts'
import { type Agenda, processClock } from './time.ts'

/** What outlives a process, and the room that it runs in. */
export interface SharedPorts {
  readonly log: EventLog
  readonly ops: OperationalStore
  readonly views: ReadStore
  readonly commands: Pick<Carrier, 'dial' | 'release'>
  readonly agenda: Agenda
  readonly steps: PendingCalls
  /** Whether a port is out of reach at this moment. */
  readonly isAway: (port: PortName) => boolean
}

/** A mistake that is put into a process from outside, to see that it is found. */
export interface Bug {
  readonly name: string
  /** What the process decides by instead, by the command's name. */
  readonly commands?: Readonly<Record<string, AnyCommand>>
  /** What the reactions work with when they take up what was left. */
  readonly recovery?: (tools: NumberTools) => NumberTools
}

/** A process of the platform: writer, flow, reactions, timers, projections and queries over one machine. */
export interface SimulatedProcess {
  readonly name: string
  /** By which its steps are known. */
  readonly owner: object
  /** Takes what the carrier tells; resolves when it is durable. */
  readonly listen: (notice: CarrierNotice) => Promise<void>
  readonly handle: (command: AnyCommand, input: unknown, call: CommandContext) => Promise<CommandResult | Refusal>
  readonly ask: QueryRunner['run']
  /** Reactions and projections that stand still for ever, with why. */
  readonly halted: () => readonly string[]
  readonly alive: () => boolean
  /** Ends it where it stands. */
  readonly kill: () => void
}

/** The read models of calls, counts and money: those of configuration alone are built as well without a simulation. */
export const simulatedProjections: readonly AnyProjection[] = projections.filter(({ events }) =>
  [ledger, call, wallet].some((entity) => Object.keys(entity.events).some((type) => type in events)),
)

/** Calls that take their turn among all others; the rest, which only read, go through at once. */
const TURNS: ReadonlySet<string> = new Set([
  'log.append',
  'log.read',
  'log.readAll',
  'log.follow',
  'ops.claim',
  'ops.putIf',
  'ops.put',
  'ops.release',
  'views.commit',
  'carrier.dial',
  'carrier.release',
])

const UNAVAILABLE: Readonly<Record<PortName, () => Error>> = {
  log: () => new LogUnavailable('The log does not answer.'),
  ops: () => new StoreUnavailable('The operational store does not answer.'),
  views: () => new StoreUnavailable('The read store does not answer.'),
  carrier: () => new CarrierUnavailable('The carrier does not answer.'),
}

/** A log whose tail is late as well. */
function withDelayedTail(log: EventLog, plain: EventLog, turn: () => Promise<unknown>): EventLog {
  return {
    ...log,
    async *follow(after, signal) {
      for await (const page of plain.follow(after, signal)) {
        if ((await turn()) === 'fail') throw UNAVAILABLE.log()
        yield page
      }
    },
  }
}

const withBug = (writer: StreamWriter, bug: Bug | null): StreamWriter => ({
  ...writer,
  handle: (command, input, call) => writer.handle(bug?.commands?.[command.name] ?? command, input, call),
})

/** Starts a process over a machine. */
export function startProcess(
  machine: SharedPorts,
  {
    name,
    seed,
    skewMs,
    bug,
  }: { readonly name: string; readonly seed: number; readonly skewMs: number; readonly bug: Bug | null },
): SimulatedProcess {
  const { agenda, steps, isAway } = machine
  const owner = {}
  let alive = true
  const clock = processClock(agenda, () => alive, skewMs)
  const random = simulatedRandom(seed, clock)
  /** What a dead process still waits for never comes. */
  const turn = (port: PortName, step: string) =>
    alive ? steps.turn(owner, port, step) : new Promise<undefined>(() => undefined)
  const interfering =
    (port: PortName): FaultPlan =>
    (method) => {
      const step = `${port}.${method}`
      if (TURNS.has(step) || !alive) return turn(port, step)
      return isAway(port) ? 'fail' : undefined
    }
  const reaching = <Port extends object>(port: PortName, plain: Port) =>
    withFaults(plain, UNAVAILABLE[port], interfering(port))
  const log = withDelayedTail(reaching('log', machine.log), machine.log, () => turn('log', 'log.follow'))
  const ops = reaching('ops', machine.ops)
  const store = reaching('views', machine.views)
  const views = withActiveBuilds(withColumns(store, columns), clock)
  const dialling = reaching('carrier', machine.commands)
  const carrier: Carrier = {
    name: 'Simulated from outside',
    dial: (command) => dialling.dial(command),
    release: (command) => dialling.release(command),
    probe: async () => ({ outcome: 'answered', sipCode: null, ms: 0 }),
    numbers: null,
    recordings: { open: async () => null },
    close: async () => undefined,
  }
  const writer = withBug(
    createStreamWriter({ log, ops, clock, random, lookUp: createLookupLoader(log, views, clock) }),
    bug,
  )
  const flow: PlatformEffects = createPlatformEffects({
    writer,
    carrier: () => carrier,
    clock,
    claims: { ops, owner: name },
    onFailure: () => undefined,
  })
  const positions = createCheckpointTracker(clock)
  const stop = new AbortController()
  const projector = runProjections({
    log,
    store,
    projections: simulatedProjections,
    upcasts,
    clock,
    signal: stop.signal,
    indexedByPosition: followed,
    onProgress: positions.advance,
  })
  const recovering = bug?.recovery ? { ...flow, tools: bug.recovery(flow.tools) } : flow
  const logger = pino({ level: 'silent' })
  const workers = runWorkers({ log, ops, views, flow: recovering, clock, owner: name, logger })
  const runner = createQueryRunner({
    queries,
    ports: { views, ops, publicUrl: 'http://localhost', secrets: { unseal: (sealed) => sealed } },
    positions,
  })
  const isHalted = ({ state }: { readonly state: string }) => state === 'halted'
  return {
    name,
    owner,
    listen: flow.handleCarrierNotice,
    handle: flow.handle,
    ask: runner.run,
    halted: () =>
      [...projector.status(), ...workers.status()]
        .filter(isHalted)
        .map((one) => `${one.name} has halted: ${one.problem}`),
    alive: () => alive,
    kill() {
      alive = false
      // It can do nothing any more; but the runtime keeps whoever waits for a signal until the signal comes.
      stop.abort()
      void workers.close()
    },
  }
}
