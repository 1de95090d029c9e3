import { credentials } from '../../../projections/access/credentials.ts'
import { sessions } from '../../../projections/access/sessions.ts'
import { users } from '../../../projections/access/users.ts'
import { workspaces } from '../../../projections/access/workspaces.ts'
import { revisions } from '../../../projections/configuration/revisions.ts'
import { poolKeys } from '../../../projections/supply/pool-keys.ts'
import { publisherCredentials } from '../../../projections/supply/publisher-credentials.ts'
import { openPortals } from '../../../queries/access/open-portals.ts'
import { readCallsExport } from '../../../queries/calls/calls-export.ts'
import { readMany } from '../../../queries/shared/documents.ts'
import { openLocalFiles } from '../../adapters/files/local-files.ts'
import type { PublisherKeyPlace } from '../../api/auctions/publisher-keys.ts'
import type { PoolKeyPlace } from '../../api/insertion/pool-places.ts'
import type { Credential, WorkspaceAccess } from '../../domain/access/access.ts'
import { sleep } from '../../kernel/async/sleep.ts'
import { notifyRpc, serveRpc } from '../../kernel/async/thread-rpc.ts'
import { ALL_PARTITIONS, type PartitionRange } from '../../kernel/partition.ts'
import type { Refusal } from '../../kernel/refusal.ts'
import { START } from '../../ports/event-log.ts'
import { withColumns } from '../../runtime/columns/column-store.ts'
import { createLookupReader, type LookupRead } from '../../runtime/lookups/lookup-reader.ts'
import { POOLS, readLeases, type StoredLease } from '../../runtime/ownership/leases.ts'
import { createOwnerWatch, WATCH_EVERY_MS } from '../../runtime/ownership/owner-watch.ts'
import { readBeats } from '../../runtime/ownership/presence.ts'
import { withActiveBuilds } from '../../runtime/projections/active-builds.ts'
import { requestRebuild } from '../../runtime/projections/build-lifecycle.ts'
import { createCheckpointTracker, pollCheckpoints } from '../../runtime/projections/checkpoint-tracker.ts'
import { watchIndexes } from '../../runtime/projections/index-watch.ts'
import { readProgress } from '../../runtime/projections/projection-progress.ts'
import { createChangeCounters, type ProjectionChange } from '../../runtime/queries/change-counters.ts'
import { withExpiredHidden } from '../../runtime/queries/hide-expired.ts'
import { withReadInvalidation } from '../../runtime/queries/invalidate-on-read.ts'
import { withPendingEvents } from '../../runtime/queries/pending-events.ts'
import { createQueryRunner, type QueryRequest, type QueryResponse } from '../../runtime/queries/query-runner.ts'
import { columns, followed, projections, queries, upcasts } from '../registry.ts'
import { createSecrets } from '../secrets.ts'
import { openOperationalStore, openReadStore } from '../stores.ts'
import { systemClock, systemRandom } from '../system.ts'
import { withPrefetch } from './export-prefetch.ts'
import type { HurryHandlers, ProjectionAdvance } from './projection-advance.ts'
import { viewHandlers } from './remote-views.ts'
import { createSegmentThreads } from './segment-threads.ts'
import { trackStandby } from './standby.ts'
import { joinThread } from './threads.ts'

/** A position that was polled, as this thread reports it to the main thread. */
export type PolledPosition = Pick<ProjectionAdvance, 'names' | 'position' | 'range' | 'readable'>

const { start, notifyMain, serve } = await joinThread<{
  readonly advance: (advances: readonly ProjectionAdvance[]) => void
  readonly advancePolled: (polled: readonly PolledPosition[]) => void
}>()
const projector = start.siblingPort && notifyRpc<HurryHandlers>(start.siblingPort)
const { root = new Uint8Array(), back: _, siblingPort: __, ...shared } = start
const { readStoreUrl, polls } = shared
let { publicUrl } = start
const secrets = createSecrets(Buffer.from(root), systemRandom)
const store = await openReadStore(readStoreUrl, { follows: true })
const ops = await openOperationalStore(readStoreUrl)
const counters = createChangeCounters()
// Where another process writes documents, only the checkpoints in the store show that documents may have changed.
const { isRemotelyProjected, update } = trackStandby(!polls)
const positions = createCheckpointTracker(systemClock, (position) => {
  poller.hurry()
  projector?.hurry(position)
})
const segmentThreads = createSegmentThreads(shared, systemClock)
const columnStore = withColumns(store, {
  specs: columns,
  files: openLocalFiles(start.columnsDirectory),
  clock: systemClock,
  random: systemRandom,
  builder: segmentThreads,
  changesOf: (name, workspaceId) => (isRemotelyProjected() ? null : counters.cacheVersionOf([name], workspaceId)),
})
/** Changes that reads found before the projector reported them. The next response carries them to the main thread. */
let foundChanges: ProjectionChange[] = []
const recordChange = (...change: ProjectionChange) => {
  counters.recordChange(...change)
  foundChanges.push(change)
}
const stored = withActiveBuilds(withReadInvalidation(columnStore, positions, { recordChange }), systemClock)
const views = withExpiredHidden(stored, projections, systemClock)
const stop = new AbortController()
const advance = (name: string, position: number, range: PartitionRange = ALL_PARTITIONS) => {
  const isNews = positions.advance(name, position, range)
  if (isNews) notifyMain.advancePolled([{ names: [name], position, range, readable: true }])
  return isNews
}
/** Whether each projection can be read, as the main thread was told last. */
const readable = new Map<string, boolean>()
const setReadable = (name: string, isReadable: boolean) => {
  positions.setReadable(name, isReadable)
  if (readable.get(name) === isReadable) return
  readable.set(name, isReadable)
  notifyMain.advancePolled([{ names: [name], position: START, range: ALL_PARTITIONS, readable: isReadable }])
}
const poller = pollCheckpoints({
  store,
  projections,
  positions: { advance, setReadable },
  isNeeded: isRemotelyProjected,
  clock: systemClock,
  signal: stop.signal,
})
const runner = createQueryRunner({
  queries,
  ports: {
    views,
    ops,
    secrets,
    sipDomain: start.sipDomain ?? null,
    get publicUrl() {
      return publicUrl
    },
  },
  positions,
  projections,
  withPending: (behind, events, onUnapplied) => ({
    ...behind,
    views: withPendingEvents(behind.views, projections, events, upcasts, onUnapplied),
  }),
  revisions: {
    reads: revisions,
    of: async (record) => (await readMany(views, revisions, [record])).get(record)?.revision ?? null,
  },
})

const lookUp = createLookupReader(store, projections)

/** Whether the projections are folded, and by whom: in this thread alone, so that a process of every role knows. */
const owners = createOwnerWatch()
async function lookAtOwners(): Promise<ReadonlyMap<string, StoredLease>> {
  const now = systemClock.now()
  const [leases, beats] = await Promise.all([readLeases(ops, POOLS.projections, now), readBeats(ops, now)])
  owners.look(leases, beats, systemClock.now())
  return leases
}
async function watchOwners(): Promise<void> {
  while (!stop.signal.aborted) {
    // What cannot be read now is looked at next time.
    await lookAtOwners().catch(() => undefined)
    await sleep(systemClock, WATCH_EVERY_MS, stop.signal)
  }
}
void watchOwners()

const missingIndexes = watchIndexes({
  store,
  ops,
  projections,
  indexedByPosition: new Set(followed),
  // The processes that project have created them.
  repairs: !polls,
  clock: systemClock,
  signal: stop.signal,
})

async function keyOf(hash: string): Promise<Credential | null> {
  return (await readMany(views, credentials, [hash])).get(hash) ?? null
}

async function sessionOf(hash: string): Promise<Credential | null> {
  const session = (await readMany(views, sessions, [hash])).get(hash)
  const user = session && (await readMany(views, users, [session.userId])).get(session.userId)
  if (!session || !user) return null
  const seats = user.seats.map(({ workspaceId: agencyId, role }) => ({ agencyId, role }))
  const open = await openPortals(views, user)
  return {
    kind: 'session',
    userId: session.userId,
    name: user.name,
    email: user.email,
    expiresAt: session.expiresAt,
    seats,
    publishers: open.map(({ workspaceId: agencyId, id: publisherId }) => ({ agencyId, publisherId })),
  }
}

const handlers = {
  /** Runs a query; `changes` are those that reads found since the last response. */
  async ask(
    request: QueryRequest,
  ): Promise<(QueryResponse | Refusal) & { readonly changes?: readonly ProjectionChange[] }> {
    // Nobody waits for them now, but the next read will.
    if (request.mayBeAhead) projector?.hurry(request.minPosition ?? START)
    const response = await runner.run(request)
    if (foundChanges.length === 0) return response
    const changes = foundChanges
    foundChanges = []
    return { ...response, changes }
  },
  setPublicUrl(url: string): void {
    publicUrl = url
  },
  hurry: () => poller.hurry(),
  /** Takes what the projections of this process report, and passes it on. */
  advance(advances: readonly ProjectionAdvance[]): void {
    update(advances)
    for (const { names, position, range, workspaces, readable: isReadable } of advances) {
      for (const name of names) {
        positions.setReadable(name, isReadable)
        readable.set(name, isReadable)
        if (!isReadable) continue
        // Invalidate before advancing, so that waiters do not get a response from before the change.
        counters.recordChange(name, workspaces)
        positions.advance(name, position, range)
      }
    }
    notifyMain.advance(advances)
  },
  credential: ({
    kind,
    hash,
  }: {
    readonly kind: 'key' | 'session'
    readonly hash: string
  }): Promise<Credential | null> => (kind === 'key' ? keyOf(hash) : sessionOf(hash)),
  async publisherKey(hash: string): Promise<PublisherKeyPlace | null> {
    return (await readMany(views, publisherCredentials, [hash])).get(hash) ?? null
  },
  async poolKey(publicKey: string): Promise<PoolKeyPlace | null> {
    return (await readMany(views, poolKeys, [publicKey])).get(publicKey) ?? null
  },
  async workspace(id: string): Promise<WorkspaceAccess | null> {
    const found = (await readMany(views, workspaces, [id])).get(id)
    if (!found) return null
    const { name, planId, subscriptionStatus, timezone, sandbox } = found
    return { id, name, planId, subscriptionStatus, timezone, sandbox }
  },
  lookUp: ({ name, ids }: { readonly name: string; readonly ids: readonly string[] }): Promise<LookupRead> =>
    lookUp(name, ids),
  callLines: withPrefetch((ask) => readCallsExport(views, ask)),
  async progress() {
    const leases = await lookAtOwners()
    const now = systemClock.now()
    const unownedMs = (build: string) => owners.unownedMs(build, now)
    return readProgress(store, projections, { leases, isAlive: owners.isAlive, unownedMs })
  },
  missingIndexes,
  async rebuild(name: string): Promise<boolean> {
    const projection = projections.find((one) => one.name === name)
    return projection !== undefined && requestRebuild(store, projection)
  },
  ...viewHandlers(views),
}

/** Handlers of the query thread. */
export type QueryCalls = typeof handlers

if (start.siblingPort) serveRpc(start.siblingPort, { advance: handlers.advance })

serve({
  ...handlers,
  async close(): Promise<void> {
    stop.abort()
    await Promise.all([segmentThreads.close(), store.close(), ops.close()])
  },
})
