import { pino } from 'pino'
import { call } from '../../../src/domain/calls/call.ts'
import { wallet } from '../../../src/domain/money/wallet.ts'
import { ledger } from '../../../src/domain/routing/ledger.ts'
import type { AnyCommand } from '../../../src/kernel/command.ts'
import type { AnyProjection } from '../../../src/kernel/projection.ts'
import type { Refusal } from '../../../src/kernel/refusal.ts'
import { createPlatformEffects, type PlatformEffects } from '../../../src/main/platform-effects.ts'
import { createLookupLoader } from '../../../src/main/read-side/lookup-loader.ts'
import { columns, followed, projections, queries, upcasts } from '../../../src/main/registry.ts'
import { runWorkers } from '../../../src/main/workers.ts'
import type { CarrierNotice } from '../../../src/ports/carrier.ts'
import type { CommandContext, CommandResult } from '../../../src/ports/command-handler.ts'
import type { NumberTools } from '../../../src/reactions/number-orders.ts'
import { withColumns } from '../../../src/runtime/columns/column-store.ts'
import { withActiveBuilds } from '../../../src/runtime/projections/active-builds.ts'
import { createCheckpointTracker } from '../../../src/runtime/projections/checkpoint-tracker.ts'
import { runProjections } from '../../../src/runtime/projections/projection-runner.ts'
import { createQueryRunner, type QueryRunner } from '../../../src/runtime/queries/query-runner.ts'
import { createStreamWriter, type StreamWriter } from '../../../src/runtime/write/stream-writer.ts'
import { simulatedRandom } from './chance.ts'
import { openPorts, type SharedPorts } from './process-ports.ts'
import { processClock } from './time.ts'

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

const withBug = (writer: StreamWriter, bug: Bug | null): StreamWriter => ({
  ...writer,
  handle: (command, input, call) => writer.handle(bug?.commands?.[command.name] ?? command, input, call),
})

interface ProcessOptions {
  readonly name: string
  readonly seed: number
  readonly skewMs: number
  readonly bug: Bug | null
}

/** Starts a process over shared ports. */
export function startProcess(ports: SharedPorts, { name, seed, skewMs, bug }: ProcessOptions): SimulatedProcess {
  const owner = {}
  let alive = true
  const clock = processClock(ports.agenda, () => alive, skewMs)
  const random = simulatedRandom(seed, clock)
  const { log, ops, store, carrier } = openPorts(ports, owner, () => alive)
  const views = withActiveBuilds(withColumns(store, columns), clock)
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
  const workers = runWorkers({ log, ops, views, effects: recovering, clock, owner: name, logger })
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
