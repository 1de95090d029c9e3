import type { Logger } from 'pino'
import { openEgress } from '../adapters/egress/egress.ts'
import { openHttpServer } from '../adapters/http/server.ts'
import { createSimulatedNumbers } from '../adapters/simulator/numbers.ts'
import { openSimulator, type SimulatorPorts } from '../adapters/simulator/simulator.ts'
import { createAuthenticator } from '../api/access.ts'
import { telnyxRoutes } from '../api/carrier-webhooks.ts'
import { withIdempotency } from '../api/idempotency.ts'
import { openLiveStream } from '../api/live-stream.ts'
import { projectionRoute, projectionRows } from '../api/projection-status.ts'
import { queryRoutes } from '../api/query-routes.ts'
import { awaitProjections, type ReadYourWrites } from '../api/read-your-writes.ts'
import { recordingRoutes } from '../api/recording-audio.ts'
import { createRequestLog } from '../api/request-log.ts'
import { requireReadStore } from '../api/require-read-store.ts'
import { sandboxRoutes } from '../api/sandbox.ts'
import { secretHash } from '../api/secret-hash.ts'
import { createSessionCheck } from '../api/session-check.ts'
import { createSessionRenewal } from '../api/session-renewal.ts'
import { createSignInLimiter } from '../api/sign-in-limiter.ts'
import { writeRoutes } from '../api/write-routes.ts'
import { REQUEST } from '../domain/shared/limits.ts'
import { areaCodes } from '../domain/shared/nanp.ts'
import { errorMessage } from '../kernel/async/errors.ts'
import type { ApiRoute } from '../ports/api.ts'
import { type EventLog, START } from '../ports/event-log.ts'
import type { Secrets } from '../ports/secrets.ts'
import type { Simulator } from '../ports/simulated-carrier.ts'
import { createRateLimiter } from '../runtime/rates/rate-limiter.ts'
import { createSharedRateLimiter } from '../runtime/rates/shared-rate-limiter.ts'
import { createJobRunner } from '../runtime/reactions/job-runner.ts'
import { createStreamWriter, type StreamWriter } from '../runtime/write/stream-writer.ts'
import { type CarrierPorts, openTelnyxCarrier } from './carrier.ts'
import { type Config, isSingleProcess } from './config.ts'
import { createPlatformEffects, type PlatformEffects } from './effects.ts'
import { createMetrics } from './metrics.ts'
import { createLookupLoader } from './read-side/lookup-loader.ts'
import { openReadSide, type ReadSide } from './read-side/read-side.ts'
import { createReadiness } from './read-side/readiness.ts'
import { projections, queries } from './registry.ts'
import { createSecrets } from './secrets.ts'
import { availabilityCheck, openLog, openOperationalStore } from './stores.ts'
import { systemClock as clock, systemRandom as random } from './system.ts'
import { NO_WORKERS, runWorkers } from './workers.ts'

/** How long a stopping process waits for what it has accepted. */
const STOP_TIMEOUT_MS = 10_000

/** A running process of the platform. */
export interface App {
  readonly log: EventLog
  readonly writer: StreamWriter
  readonly flow: PlatformEffects
  readonly secrets: Secrets
  readonly readSide: ReadSide
  /** Null where the carrier is a real one. */
  readonly simulator: Simulator | null
  /** Waits until events of these types up to the newest can be read back. */
  readonly readBack: (types: readonly string[]) => Promise<ReadYourWrites>
  /** Answers requests from now on; resolves to the address. */
  readonly listen: () => Promise<string>
  readonly openapi: () => object
  /** Every route that is mounted, as it declares itself. */
  readonly routes: readonly ApiRoute[]
  /** Finishes what was accepted, and ends. */
  readonly close: () => Promise<void>
}

/** Opens the carrier that the configuration names, as `carrier` and by its own name. */
async function openCarrier(
  { telnyx: settings, roles, numberOrdering }: Config,
  ports: Omit<SimulatorPorts, 'numbers'> & CarrierPorts,
) {
  if (settings) {
    const runJobs = roles.has('worker') ? createJobRunner(ports) : null
    const telnyx = await openTelnyxCarrier(settings, { ...ports, runJobs })
    return { carrier: telnyx, simulator: null, telnyx }
  }
  const numbers = numberOrdering ? createSimulatedNumbers({ ...ports, areaCodes }) : null
  const simulator = await openSimulator({ ...ports, numbers })
  return { carrier: simulator, simulator, telnyx: null }
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
  const { eventLogUrl, readStoreUrl, roles, trustProxy: hops } = config
  const owner = random.uuid()
  const secrets = createSecrets(config.masterKey, random)
  const log = await openLog(eventLogUrl)
  const ops = await openOperationalStore(readStoreUrl)
  const publicUrl = config.publicUrl ?? `http://${config.host}:${config.port}`
  const readSide = await openReadSide({
    eventLogUrl,
    readStoreUrl,
    publicUrl,
    masterKey: config.masterKey,
    projects: roles.has('projector'),
    onDeath: (error) => logger.fatal({ error: error.message }, 'a reading thread has ended'),
  })
  const { positions, views } = readSide
  const limiter = isSingleProcess(config) ? createRateLimiter(clock) : createSharedRateLimiter(ops, clock)
  const requestLog = createRequestLog({
    ops,
    clock,
    random,
    onLost: (count, error) => logger.error({ count, error: errorMessage(error) }, 'lines of the request log are lost'),
  })
  const egress = openEgress({ allowed: config.egressAllowed, clock })
  const metrics = createMetrics(async () => readSide.projections?.() ?? [])
  const writer = createStreamWriter({ log, ops, clock, random, lookUp: createLookupLoader(log, views, clock) })
  const flow = createPlatformEffects({
    writer,
    carrier: () => carrier,
    clock,
    claims: { ops, owner },
    onFailure: ({ type, stream }, error) => {
      metrics.stepFailed()
      logger.warn(
        { type, stream, error: error instanceof Error ? error.message : String(error) },
        'left to the reaction',
      )
    },
  })
  const ports = { log, ops, clock, random, secrets, owner, listener: flow.handleCarrierNotice }
  const { carrier, simulator, telnyx } = await openCarrier(config, { ...ports, writer, views })

  const workers = roles.has('worker') ? runWorkers({ log, ops, views, flow, clock, owner, logger }) : NO_WORKERS

  const names = projections.map(({ name }) => name)
  const readBackOf = async (types: readonly string[]) =>
    awaitProjections(positions, projections, types, await log.head())
  const status = { readSide, log, clock }
  const stands = createSessionCheck(readSide.directory, clock)
  const live = openLiveStream({ log, queries: readSide.queries, isSessionValid: stands, clock })
  const built: readonly ApiRoute[] = [
    ...(roles.has('query-api')
      ? [
          ...queryRoutes(queries, readSide.queries, clock, requestLog.flush),
          ...recordingRoutes({ views, carrier: () => carrier, clock }),
          live.route,
          projectionRoute(status),
        ]
      : []),
    ...(roles.has('command-api')
      ? requireReadStore(
          [
            ...(telnyx ? telnyxRoutes(telnyx) : []),
            ...(simulator ? sandboxRoutes({ writer, simulator, clock, random, readBack: readBackOf }) : []),
            ...writeRoutes({
              writer,
              queries: readSide.queries,
              positions,
              projections,
              views,
              callLines: readSide.callLines,
              carrier: () => carrier,
              effects: flow,
              egress,
              ops,
              secrets,
              signInLimiter: createSignInLimiter({ ops, clock, random }),
              projectionRows: () => projectionRows(status),
              rebuild: readSide.rebuild,
              clock,
              random,
            }),
          ],
          availabilityCheck(readStoreUrl, () => views.checkpoint('')),
        )
      : []),
  ]
  const routes = built
    .filter(({ surface }) => surface !== 'operator' || config.operatorToken !== null)
    .map((route) => (route.write ? withIdempotency(route, { ops, secrets, clock }) : route))
  const server = await openHttpServer({
    title: 'Ringledger',
    version: '1.0.0',
    routes,
    authenticate: createAuthenticator(
      readSide.directory,
      clock,
      config.operatorToken && secretHash(config.operatorToken),
      createSessionRenewal(writer),
    ),
    position: () => positions.lowestOf(names) ?? START,
    readiness: createReadiness(readSide, log, workers, unprepared, clock),
    metrics: metrics.render,
    metricsToken: config.metricsToken,
    log: logger,
    clock,
    random,
    trustProxy: typeof hops === 'number' ? (_address, hop) => hop < hops : hops,
    unavailableAfterSeconds: 1,
    pressure: { maxEventLoopDelay: 5_000 },
    observe: metrics.observe,
    limiter,
    requestLog,
    bodyLimit: ({ raw }) => (raw ? REQUEST.webhookBytes : REQUEST.bodyBytes),
  })

  return {
    log,
    writer,
    flow,
    secrets,
    readSide,
    simulator,
    readBack: readBackOf,
    openapi: server.openapi,
    routes,
    async listen() {
      const port = await server.listen(config.port, config.host)
      const host = config.host.includes(':') ? `[${config.host}]` : config.host
      const address = config.publicUrl ?? `http://${host}:${port}`
      await readSide.setPublicUrl(address)
      return address
    },
    async close() {
      live.close()
      await server.close(STOP_TIMEOUT_MS)
      await requestLog.close()
      await workers.close()
      await carrier.close()
      await egress.close()
      await writer.close()
      await readSide.close()
      await Promise.all([log.close(), ops.close()])
    },
  }
}
