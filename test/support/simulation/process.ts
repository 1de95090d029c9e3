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

/** The ports that outlive a process, and its scheduler. */
export interface SharedPorts {
  readonly log: EventLog
  readonly ops: OperationalStore
  readonly views: ReadStore
  readonly commands: Pick<Carrier, 'dial' | 'release'>
  readonly agenda: Agenda
  readonly steps: PendingCalls
  /** Whether a port is unavailable now. */
  readonly isUnavailable: (port: PortName) => boolean
}

/** A bug that is put into a process from outside, to show that the simulation finds it. */
export interface Bug {
  readonly name: string
  /** Commands that replace the real ones, by name. */
  readonly commands?: Readonly<Record<string, AnyCommand>>
  /** Replaces the tools of the reactions while they recover unfinished work. */
  readonly recovery?: (tools: NumberTools) => NumberTools
}

/** A process of the platform: writer, reactions, scheduled jobs, projections and queries over shared ports. */
export interface SimulatedProcess {
  readonly name: string
  /** Identifies the process in its pending calls. */
  readonly owner: object
  /** Handles a notice of the carrier; resolves once its outcome is durable. */
  readonly listen: (notice: CarrierNotice) => Promise<void>
  readonly handle: (command: AnyCommand, input: unknown, call: CommandContext) => Promise<CommandResult | Refusal>
  readonly ask: QueryRunner['run']
  /** Reactions and projections that have halted, each with the reason. */
  readonly halted: () => readonly string[]
  readonly alive: () => boolean
  /** Kills the process at once. */
  readonly kill: () => void
}

/** The read models of calls, counters and money. Those of configuration alone need no simulation. */
export const simulatedProjections: readonly AnyProjection[] = projections.filter(({ events }) =>
  [ledger, call, wallet].some((entity) => Object.keys(entity.events).some((type) => type in events)),
)

/** Port calls that wait for their turn. All others only read, and pass at once. */
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

/** A log whose tail subscription is delayed too. */
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

/** Starts a process over shared ports. */
export function startProcess(
  machine: SharedPorts,
  {
    name,
    seed,
    skewMs,
    bug,
  }: { readonly name: string; readonly seed: number; readonly skewMs: number; readonly bug: Bug | null },
): SimulatedProcess {
  const { agenda, steps, isUnavailable } = machine
  const owner = {}
  let alive = true
  const clock = processClock(agenda, () => alive, skewMs)
  const random = simulatedRandom(seed, clock)
  /** Calls of a dead process never resolve. */
  const turn = (port: PortName, step: string) =>
    alive ? steps.turn(owner, port, step) : new Promise<undefined>(() => undefined)
  const interfering =
    (port: PortName): FaultPlan =>
    (method) => {
      const step = `${port}.${method}`
      if (TURNS.has(step) || !alive) return turn(port, step)
      return isUnavailable(port) ? 'fail' : undefined
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
      // The process does nothing any more. The signal lets the runtime drop what still waits.
      stop.abort()
      void workers.close()
    },
  }
}
