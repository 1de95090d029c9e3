import { readFileSync } from 'node:fs'
import { type AuctionDesk, createPingDesk } from '../api/auctions/hold-ping.ts'
import { pingRoutes } from '../api/auctions/ping-routes.ts'
import { createPostDesk } from '../api/auctions/post-offer.ts'
import { createPublisherKeys } from '../api/auctions/publisher-keys.ts'
import { telnyxRoutes } from '../api/carrier-webhooks.ts'
import { withIdempotency } from '../api/idempotency.ts'
import { insertionRoutes } from '../api/insertion/insertion-routes.ts'
import type { LiveStream } from '../api/live-stream.ts'
import { parkedRoute } from '../api/parked-streams.ts'
import { projectionRoute, projectionRows } from '../api/projection-status.ts'
import { queryRoutes } from '../api/query-routes.ts'
import type { ReadYourWrites } from '../api/read-your-writes.ts'
import { recordingRoutes } from '../api/recording-audio.ts'
import { requireReadStore } from '../api/require-read-store.ts'
import { sandboxRoutes } from '../api/sandbox.ts'
import { sandboxBidderAnswers, sandboxBidderRoutes } from '../api/sandbox-bidders.ts'
import { landingCalls, landingPages } from '../api/sandbox-landing.ts'
import { sandboxLoadRoutes } from '../api/sandbox-load/load-routes.ts'
import { createLoadStore } from '../api/sandbox-load/load-store.ts'
import { sandboxReceiverAnswers, sandboxReceiverRoutes } from '../api/sandbox-receivers.ts'
import { createSignInLimiter } from '../api/sign-in-limiter.ts'
import { createDeliveryVerifier } from '../api/verify-delivery.ts'
import { writeRoutes } from '../api/write-routes.ts'
import { workspace } from '../domain/configuration/workspace.ts'
import { WEBHOOK } from '../domain/shared/limits.ts'
import type { ApiRoute } from '../ports/api.ts'
import type { Egress } from '../ports/egress.ts'
import { START } from '../ports/event-log.ts'
import type { AuctionPorts } from '../reactions/tools.ts'
import { NO_RATES } from '../runtime/rates/rates-limiter.ts'
import { readUpcast } from '../runtime/upcasts.ts'
import type { OpenCarrier } from './carrier.ts'
import type { Config } from './config.ts'
import type { Core } from './core.ts'
import type { InsertionDesk } from './insertion-desk.ts'
import type { PlatformEffects } from './platform-effects.ts'
import { projections, queries, upcasts } from './registry.ts'
import { availabilityCheck } from './stores.ts'

/** What the routes are built over. */
export interface RouteParts {
  readonly core: Core
  readonly carrier: OpenCarrier
  readonly effects: PlatformEffects
  readonly egress: Egress
  readonly auctions: AuctionPorts
  /** What pings are judged with. */
  readonly desk: AuctionDesk
  /** What visitors' leases are made with. */
  readonly insertion: InsertionDesk
  readonly live: LiveStream
  /** The address that clients use. */
  readonly baseUrl: () => string
  readonly awaitProjections: (types: readonly string[]) => Promise<ReadYourWrites>
  /** Aborts when the process stops. */
  readonly stopping: AbortSignal
}

/** The sandbox: simulated calls, bidders, receivers and loads. None with a real carrier. */
function simulatedRoutes(
  { sipDomain, production }: Config,
  { core, carrier, auctions, desk, insertion, awaitProjections, baseUrl, stopping }: RouteParts,
): readonly ApiRoute[] {
  const { writer, ops, views, readSide, clock, random } = core
  const { simulator } = carrier
  if (!simulator) return []
  const { leases, rates, tools } = insertion
  const { leaseOf } = tools
  const calls = { writer, simulator, ...auctions, leaseOf, clock, random, awaitProjections }
  const unlimited = { ...desk, rates: NO_RATES }
  return [
    ...sandboxRoutes(calls),
    ...(production ? [] : landingCalls({ ...calls, views, leases, rates, queries: readSide.queries })),
    ...sandboxBidderRoutes({ ops, random, baseUrl }),
    ...sandboxReceiverRoutes({ ops, clock, random, baseUrl }),
    ...sandboxLoadRoutes({
      ...calls,
      pings: createPingDesk(unlimited),
      post: createPostDesk(unlimited, sipDomain),
      store: createLoadStore({ ops, clock }),
      stopping,
    }),
  ]
}

/** Routes of the role `query-api`: everything that only reads. */
function readRoutes({ core, carrier, live }: RouteParts): readonly ApiRoute[] {
  const { readSide, requestLog, routingKeyUses, views, clock } = core
  const flushUsage = async () => void (await Promise.all([requestLog.flush(), routingKeyUses.flush()]))
  return [
    ...queryRoutes(queries, readSide.queries, clock, flushUsage),
    ...recordingRoutes({ views, carrier: () => carrier.carrier, clock }),
    live.route,
    projectionRoute({ ...core, projections }),
    parkedRoute(core),
  ]
}

/** Routes of the role `command-api`: commands of customers and operators, the carrier's webhooks, and the sandbox. */
function commandRoutes(config: Config, parts: RouteParts): readonly ApiRoute[] {
  const { core, carrier, effects, egress } = parts
  const { readSide, writer, positions, views, ops, secrets, clock, random } = core
  const { telnyx } = carrier
  return [
    ...(telnyx ? telnyxRoutes(telnyx) : []),
    ...simulatedRoutes(config, parts),
    ...writeRoutes({
      writer,
      queries: readSide.queries,
      acknowledge: readSide.acknowledge,
      positions,
      projections,
      views,
      callLines: readSide.callLines,
      carrier: () => carrier.carrier,
      effects,
      egress,
      httpsOnly: config.production,
      readStream: readUpcast(core.log.read, upcasts),
      ops,
      secrets,
      signInLimiter: createSignInLimiter({ ops, clock, random }),
      projectionRows: () => projectionRows({ ...core, projections }),
      rebuild: readSide.rebuild,
      clock,
      random,
    }),
  ]
}

/** Routes of the role `auction-api`: publishers' pings and posts. */
function auctionRoutes({ sipDomain }: Config, { core, desk }: RouteParts): readonly ApiRoute[] {
  const { readSide, writer, positions, secrets, clock } = core
  return pingRoutes({
    keys: createPublisherKeys({ find: readSide.publisherKey, writer, secrets, clock }),
    pings: createPingDesk(desk),
    post: createPostDesk(desk, sipDomain),
    sipDomain,
    position: () => positions.lowestOf(projections.map(({ name }) => name)) ?? START,
    clock,
  })
}

/** Directory of the demo page's files. */
const LANDING = new URL('../adapters/http/pages/landing/', import.meta.url)
const landingFile = (name: string) => readFileSync(new URL(name, LANDING), 'utf8')

/** The demo page of number insertion; none in production. */
function demoPage({ production }: Config, { core: { views, writer }, baseUrl }: RouteParts): readonly ApiRoute[] {
  if (production) return []
  const files = { html: landingFile('landing.html'), css: landingFile('landing.css'), js: landingFile('landing.js') }
  return landingPages({ files, views, writer, baseUrl })
}

/** Routes that stand for the servers of others: simulated bidders and receivers. */
function answersOfOthers({ core: { ops, clock, secrets, writer }, baseUrl }: RouteParts): readonly ApiRoute[] {
  const configuration = (workspaceId: string) => writer.recentStateOf(workspace, workspaceId, WEBHOOK.foldAgeMs)
  const verify = createDeliveryVerifier({ secrets, configuration })
  return [...sandboxBidderAnswers({ ops, clock }), ...sandboxReceiverAnswers({ ops, clock, baseUrl, verify })]
}

/** Roles that serve routes, in the order in which these are listed. */
const API_ROLES = ['query-api', 'command-api', 'auction-api', 'public-api'] as const

/** The routes of the platform, by whether this process serves them. */
export interface PlatformRoutes {
  readonly served: readonly ApiRoute[]
  /** Routes of roles that this process does not have. */
  readonly elsewhere: readonly ApiRoute[]
}

/** The routes of a process are those of its roles; writes are idempotent by key and need the read store. */
export function buildRoutes(config: Config, parts: RouteParts): PlatformRoutes {
  const { roles, readStoreUrl, operatorToken } = config
  const { views, ops, secrets, clock } = parts.core
  const checkReadStore = availabilityCheck(readStoreUrl, () => views.checkpoint(''))
  const prepared = (routes: readonly ApiRoute[]) =>
    routes
      .filter(({ surface }) => surface !== 'operator' || operatorToken !== null)
      .map((route) => (route.write ? withIdempotency(route, { ops, secrets, clock }) : route))
  const byRole = {
    'query-api': prepared(readRoutes(parts)),
    'command-api': prepared(requireReadStore(commandRoutes(config, parts), checkReadStore)),
    'auction-api': auctionRoutes(config, parts),
    // Visitors' leases and the page snippet.
    'public-api': insertionRoutes(parts.insertion),
  } as const
  const everywhere = parts.carrier.simulator ? [...answersOfOthers(parts), ...demoPage(config, parts)] : []
  const ofRoles = (served: boolean) => API_ROLES.flatMap((role) => (roles.has(role) === served ? byRole[role] : []))
  return { served: [...ofRoles(true), ...everywhere], elsewhere: ofRoles(false) }
}
