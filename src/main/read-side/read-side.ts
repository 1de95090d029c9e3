import { MessageChannel } from 'node:worker_threads'
import { credentials } from '../../../projections/access/credentials.ts'
import { sessions } from '../../../projections/access/sessions.ts'
import { users } from '../../../projections/access/users.ts'
import { workspaces } from '../../../projections/access/workspaces.ts'
import { poolKeys } from '../../../projections/supply/pool-keys.ts'
import { publisherCredentials } from '../../../projections/supply/publisher-credentials.ts'
import { publishers } from '../../../projections/supply/publishers.ts'
import type { CallsExportBatch, ExportBatchRequest } from '../../../queries/calls/calls-export.ts'
import type { PublisherKeyPlace } from '../../api/auctions/publisher-keys.ts'
import {
  afterCatchUp,
  type CatchUp,
  type CredentialStore,
  withCatchUp,
  withCoalescing,
  withCredentialCache,
} from '../../api/credential-store.ts'
import type { PoolKeyPlace } from '../../api/insertion/pool-places.ts'
import type { Remote } from '../../kernel/async/thread-rpc.ts'
import { START } from '../../ports/event-log.ts'
import type { LookupReader } from '../../runtime/lookups/lookup-reader.ts'
import type { LeaseOps } from '../../runtime/ownership/leases.ts'
import { parseCollectionName } from '../../runtime/projections/build-names.ts'
import {
  type CheckpointTracker,
  createCheckpointTracker,
  READ_WAIT_MS,
} from '../../runtime/projections/checkpoint-tracker.ts'
import type { ProjectionProgress } from '../../runtime/projections/projection-progress.ts'
import type { ProjectionStatus } from '../../runtime/projections/projection-runner.ts'
import {
  type AcknowledgedWrites,
  createAcknowledgedWrites,
  withAcknowledgedWrites,
} from '../../runtime/queries/acknowledged-writes.ts'
import { type ChangeCounters, createChangeCounters } from '../../runtime/queries/change-counters.ts'
import { withSingleFlight } from '../../runtime/queries/coalesce-queries.ts'
import { createPollFreshness } from '../../runtime/queries/poll-freshness.ts'
import type { QueryRunner } from '../../runtime/queries/query-runner.ts'
import { positionsVersionOf, withResponseCache } from '../../runtime/queries/response-cache.ts'
import type { LoopLag } from '../metrics/loop-lag.ts'
import { projections, queries } from '../registry.ts'
import { systemClock } from '../system.ts'
import type { ProjectionAdvance } from './projection-advance.ts'
import type { ProjectorCalls } from './projector-thread.ts'
import type { PolledPosition, QueryCalls } from './query-thread.ts'
import { loadReadThreads, type ReadThreads } from './read-threads.ts'
import { leaseHandlers } from './remote-leases.ts'
import { remoteViews, type Views } from './remote-views.ts'
import { trackStandby } from './standby.ts'
import { startThread, type Thread } from './threads.ts'

/** Projections that authentication and the look-ups of public keys read. */
const ACCESS: ReadonlySet<string> = new Set(
  [credentials, sessions, users, workspaces, publishers, publisherCredentials, poolKeys].map(({ name }) => name),
)

/** Types of events that change what authentication and the look-ups of public keys read, which wait for no position. */
const ACCESS_EVENTS: ReadonlySet<string> = new Set(
  projections.filter(({ name }) => ACCESS.has(name)).flatMap(({ events }) => Object.keys(events)),
)

/** Queries whose responses may be cached, with the projections that they read. */
const CACHEABLE = new Map(
  queries.flatMap(({ name, cacheable, reads }) => (cacheable ? [[name, reads.map((read) => read.name)] as const] : [])),
)

/** The read side as the main thread sees it; the work runs in other threads. */
export interface ReadSide {
  readonly queries: QueryRunner
  /** Records that a write is answered, with the position of its last event: every later read reflects it. */
  readonly acknowledge: AcknowledgedWrites['add']
  readonly credentials: CredentialStore
  /** Whether credentials and keys have been read as far as the log was at the start: until then unknown ones get 503. */
  readonly hasCredentials: () => boolean
  /** The routing key of a publisher's secret, by its SHA-256; null for none. @throws StoreUnavailable */
  readonly publisherKey: (hash: string) => Promise<PublisherKeyPlace | null>
  /** The pool of a public key; null for none. @throws StoreUnavailable */
  readonly poolKey: (publicKey: string) => Promise<PoolKeyPlace | null>
  readonly positions: CheckpointTracker
  readonly views: Views
  /** Reads for the look-ups of decisions. */
  readonly lookUp: LookupReader
  /** One batch of the call log as a file. @throws StoreUnavailable */
  readonly callLines: (ask: ExportBatchRequest) => Promise<CallsExportBatch>
  /** Status of the projections; null where another process runs them. */
  readonly projections: (() => Promise<readonly ProjectionStatus[]>) | null
  /** What the thread of the projections tells of its work; null where another process runs them. */
  readonly projector: Pick<Remote<ProjectorCalls>, 'metrics' | 'leases'> | null
  /** The threads, by name, each with the lag of its event loop since it was last asked. */
  readonly threads: ReadonlyMap<string, () => Promise<LoopLag>>
  /** Sets the platform's public base URL, which is known once the server listens. */
  readonly setPublicUrl: (publicUrl: string) => Promise<void>
  /** Progress of every projection's builds, whichever process runs them. @throws StoreUnavailable */
  readonly progress: () => Promise<readonly ProjectionProgress[]>
  /** Names of the stored collections that are missing or lack an index, as they were looked at last. */
  readonly missingIndexes: () => Promise<readonly string[]>
  /** Starts to rebuild a projection; false when a rebuild is already running. */
  readonly rebuild: (name: string) => Promise<boolean>
  readonly close: () => Promise<void>
}

type QueryThread = Remote<QueryCalls>

/** Waits once, for all who ask, until the access projections have come as far as the log was at the start. */
function createCatchUp(positions: CheckpointTracker, head: number) {
  const names = [...ACCESS]
  let waiting: Promise<boolean> | null = null
  return {
    isDone: () => (positions.lowestOf(names) ?? head) >= head,
    wait() {
      waiting ??= positions.waitFor(names, head, READ_WAIT_MS)
      return waiting
    },
  }
}

/** Credentials of the query thread, cached only while this process writes their projections. */
function openCredentials(thread: QueryThread, isRemotelyProjected: () => boolean, catchUp: CatchUp) {
  const stored: CredentialStore = {
    credential: (kind, hash) => thread.credential({ kind, hash }),
    workspace: (id) => thread.workspace(id),
  }
  const cached = withCredentialCache(stored)
  const uncached = withCoalescing(stored)
  // When another process writes, no message says that a credential changed: each request reads it.
  const current = () => (isRemotelyProjected() ? uncached : cached)
  const credentials: CredentialStore = {
    credential: (kind, hash) => current().credential(kind, hash),
    workspace: (id) => current().workspace(id),
  }
  return { credentials: withCatchUp(credentials, catchUp), clear: cached.clear }
}

/** Queries of the query thread, coalesced and cached in this one. */
function openQueries(
  thread: QueryThread,
  counters: ChangeCounters,
  positions: CheckpointTracker,
  isRemotelyProjected: () => boolean,
): QueryRunner {
  const runner: QueryRunner = {
    async run(request) {
      const { changes = [], ...response } = await thread.ask(request)
      for (const change of changes) counters.recordChange(...change)
      return response
    },
  }
  const isFresh = createPollFreshness(systemClock, () => thread.hurry().catch(() => undefined))
  const cacheVersionOf = (names: readonly string[], workspaceId: string) => {
    const version = counters.cacheVersionOf(names, workspaceId)
    if (!isRemotelyProjected()) return version
    return isFresh() ? `${version} ${positionsVersionOf(positions, names, workspaceId)}` : null
  }
  return withResponseCache(withSingleFlight(runner), { cacheable: CACHEABLE, positions, cacheVersionOf })
}

/** The reads of the query thread, each once its projection has folded every write that was answered. */
function openViews(thread: QueryThread, positions: CheckpointTracker, { awaited }: AcknowledgedWrites): Views {
  const views = remoteViews(thread)
  const afterWrites =
    <Rest extends readonly unknown[], Result>(read: (collection: string, ...rest: Rest) => Promise<Result>) =>
    async (collection: string, ...rest: Rest): Promise<Result> => {
      const position = awaited('')
      if (position !== null) await positions.waitFor([parseCollectionName(collection).name], position, READ_WAIT_MS)
      return read(collection, ...rest)
    }
  return {
    ...views,
    get: afterWrites(views.get),
    getMany: afterWrites(views.getMany),
    find: afterWrites(views.find),
    pluck: afterWrites(views.pluck),
    count: afterWrites(views.count),
    sum: afterWrites(views.sum),
  }
}

/** Starts the read side's threads: one for queries and, in a process with the projector role, one for projections. */
export async function openReadSide(options: {
  readonly eventLogUrl: string
  readonly readStoreUrl: string
  readonly publicUrl: string
  readonly sipDomain?: string | null | undefined
  /** Where columns are kept; made anew when it is missing. */
  readonly columnsDirectory: string
  readonly root: Uint8Array
  readonly projects: boolean
  /** Whether no other process reads the read store: writes may then be answered before they are folded. Default: no. */
  readonly isSingleProcess?: boolean
  /** Where this process contends for lanes, under the name with which it has entered. */
  readonly ops: LeaseOps
  readonly owner: string
  /** Into how many ranges the partitions are cut. */
  readonly shards: number
  /** The position of the log's newest event at the start. */
  readonly head: number
  readonly onDeath: (error: Error) => void
  /** The threads, where they load already. */
  readonly threads?: ReadThreads | undefined
}): Promise<ReadSide> {
  const {
    projects,
    isSingleProcess = false,
    onDeath,
    root,
    ops,
    head,
    threads = loadReadThreads(projects),
    ...rest
  } = options
  const start = { ...rest, polls: !projects }
  let projector: Thread<ProjectorCalls> | null = null
  const counters = createChangeCounters()
  const { isRemotelyProjected, update } = trackStandby(projects)
  /** Has the projections of this process fold at once what somebody waits for. */
  const hurry = (position: number) => projector?.notify.hurry(position)
  const positions = createCheckpointTracker(systemClock, (position) => {
    hurry(position)
    if (isRemotelyProjected()) notify.hurry()
  })
  const advancePositions = (known: readonly PolledPosition[]) => {
    for (const { names, position, range, readable } of known) {
      for (const name of names) {
        positions.setReadable(name, readable)
        if (readable) positions.advance(name, position, range)
      }
    }
  }
  /** Resolves when what the projections tell can be handled: both threads load at the same time. */
  const wired = Promise.withResolvers<void>()
  const advance = async (advances: readonly ProjectionAdvance[]) => {
    await wired.promise
    handleAdvances(advances)
  }
  const { port1, port2 } = new MessageChannel()
  const querying = { ...start, root, ...(threads.projector && { siblingPort: port1 }) }
  const projecting = { ...start, siblingPort: port2 }
  const [queryThread, projectorThread] = await Promise.all([
    startThread<QueryCalls>(threads.query, querying, { advance, advancePolled: advancePositions }, onDeath),
    threads.projector ? startThread<ProjectorCalls>(threads.projector, projecting, leaseHandlers(ops), onDeath) : null,
  ])
  const { calls, notify } = queryThread
  projector = projectorThread
  const catchUp = createCatchUp(positions, head)
  const access = openCredentials(calls, isRemotelyProjected, catchUp)
  const handleAdvances = (advances: readonly ProjectionAdvance[]) => {
    update(advances)
    // Invalidate before advancing, so that waiters do not get the old cached response.
    for (const { names, workspaces, readable } of advances)
      if (readable) for (const name of names) counters.recordChange(name, workspaces)
    advancePositions(advances)
    if (
      isRemotelyProjected() ||
      advances.some(({ names, touched }) => touched && names.some((name) => ACCESS.has(name)))
    )
      access.clear()
  }
  wired.resolve()
  const folding = projector?.calls
  const acknowledged = createAcknowledgedWrites(
    positions,
    projections.map(({ name }) => name),
    isSingleProcess ? head : START,
  )
  return {
    queries: withAcknowledgedWrites(
      openQueries(calls, counters, positions, isRemotelyProjected),
      acknowledged,
      (types) => isSingleProcess && !isRemotelyProjected() && !types.some((type) => ACCESS_EVENTS.has(type)),
    ),
    acknowledge: acknowledged.add,
    credentials: access.credentials,
    hasCredentials: catchUp.isDone,
    publisherKey: (hash) => afterCatchUp(catchUp, () => calls.publisherKey(hash)),
    poolKey: (publicKey) => afterCatchUp(catchUp, () => calls.poolKey(publicKey)),
    positions,
    views: openViews(calls, positions, acknowledged),
    lookUp: (name, ids) => calls.lookUp({ name, ids }),
    callLines: calls.callLines,
    setPublicUrl: calls.setPublicUrl,
    progress: () => calls.progress(),
    missingIndexes: () => calls.missingIndexes(),
    rebuild: calls.rebuild,
    projections: folding ? () => folding.status() : null,
    projector: folding ?? null,
    threads: new Map([
      ['query', queryThread.loopLag] as const,
      ...(projector ? [['projector', projector.loopLag] as const] : []),
    ]),
    async close() {
      await Promise.all([projector?.close(), queryThread.close()])
    },
  }
}
