import { pingLedger } from '../../projections/auctions/ping-ledger.ts'
import { readAll } from '../../queries/shared/documents.ts'
import { createAuctionNumbers } from '../api/auctions/auction-numbers.ts'
import { createPingDesk } from '../api/auctions/hold-ping.ts'
import { pingRoutes } from '../api/auctions/ping-routes.ts'
import { createPostDesk } from '../api/auctions/post-offer.ts'
import { createPublisherKeys } from '../api/auctions/publisher-keys.ts'
import { telnyxRoutes } from '../api/carrier-webhooks.ts'
import { withIdempotency } from '../api/idempotency.ts'
import type { LiveStream } from '../api/live-stream.ts'
import { parkedRoute } from '../api/parked-streams.ts'
import { projectionRoute, projectionRows } from '../api/projection-status.ts'
import { queryRoutes } from '../api/query-routes.ts'
import type { ReadYourWrites } from '../api/read-your-writes.ts'
import { recordingRoutes } from '../api/recording-audio.ts'
import { requireReadStore } from '../api/require-read-store.ts'
import { sandboxRoutes } from '../api/sandbox.ts'
import { sandboxBidderRoutes } from '../api/sandbox-bidders.ts'
import { createSignInLimiter } from '../api/sign-in-limiter.ts'
import { writeRoutes } from '../api/write-routes.ts'
import type { ApiRoute } from '../ports/api.ts'
import type { Egress } from '../ports/egress.ts'
import { START } from '../ports/event-log.ts'
import type { AuctionPorts } from '../reactions/tools.ts'
import { createRatesLimiter, createSharedRatesLimiter } from '../runtime/rates/rates-limiter.ts'
import type { OpenCarrier } from './carrier.ts'
import { type Config, isSingleProcess } from './config.ts'
import type { Core } from './core.ts'
import type { PlatformEffects } from './platform-effects.ts'
import { projections, queries } from './registry.ts'
import { availabilityCheck } from './stores.ts'

/** What the routes are built over. */
export interface RouteParts {
  readonly core: Core
  readonly carrier: OpenCarrier
  readonly effects: PlatformEffects
  readonly egress: Egress
  readonly auctions: AuctionPorts
  readonly live: LiveStream
  /** The address that clients use. */
  readonly baseUrl: () => string
  readonly awaitProjections: (types: readonly string[]) => Promise<ReadYourWrites>
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
function commandRoutes({
  core,
  carrier,
  effects,
  egress,
  auctions,
  awaitProjections,
  baseUrl,
}: RouteParts): readonly ApiRoute[] {
  const { readSide, writer, positions, views, ops, secrets, clock, random } = core
  const { simulator, telnyx } = carrier
  return [
    ...(telnyx ? telnyxRoutes(telnyx) : []),
    ...(simulator ? sandboxRoutes({ writer, simulator, ...auctions, clock, random, awaitProjections }) : []),
    ...(simulator ? sandboxBidderRoutes({ ops, clock, random, baseUrl }) : []),
    ...writeRoutes({
      writer,
      queries: readSide.queries,
      positions,
      projections,
      views,
      callLines: readSide.callLines,
      carrier: () => carrier.carrier,
      effects,
      egress,
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

/** The number of a workspace's newest auction; 0 for none. */
async function newestNumber(views: Core['views'], workspaceId: string): Promise<number> {
  const [newest] = await readAll(views, pingLedger, { filter: { workspaceId }, sort: { atMs: -1 }, limit: 1 })
  return newest?.seq ?? 0
}

/** Routes of the role `auction-api`: publishers' pings and posts. */
function auctionRoutes(config: Config, { core, effects, auctions }: RouteParts): readonly ApiRoute[] {
  const { readSide, writer, views, positions, ops, secrets, routingKeyUses, clock, random } = core
  const { sipDomain } = config
  const isAlone = isSingleProcess(config)
  const desk = {
    ...auctions,
    writer,
    effects,
    rates: isAlone ? createRatesLimiter(clock) : createSharedRatesLimiter(ops, clock),
    rows: createRatesLimiter(clock),
    nextNumber: createAuctionNumbers({ ops, clock, highest: (workspaceId) => newestNumber(views, workspaceId) }),
    onKeyUse: routingKeyUses.add,
    clock,
    random,
  }
  return pingRoutes({
    keys: createPublisherKeys({ find: readSide.publisherKey, writer, secrets, clock }),
    pings: createPingDesk(desk),
    post: createPostDesk(desk, sipDomain),
    sipDomain,
    position: () => positions.lowestOf(projections.map(({ name }) => name)) ?? START,
    clock,
  })
}

/** Roles that serve routes, in the order in which these are listed. */
const API_ROLES = ['query-api', 'command-api', 'auction-api'] as const

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
    'command-api': prepared(requireReadStore(commandRoutes(parts), checkReadStore)),
    'auction-api': auctionRoutes(config, parts),
  } as const
  const ofRoles = (served: boolean) => API_ROLES.flatMap((role) => (roles.has(role) === served ? byRole[role] : []))
  return { served: ofRoles(true), elsewhere: ofRoles(false) }
}
