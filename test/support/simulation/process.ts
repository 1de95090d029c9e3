import { pino } from 'pino'
import { recordArrival } from '../../../commands/calls/record-arrival.ts'
import { queueDelivery } from '../../../commands/delivery/queue-delivery.ts'
import { releaseCall } from '../../../commands/routing/release-call.ts'
import { workspace } from '../../../src/domain/configuration/workspace.ts'
import { delivery } from '../../../src/domain/delivery/delivery.ts'
import { WEBHOOK } from '../../../src/domain/shared/limits.ts'
import { sleep } from '../../../src/kernel/async/sleep.ts'
import type { AnyCommand } from '../../../src/kernel/command.ts'
import type { Refusal } from '../../../src/kernel/refusal.ts'
import { createPlatformEffects, type PlatformEffects } from '../../../src/main/platform-effects.ts'
import { followed, queries } from '../../../src/main/registry.ts'
import { runWorkers } from '../../../src/main/workers.ts'
import type { CarrierNotice } from '../../../src/ports/carrier.ts'
import type { CommandContext, CommandResult } from '../../../src/ports/command-handler.ts'
import { START } from '../../../src/ports/event-log.ts'
import type { Secrets } from '../../../src/ports/secrets.ts'
import { createBidders } from '../../../src/reactions/ask-bidders.ts'
import { createWinConfirmer } from '../../../src/reactions/confirm-win.ts'
import { createDeliveryStore } from '../../../src/reactions/delivery-store.ts'
import type { NumberTools } from '../../../src/reactions/number-orders.ts'
import { createOffers } from '../../../src/reactions/offers.ts'
import type { AuctionPorts } from '../../../src/reactions/tools.ts'
import { createEndpointOpener } from '../../../src/reactions/webhook-queues.ts'
import { withColumns } from '../../../src/runtime/columns/column-store.ts'
import { sharedEntries } from '../../../src/runtime/entries/entry-cache.ts'
import { POOLS } from '../../../src/runtime/ownership/leases.ts'
import { createOwnership } from '../../../src/runtime/ownership/ownership.ts'
import { enter, ownerName, versionsOf } from '../../../src/runtime/ownership/presence.ts'
import { withActiveBuilds } from '../../../src/runtime/projections/active-builds.ts'
import { createCheckpointTracker } from '../../../src/runtime/projections/checkpoint-tracker.ts'
import { runProjections } from '../../../src/runtime/projections/projection-runner.ts'
import { withExpiredHidden } from '../../../src/runtime/queries/hide-expired.ts'
import { createQueryRunner, type QueryRunner } from '../../../src/runtime/queries/query-runner.ts'
import { createStreamWriter, type StreamWriter } from '../../../src/runtime/write/stream-writer.ts'
import { lookUpIn } from '../fixtures/look-up-in.ts'
import { createSimulatedEgress } from './bidders.ts'
import { chanceFrom, simulatedRandom } from './chance.ts'
import type { CodeVersion } from './code-version.ts'
import { openPorts, type SharedPorts } from './process-ports.ts'
import { createPublisherDesk, type PublisherDesk } from './publisher-desk.ts'
import { processClock } from './time.ts'

/** A bug that is put into a process from outside, to show that the simulation finds it. */
export interface Bug {
  readonly name: string
  /** Commands that replace the real ones, by name. */
  readonly commands?: Readonly<Record<string, AnyCommand>>
  /** Replaces the tools of the reactions while they recover unfinished work. */
  readonly recovery?: (tools: NumberTools) => NumberTools
}

/** A process of the platform: writer, publishers' desk, reactions, scheduled jobs, projections and queries over shared ports. */
export interface SimulatedProcess {
  readonly name: string
  readonly code: CodeVersion
  /** Identifies the process in its pending calls. */
  readonly owner: object
  /** Takes the requests of publishers. */
  readonly publishers: PublisherDesk
  /** Handles a notice of the carrier; resolves once its outcome is durable. */
  readonly listen: (notice: CarrierNotice) => Promise<void>
  readonly handle: (command: AnyCommand, input: unknown, call: CommandContext) => Promise<CommandResult | Refusal>
  readonly ask: QueryRunner['run']
  /** The position that reads of these projections reflect. */
  readonly reached: (names: readonly string[]) => number
  /**
   * Reactions and projections that have halted, each with the reason. `beside`: a newer version writes beside it, so lanes
   * that end at an event of a later version are as they should be.
   */
  readonly halted: (beside?: boolean) => readonly string[]
  readonly alive: () => boolean
  /** Kills the process at once. */
  readonly kill: () => void
  /** Suspends the process until an instant (ms). */
  readonly standStill: (until: number) => void
  readonly isStill: () => boolean
  readonly hasStoodStill: () => boolean
}

const withBug = (writer: StreamWriter, bug: Bug | null): StreamWriter => ({
  ...writer,
  handle: (command, input, call) => writer.handle(bug?.commands?.[command.name] ?? command, input, call),
})

/** Commands of the first step after a call was decided on, of the last after it ended, and of telling endpoints of it. */
const POISONED: ReadonlySet<string> = new Set([recordArrival, releaseCall, queueDelivery].map(({ name }) => name))

const callOf = (input: unknown) => Object(input).callId ?? Object(input).arrival?.callId

/** A writer that fails at these commands for poisoned calls. */
function withPoison(writer: StreamWriter, isPoisoned: (callId: unknown) => boolean): StreamWriter {
  const handle: StreamWriter['handle'] = async (command, input, call) => {
    if (POISONED.has(command.name) && isPoisoned(callOf(input))) throw new Error('The call is poisoned.')
    return writer.handle(command, input, call)
  }
  return { ...writer, handle }
}

/** Events between two marks of a long stream: few, so that snapshots are saved and read in every run. */
const MARK_EVERY = 32

/** Limits so low that every run makes, merges and drops segments. */
const SMALL_COLUMNS = { memoryBytes: 32_768, segmentRows: 8, mergeRows: 4, pageRows: 3 }

/** Nothing is sealed in the simulation. */
const SECRETS: Secrets = {
  seal: (text) => text,
  unseal: (sealed) => sealed,
  mac: (purpose, text) => `${purpose} ${text}`,
  derive: (purpose) => purpose,
}

interface ProcessOptions {
  readonly name: string
  readonly code: CodeVersion
  readonly seed: number
  readonly skewMs: number
  readonly shards: number
  readonly bug: Bug | null
}

/** How often a process tries to enter while the store is unavailable (ms). */
const ENTER_EVERY_MS = 500

/** Starts a process over shared ports. */
export function startProcess(
  ports: SharedPorts,
  { name, code, seed, skewMs, shards, bug }: ProcessOptions,
): SimulatedProcess {
  const owner = {}
  const member = ownerName(name, String(seed))
  let alive = true
  let stillUntil = 0
  const clock = processClock(ports.agenda, { alive: () => alive, stillUntil: () => stillUntil }, skewMs)
  const random = simulatedRandom(seed, clock)
  const { log, ops, store, carrier, receivers } = openPorts(ports, owner, {
    name,
    isAlive: () => alive,
    hasStoodStill: () => stillUntil > 0,
    clock,
  })
  const parts = { specs: code.columns, files: ports.files, clock, random, limits: SMALL_COLUMNS }
  const stored = withActiveBuilds(withColumns(store, parts), clock)
  const views = code.views(withExpiredHidden(stored, code.projections, clock))
  const lookUp = lookUpIn(log, store, clock, code)
  const plain = code.writer(createStreamWriter({ log, ops, clock, random, lookUp, markEvery: MARK_EVERY }))
  const writer = withBug(withPoison(plain, ports.isPoisoned), bug)
  const configuration = (workspaceId: string) => writer.stateOf(workspace, workspaceId)
  const outside = { egress: createSimulatedEgress(chanceFrom(seed), clock), secrets: SECRETS, configuration }
  const auctions: AuctionPorts = {
    askBidders: createBidders({ ...outside, random }),
    confirmWin: createWinConfirmer({ ...outside, clock }),
    offers: createOffers({ entries: sharedEntries(ops), clock, writer }),
  }
  const flow: PlatformEffects = createPlatformEffects({
    log,
    upcasts: code.upcasts,
    deliveries: createDeliveryStore({ views, ops, clock }),
    auctions,
    writer,
    carrier: () => carrier,
    clock,
    claims: { ops, owner: member },
    onFailure: () => undefined,
  })
  const stop = new AbortController()
  const openEndpoint = createEndpointOpener({
    givenUp: stop.signal,
    run: flow.tools.run,
    egress: receivers,
    secrets: SECRETS,
    ops,
    views,
    clock,
    httpsOnly: false,
    configuration: (workspaceId) => writer.recentStateOf(workspace, workspaceId, WEBHOOK.foldAgeMs),
    deliveryOf: (workspaceId, deliveryId) => writer.stateOf(delivery, deliveryId, workspaceId),
  })
  const positions = createCheckpointTracker(clock)
  const recovering = bug?.recovery ? { ...flow, tools: bug.recovery(flow.tools) } : flow
  const logger = pino({ level: 'silent' })
  const startRunners = () => ({
    projector: runProjections({
      log,
      store,
      ownership: createOwnership({ ops, clock, owner: member, pool: POOLS.projections }),
      projections: ports.simulated(code),
      shards,
      upcasts: code.upcasts,
      clock,
      signal: stop.signal,
      indexedByPosition: followed,
      onProgress({ name: projection, position, range, readable }) {
        positions.setReadable(projection, readable)
        if (readable) positions.advance(projection, position, range)
      },
    }),
    workers: runWorkers({
      openEndpoint,
      log,
      ops,
      views,
      effects: recovering,
      clock,
      owner: member,
      shards,
      logger,
    }),
  })
  let runners: ReturnType<typeof startRunners> | null = null
  /** Enters the processes that share the stores, as soon as they answer, and then works. */
  const start = async () => {
    for (let entered = false; !entered && alive; ) {
      entered = await enter({ ops, clock, owner: member, reads: versionsOf(code.projections) }).then(
        () => true,
        () => false,
      )
      if (!entered) await sleep(clock, ENTER_EVERY_MS, stop.signal)
    }
    if (alive) runners = startRunners()
  }
  void start()
  const runner = createQueryRunner({
    queries,
    ports: { views, ops, publicUrl: 'http://localhost', secrets: SECRETS },
    positions,
  })
  return {
    name,
    code,
    owner,
    publishers: createPublisherDesk({ auctions, writer, effects: flow, ops, clock, random }),
    listen: flow.handleCarrierNotice,
    handle: flow.handle,
    ask: runner.run,
    reached: (names) => positions.lowestOf(names) ?? START,
    halted: (beside = false) =>
      [...(runners?.projector.status() ?? []), ...(runners?.workers.status() ?? [])]
        .filter(({ state }) => state === 'halted' || (state === 'outdated' && !beside))
        .map((one) => `${one.name} has halted: ${one.problem}`),
    alive: () => alive,
    standStill(until) {
      stillUntil = until
    },
    isStill: () => stillUntil > ports.agenda.now(),
    hasStoodStill: () => stillUntil > 0,
    kill() {
      alive = false
      // The process does nothing any more. The signal lets the runtime drop what still waits.
      stop.abort()
      void runners?.workers.close()
    },
  }
}
