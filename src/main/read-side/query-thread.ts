import { credentials } from '../../../projections/access/credentials.ts'
import { sessions } from '../../../projections/access/sessions.ts'
import { users } from '../../../projections/access/users.ts'
import { workspaces } from '../../../projections/access/workspaces.ts'
import { revisions } from '../../../projections/configuration/revisions.ts'
import { readCallsExport } from '../../../queries/calls/calls-export.ts'
import { readMany } from '../../../queries/shared/documents.ts'
import type { Credential, WorkspaceAccess } from '../../domain/access/access.ts'
import type { Refusal } from '../../kernel/refusal.ts'
import { withColumns } from '../../runtime/columns/column-store.ts'
import { withActiveBuilds } from '../../runtime/projections/active-builds.ts'
import { requestRebuild } from '../../runtime/projections/build-lifecycle.ts'
import { createCheckpointTracker, pollCheckpoints } from '../../runtime/projections/checkpoint-tracker.ts'
import { readProgress } from '../../runtime/projections/projection-progress.ts'
import { createChangeCounters, type ProjectionChange } from '../../runtime/queries/change-counters.ts'
import { withReadInvalidation } from '../../runtime/queries/invalidate-on-read.ts'
import { withPendingEvents } from '../../runtime/queries/pending-events.ts'
import { createQueryRunner, type QueryRequest, type QueryResponse } from '../../runtime/queries/query-runner.ts'
import { columns, projections, queries } from '../registry.ts'
import { createSecrets } from '../secrets.ts'
import { openOperationalStore, openReadStore } from '../stores.ts'
import { systemClock, systemRandom } from '../system.ts'
import { withPrefetch } from './export-prefetch.ts'
import type { ProjectionAdvance } from './projector-thread.ts'
import { viewHandlers } from './remote-views.ts'
import { joinThread } from './threads.ts'

/** Positions that this thread reports to the main thread. */
export type PositionAdvance = Pick<ProjectionAdvance, 'name' | 'position'>

const { start, main, serve } = joinThread<{ readonly advance: (advances: readonly PositionAdvance[]) => void }>()
const { readStoreUrl, polls, root = new Uint8Array() } = start
let { publicUrl } = start
const secrets = createSecrets(Buffer.from(root), systemRandom)
const store = await openReadStore(readStoreUrl, { follows: true })
const ops = await openOperationalStore(readStoreUrl)
const counters = createChangeCounters()
/** Whether another process writes documents: then only the checkpoints in the store show that documents may have changed. */
let isRemotelyProjected = polls
const positions = createCheckpointTracker(systemClock)
const columnStore = withColumns(store, columns, (name) => (isRemotelyProjected ? null : counters.countOf(name)))
/** Changes that reads found before the projector reported them. The next response carries them to the main thread. */
let foundChanges: ProjectionChange[] = []
const recordChange = (...change: ProjectionChange) => {
  counters.recordChange(...change)
  foundChanges.push(change)
}
const views = withActiveBuilds(withReadInvalidation(columnStore, positions, { recordChange }), systemClock)
const stop = new AbortController()
const advance = (name: string, position: number) => {
  if (position <= positions.positionOf(name)) return
  positions.advance(name, position)
  main.advance([{ name, position }]).catch(() => undefined)
}
void pollCheckpoints({
  store,
  positions: { advance },
  isNeeded: () => isRemotelyProjected,
  clock: systemClock,
  signal: stop.signal,
})
const runner = createQueryRunner({
  queries,
  ports: {
    views,
    ops,
    secrets,
    get publicUrl() {
      return publicUrl
    },
  },
  positions,
  withPending: (behind, events) => ({ ...behind, views: withPendingEvents(behind.views, projections, events) }),
  revisions: {
    reads: revisions,
    of: async (record) => (await readMany(views, revisions, [record])).get(record)?.revision ?? null,
  },
})

async function keyOf(hash: string): Promise<Credential | null> {
  return (await readMany(views, credentials, [hash])).get(hash) ?? null
}

async function sessionOf(hash: string): Promise<Credential | null> {
  const session = (await readMany(views, sessions, [hash])).get(hash)
  const user = session && (await readMany(views, users, [session.userId])).get(session.userId)
  if (!session || !user) return null
  const seats = user.seats.map(({ workspaceId: agencyId, role }) => ({ agencyId, role }))
  return {
    kind: 'session',
    userId: session.userId,
    name: user.name,
    email: user.email,
    expiresAt: session.expiresAt,
    seats,
  }
}

const handlers = {
  /** Runs a query; `changes` are those that reads found since the last response. */
  async ask(
    request: QueryRequest,
  ): Promise<(QueryResponse | Refusal) & { readonly changes?: readonly ProjectionChange[] }> {
    const response = await runner.run(request)
    if (foundChanges.length === 0) return response
    const changes = foundChanges
    foundChanges = []
    return { ...response, changes }
  },
  setPublicUrl(url: string): void {
    publicUrl = url
  },
  setRemotelyProjected(value: boolean): void {
    isRemotelyProjected = value
  },
  advance(advances: readonly ProjectionAdvance[]): void {
    for (const { name, position, workspaces } of advances) {
      // Invalidate before advancing, so that waiters do not get a response from before the change.
      counters.recordChange(name, workspaces)
      positions.advance(name, position)
    }
  },
  credential: ({
    kind,
    hash,
  }: {
    readonly kind: 'key' | 'session'
    readonly hash: string
  }): Promise<Credential | null> => (kind === 'key' ? keyOf(hash) : sessionOf(hash)),
  async workspace(id: string): Promise<WorkspaceAccess | null> {
    const found = (await readMany(views, workspaces, [id])).get(id)
    if (!found) return null
    const { name, planId, subscriptionStatus, timezone, sandbox } = found
    return { id, name, planId, subscriptionStatus, timezone, sandbox }
  },
  callLines: withPrefetch((ask) => readCallsExport(views, ask)),
  progress: () => readProgress(store, projections),
  async rebuild(name: string): Promise<boolean> {
    const projection = projections.find((one) => one.name === name)
    return projection !== undefined && requestRebuild(store, projection)
  },
  ...viewHandlers(views),
}

/** Handlers of the query thread. */
export type QueryCalls = typeof handlers

serve({
  ...handlers,
  async close(): Promise<void> {
    stop.abort()
    await Promise.all([store.close(), ops.close()])
  },
})
