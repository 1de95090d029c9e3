import type { Logger } from 'pino'
import { openHttpServer } from '../adapters/http/server.ts'
import { openSimulator, type Simulator } from '../adapters/simulator/simulator.ts'
import type { ApiRoute } from '../ports/api.ts'
import { type EventLog, START } from '../ports/event-log.ts'
import { createStreamWriter, type StreamWriter } from '../runtime/stream-writer.ts'
import { authenticator, secretHash } from './access.ts'
import { needingReadStore, queryRoutes, type ReadBack, readBack } from './api.ts'
import type { Config } from './config.ts'
import { createFlow, type Flow } from './flow.ts'
import { idempotent } from './idempotent.ts'
import { createMetrics } from './metrics.ts'
import { openReadSide, type ReadSide } from './read-side.ts'
import { createReadiness } from './readiness.ts'
import { createRecall } from './recall.ts'
import { projections, queries } from './registry.ts'
import { sandboxRoutes } from './sandbox.ts'
import { createSecrets } from './secrets.ts'
import { openLog, openOperations } from './stores.ts'
import { systemClock as clock, systemRandom as random } from './system.ts'
import { NO_WORKERS, runWorkers } from './workers.ts'
import { writeRoutes } from './write-routes.ts'

/** How long a stopping process waits for what it has accepted. */
const STOP_MS = 10_000

/** A running process of the platform. */
export interface App {
  readonly log: EventLog
  readonly writer: StreamWriter
  readonly flow: Flow
  readonly readSide: ReadSide
  readonly simulator: Simulator
  /** Waits until events of these types up to the newest can be read back. */
  readonly readBack: (types: readonly string[]) => Promise<ReadBack>
  /** Answers requests from now on; resolves to the address. */
  readonly listen: () => Promise<string>
  readonly openapi: () => object
  /** Finishes what was accepted, and ends. */
  readonly close: () => Promise<void>
}

/**
 * Puts a process together from its configuration: the roles that it has, over the stores that it names.
 * `unprepared` says what still keeps it from being ready.
 */
export async function openApp(
  config: Config,
  logger: Logger,
  unprepared: () => readonly string[] = () => [],
): Promise<App> {
  const { eventLogUrl, readStoreUrl, roles } = config
  const owner = random.uuid()
  const secrets = createSecrets(config.masterKey, random)
  const log = await openLog(eventLogUrl)
  const ops = await openOperations(readStoreUrl)
  const publicUrl = config.publicUrl ?? `http://${config.host}:${config.port}`
  const readSide = await openReadSide({
    eventLogUrl,
    readStoreUrl,
    publicUrl,
    projects: roles.has('projector'),
    onDeath: (error) => logger.fatal({ error: error.message }, 'a reading thread has ended'),
  })
  const { positions, views } = readSide
  const metrics = createMetrics(async () => readSide.projections?.() ?? [])
  const writer = createStreamWriter({ log, ops, clock, random, recall: createRecall(log, views, clock) })
  const flow = createFlow({
    writer,
    carrier: () => simulator,
    clock,
    onFailure: ({ type, stream }, error) => {
      metrics.stepFailed()
      logger.warn(
        { type, stream, error: error instanceof Error ? error.message : String(error) },
        'left to the reaction',
      )
    },
  })
  const simulator: Simulator = await openSimulator({ log, ops, clock, random, owner, listener: flow.listen })

  const workers = roles.has('worker') ? runWorkers({ log, ops, views, flow, clock, owner, logger }) : NO_WORKERS

  const names = projections.map(({ name }) => name)
  const readBackOf = async (types: readonly string[]) => readBack(positions, projections, types, await log.head())
  const routes: readonly ApiRoute[] = [
    ...(roles.has('query-api') ? queryRoutes(queries, readSide.queries, clock) : []),
    ...(roles.has('command-api')
      ? needingReadStore(
          [
            ...sandboxRoutes({ writer, simulator, clock, random, readBack: readBackOf }),
            ...writeRoutes({
              writer,
              queries: readSide.queries,
              positions,
              projections,
              views,
              carrier: () => simulator,
              ops,
              secrets,
              clock,
              random,
            }),
          ],
          views,
        )
      : []),
  ]
  const server = await openHttpServer({
    title: 'Ringledger',
    version: '1.0.0',
    routes: routes
      .filter(({ surface }) => surface !== 'operator' || config.operatorToken !== null)
      .map((route) => (route.write ? idempotent(route, { ops, secrets, clock }) : route)),
    authenticate: authenticator(readSide.directory, clock, config.operatorToken && secretHash(config.operatorToken)),
    position: () => positions.least(names) ?? START,
    readiness: createReadiness(readSide, log, workers, unprepared, clock),
    metrics: metrics.render,
    metricsToken: config.metricsToken,
    log: logger,
    clock,
    random,
    trustProxy: config.trustProxy,
    unavailableAfterSeconds: 1,
    pressure: { maxEventLoopDelay: 5_000 },
    observe: metrics.observe,
  })

  return {
    log,
    writer,
    flow,
    readSide,
    simulator,
    readBack: readBackOf,
    openapi: server.openapi,
    async listen() {
      const port = await server.listen(config.port, config.host)
      const host = config.host.includes(':') ? `[${config.host}]` : config.host
      return config.publicUrl ?? `http://${host}:${port}`
    },
    async close() {
      await server.close(STOP_MS)
      await workers.close()
      await simulator.close()
      await writer.close()
      await readSide.close()
      await Promise.all([log.close(), ops.close()])
    },
  }
}
