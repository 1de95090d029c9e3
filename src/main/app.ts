import type { Logger } from 'pino'
import { openEgress } from '../adapters/egress/egress.ts'
import type { HttpServer } from '../adapters/http/server.ts'
import type { AuctionDesk } from '../api/auctions/hold-ping.ts'
import { openLiveStream } from '../api/live-stream.ts'
import { awaitProjections, type ReadYourWrites } from '../api/read-your-writes.ts'
import { createSessionCheck } from '../api/session-check.ts'
import { workspace } from '../domain/configuration/workspace.ts'
import { delivery } from '../domain/delivery/delivery.ts'
import { PING, WEBHOOK } from '../domain/shared/limits.ts'
import { parseIpRange } from '../kernel/ip-address.ts'
import type { ApiRoute } from '../ports/api.ts'
import type { EventLog } from '../ports/event-log.ts'
import type { Entries, OperationalStore } from '../ports/operational-store.ts'
import type { Secrets } from '../ports/secrets.ts'
import type { Simulator } from '../ports/simulated-carrier.ts'
import { createBidders } from '../reactions/ask-bidders.ts'
import { createWinConfirmer } from '../reactions/confirm-win.ts'
import type { AuctionPorts } from '../reactions/tools.ts'
import { createEndpointOpener } from '../reactions/webhook-queues.ts'
import type { StreamWriter } from '../runtime/write/stream-writer.ts'
import { openAuctionDesk, openOffers } from './auction-desk.ts'
import { openCarrier } from './carrier.ts'
import type { Config } from './config.ts'
import { openCore, openEffects } from './core.ts'
import { configureHeap } from './heap-settings.ts'
import { type InsertionDesk, openInsertionDesk } from './insertion-desk.ts'
import type { PlatformEffects } from './platform-effects.ts'
import type { ReadSide } from './read-side/read-side.ts'
import type { ReadThreads } from './read-side/read-threads.ts'
import { entities, projections } from './registry.ts'
import { buildRoutes } from './routes.ts'
import { withOwnSandbox } from './sandbox-egress.ts'
import { openServer } from './server.ts'
import { NO_WORKERS, runWorkers } from './workers.ts'

const EVERY_ADDRESS = ['0.0.0.0/0', '::/0'].flatMap((text) => parseIpRange(text) ?? [])

/** Roles whose processes decide on folds. */
const DECIDING_ROLES = ['command-api', 'worker', 'auction-api', 'public-api'] as const

/**
 * What a stopping process waits for (ms from the begin): answers of others' servers, then the rest of its accepted requests. It answers
 * on open connections for the time of the drain. All of a stop has 5 s.
 */
const STOP_MS = { drain: 300, outside: 2_500, requests: 4_000 } as const

/** A running process of the platform. */
export interface App {
  readonly log: EventLog
  readonly writer: StreamWriter
  readonly effects: PlatformEffects
  readonly secrets: Secrets
  readonly auctions: AuctionPorts
  readonly desk: AuctionDesk
  readonly insertion: InsertionDesk
  readonly ops: OperationalStore
  /** This process's name on its leases and claims. */
  readonly owner: string
  /** The entries of offers and leases. */
  readonly entries: Entries
  readonly readSide: ReadSide
  /** Null where the carrier is a real one. */
  readonly simulator: Simulator | null
  /** Waits until events of these types can be read, up to the newest. */
  readonly awaitProjections: (types: readonly string[]) => Promise<ReadYourWrites>
  /** Starts to accept requests; resolves to the base address. */
  readonly listen: () => Promise<string>
  /** The OpenAPI document of one surface, or of all. */
  readonly openapi: HttpServer['openapi']
  /** Every mounted route, as it declares itself. */
  readonly routes: readonly ApiRoute[]
  /** Finishes accepted work, and stops. */
  readonly close: () => Promise<void>
}

/** The address that clients use. */
function addressOf({ publicUrl, host }: Config, port: number): string {
  return publicUrl ?? `http://${host.includes(':') ? `[${host}]` : host}:${port}`
}

/**
 * Opens a process from its configuration: core (stores, read side, writer) → effects and carrier → workers → routes →
 * server, each for the roles that the process has. `unprepared` lists what still keeps it from being ready; `onDeath` is called
 * with one sentence when a thread has died, without which the process is of no use, or when the log has gone back under it.
 */
export async function openApp(
  config: Config,
  logger: Logger,
  {
    unprepared = () => [],
    onDeath = () => undefined,
    threads,
  }: {
    readonly unprepared?: () => readonly string[]
    readonly onDeath?: (sentence: string) => void
    /** The threads of the read side, where they load already. */
    readonly threads?: ReadThreads
  } = {},
): Promise<App> {
  configureHeap()
  let address = addressOf(config, config.port)
  const core = await openCore(config, logger, { onDeath, threads })
  const { log, ops, writer, secrets, cursors, readSide, positions, requestLog, routingKeyUses, clock } = core
  const egress = withOwnSandbox(
    openEgress({ allowed: config.egressAllowed, clock }),
    openEgress({ allowed: EVERY_ADDRESS, clock }),
    () => address,
  )
  const configuration = (workspaceId: string) => writer.stateOf(workspace, workspaceId)
  const askBidders = createBidders({
    egress,
    secrets,
    random: core.random,
    // As the decision that asks has read it: nobody waits for the tail once more.
    configuration: (workspaceId) => writer.recentStateOf(workspace, workspaceId, PING.foldAgeMs),
  })
  const { entries, offers } = await openOffers(config, core)
  const confirmWin = createWinConfirmer({ egress, secrets, clock, configuration })
  const auctions = { askBidders, offers, confirmWin }
  const insertion = openInsertionDesk(config, core, entries)
  const effects = openEffects(core, { carrier: () => carrier.carrier, auctions, leases: insertion.tools }, logger)
  const carrier = await openCarrier(config, { ...core, listener: effects.handleCarrierNotice })
  const outside = new AbortController()
  const openEndpoint = createEndpointOpener({
    givenUp: outside.signal,
    ...core,
    run: effects.tools.run,
    egress,
    httpsOnly: config.production,
    configuration: (workspaceId) => writer.recentStateOf(workspace, workspaceId, WEBHOOK.foldAgeMs),
    // Kept for the command that records the attempt, which then reads nothing.
    deliveryOf: (workspaceId, deliveryId) => writer.recentStateOf(delivery, deliveryId, 0, workspaceId),
  })
  const desk = openAuctionDesk(config, core, effects, auctions)
  const stop = new AbortController()
  if (DECIDING_ROLES.some((role) => config.roles.has(role))) void writer.buildSnapshots(entities, stop.signal)
  const workers = config.roles.has('worker') ? runWorkers({ ...core, openEndpoint, effects, logger }) : NO_WORKERS
  const isSessionValid = createSessionCheck(readSide.credentials, clock)
  const live = openLiveStream({ log, queries: readSide.queries, isSessionValid, cursors, clock })
  const awaitTypes = async (types: readonly string[]) =>
    awaitProjections(positions, projections, types, core.newestAppendOf(types))
  const routes = buildRoutes(config, {
    core,
    carrier,
    effects,
    egress,
    auctions,
    desk,
    insertion,
    live,
    awaitProjections: awaitTypes,
    stopping: stop.signal,
    baseUrl: () => address,
  })
  const server = await openServer(config, core, routes, {
    workers,
    unprepared,
    onDeath,
    baseUrl: () => address,
    logger,
  })

  return {
    log,
    writer,
    effects,
    secrets,
    auctions,
    desk,
    insertion,
    ops,
    owner: core.owner,
    entries,
    readSide,
    simulator: carrier.simulator,
    awaitProjections: awaitTypes,
    openapi: server.openapi,
    routes: routes.served,
    async listen() {
      const port = await server.listen(config.port, config.host)
      address = addressOf(config, port)
      await readSide.setPublicUrl(address)
      return address
    },
    async close() {
      stop.abort()
      const cancel = core.clock.schedule(core.clock.now() + STOP_MS.outside, () => {
        outside.abort()
        void egress.close()
      })
      await core.peers.leave()
      live.close()
      await Promise.all([server.close(STOP_MS.requests, STOP_MS.drain), workers.close()])
      cancel()
      await requestLog.close()
      await carrier.carrier.close()
      await routingKeyUses.close()
      await egress.close()
      await core.peers.close()
      await writer.close()
      await readSide.close()
      await core.presence.leave()
      // What cannot be stored now is restored from the log at the next start.
      await entries.stored().catch(() => undefined)
      await Promise.all([log.close(), ops.close()])
    },
  }
}
