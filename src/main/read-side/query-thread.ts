import { parentPort, workerData } from 'node:worker_threads'
import { credentials } from '../../../projections/access/credentials.ts'
import { sessions } from '../../../projections/access/sessions.ts'
import { users } from '../../../projections/access/users.ts'
import { workspaces } from '../../../projections/access/workspaces.ts'
import { revisions } from '../../../projections/configuration/revisions.ts'
import { readCallsExport } from '../../../queries/calls/calls-export.ts'
import { readMany } from '../../../queries/shared/documents.ts'
import type { Credential, WorkspaceAccess } from '../../domain/access/access.ts'
import { type Channel, connectRpc, serveRpc } from '../../kernel/async/thread-rpc.ts'
import type { Refusal } from '../../kernel/refusal.ts'
import { withColumns } from '../../runtime/columns/column-store.ts'
import { withActiveBuilds } from '../../runtime/projections/active-builds.ts'
import { createCheckpointTracker, pollCheckpoints } from '../../runtime/projections/checkpoint-tracker.ts'
import { readProgress } from '../../runtime/projections/projection-progress.ts'
import { requestRebuild } from '../../runtime/projections/switch-build.ts'
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
import type { ThreadStart } from './threads.ts'

/** A method of the read store, asked from another thread. */
export interface StoreCall {
  readonly method: 'get' | 'getMany' | 'find' | 'pluck' | 'count' | 'sum' | 'checkpoint' | 'checkpoints'
  readonly parameters: readonly unknown[]
}

const { readStoreUrl, polls, back, masterKey = new Uint8Array(), ...start } = workerData as ThreadStart
let { publicUrl } = start
const secrets = createSecrets(Buffer.from(masterKey), systemRandom)
const store = await openReadStore(readStoreUrl, { follows: true })
const ops = await openOperationalStore(readStoreUrl)
const moves = createChangeCounters()
/** Whether another process writes documents: then only the positions in the store tell that something may have moved. */
let apart = polls
const positions = createCheckpointTracker(systemClock)
const columned = withColumns(store, columns, (name) => (apart ? null : moves.countOf(name)))
/** What reads have shown that nobody told of yet: the main thread hears it with the next answer, before that is given. */
let noticed: ProjectionChange[] = []
const moved = (...move: ProjectionChange) => {
  moves.recordChange(...move)
  noticed.push(move)
}
const views = withActiveBuilds(withReadInvalidation(columned, positions, { recordChange: moved }), systemClock)
const stop = new AbortController()
const main = connectRpc<{ readonly reached: (told: readonly Pick<ProjectionAdvance, 'name' | 'position'>[]) => void }>(
  back as unknown as Channel,
  () => new Error('The main thread has ended.'),
)
const advance = (name: string, position: number) => {
  if (position <= positions.positionOf(name)) return
  positions.advance(name, position)
  main.reached([{ name, position }]).catch(() => undefined)
}
void pollCheckpoints({
  store,
  positions: { advance },
  isNeeded: () => apart,
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
  async ask(
    ask: QueryRequest,
  ): Promise<(QueryResponse | Refusal) & { readonly noticed?: readonly ProjectionChange[] }> {
    const answer = await runner.run(ask)
    if (noticed.length === 0) return answer
    const told = noticed
    noticed = []
    return { ...answer, noticed: told }
  },
  locate(url: string): void {
    publicUrl = url
  },
  apart(value: boolean): void {
    apart = value
  },
  advance(told: readonly ProjectionAdvance[]): void {
    for (const { name, position, workspaces } of told) {
      // Before the position, so that whoever waited for it is not given what stood before it.
      moves.recordChange(name, workspaces)
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
    const { name, planId, subscriptionStatus, timezone } = found
    return { id, name, planId, subscriptionStatus, timezone }
  },
  callLines: withPrefetch((ask) => readCallsExport(views, ask)),
  builds: () => readProgress(store, projections),
  async rebuild(name: string): Promise<boolean> {
    const projection = projections.find((one) => one.name === name)
    return projection !== undefined && requestRebuild(store, projection)
  },
  store: ({ method, parameters }: StoreCall): Promise<unknown> =>
    (views[method] as (...parameters: readonly unknown[]) => Promise<unknown>)(...parameters),
}
export type QueryCalls = typeof handlers

serveRpc(parentPort as unknown as Channel, {
  ...handlers,
  async close(): Promise<void> {
    stop.abort()
    await Promise.all([store.close(), ops.close()])
  },
})
parentPort?.postMessage('ready')
