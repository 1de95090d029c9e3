import type { Logger } from 'pino'
import { openHttpServer } from '../adapters/http/server.ts'
import { createAuthenticator } from '../api/access.ts'
import { createOperatorCheck } from '../api/operator-check.ts'
import { createSessionRenewal } from '../api/session-renewal.ts'
import { scopes } from '../domain/access/scopes.ts'
import { NO_BIDS } from '../domain/auctions/no-bid.ts'
import { LEASE, PING, REQUEST } from '../domain/shared/limits.ts'
import { collectionOf } from '../kernel/projection.ts'
import type { ApiRoute, Readiness } from '../ports/api.ts'
import { START } from '../ports/event-log.ts'
import { createRateLimiter } from '../runtime/rates/rate-limiter.ts'
import { createSharedRateLimiter } from '../runtime/rates/shared-rate-limiter.ts'
import { type Config, isSingleProcess } from './config.ts'
import type { Core } from './core.ts'
import { readParkedCounts } from './parked-counts.ts'
import { jobHandlers, reactions } from './platform-effects.ts'
import { createReadiness } from './read-side/readiness.ts'
import { projections, timers } from './registry.ts'
import type { PlatformRoutes } from './routes.ts'
import { NO_WORKERS, type Workers } from './workers.ts'

const projectionNames = projections.map(({ name }) => name)

/** Paths of sign-in, sessions, passwords and invitations. */
const CREDENTIAL_PATH = /^\/api\/auth\/|\/users(\/|$)/

/** Largest body of a route in bytes (Supplement 1.19). */
function bodyLimitOf({ raw, direct, path, surface }: ApiRoute): number {
  if (direct) return LEASE.bodyBytes
  if (surface === 'rtb') return PING.bodyBytes
  if (raw) return REQUEST.webhookBytes
  return CREDENTIAL_PATH.test(path) ? REQUEST.credentialBodyBytes : REQUEST.bodyBytes
}

/** The scrape of a process: its gauges are read when it is asked for. */
function scrapeOf(core: Core, workers: Workers, readiness: () => Promise<Readiness>) {
  const { readSide, ops, clock, metrics } = core
  return metrics.scrapeOf({
    ...core,
    readiness,
    projections,
    reactions,
    workers: workers === NO_WORKERS ? null : workers,
    parked: () => readParkedCounts(ops, clock),
    timers: { collection: collectionOf(timers), kinds: Object.keys(jobHandlers) },
    threadMetrics: readSide.projector?.metrics ?? null,
  })
}

/** Opens the HTTP server of a process over its routes. `unprepared` lists what still keeps it from being ready. */
export function openServer(
  config: Config,
  core: Core,
  { served, elsewhere }: PlatformRoutes,
  {
    workers,
    unprepared,
    onDeath,
    baseUrl,
    logger,
  }: {
    readonly workers: Workers
    readonly unprepared: () => readonly string[]
    readonly onDeath: (sentence: string) => void
    readonly baseUrl: () => string
    readonly logger: Logger
  },
) {
  const { readSide, positions, parked, log, ops, writer, metrics, requestLog, cursors, clock, random } = core
  const { operatorToken, metricsToken, trustProxy: hops } = config
  const limiter = isSingleProcess(config) ? createRateLimiter(clock) : createSharedRateLimiter(ops, clock)
  const readiness = createReadiness({
    readSide,
    projections,
    log,
    workers,
    parked,
    writer,
    unprepared,
    clock,
    onChange: (problems) => logger.warn({ problems }, 'readiness has changed'),
    onOlderLog: onDeath,
  })
  return openHttpServer({
    title: 'Ringledger',
    version: '1.0.0',
    baseUrl,
    routes: served,
    routesElsewhere: elsewhere,
    scopes,
    noBids: Object.entries(NO_BIDS).map(([reason, { code, sentence }]) => ({ code, reason, sentence })),
    authenticate: createAuthenticator(
      readSide.credentials,
      clock,
      createOperatorCheck(operatorToken, limiter),
      createSessionRenewal(writer),
    ),
    cursors,
    position: () => positions.lowestOf(projectionNames) ?? START,
    readiness,
    metrics: config.production && metricsToken === null ? null : scrapeOf(core, workers, readiness),
    metricsToken,
    log: logger,
    clock,
    random,
    trustProxy: typeof hops === 'number' ? (_address, hop) => hop < hops : hops,
    unavailableAfterSeconds: 1,
    pressure: { maxEventLoopDelay: 5_000 },
    observe: metrics.observe,
    limiter,
    requestLog,
    bodyLimit: bodyLimitOf,
  })
}
