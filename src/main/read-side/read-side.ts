import type { CallsExportBatch, ExportBatchRequest } from '../../../queries/calls/calls-export.ts'
import { type CredentialStore, withCoalescing, withCredentialCache } from '../../api/credential-store.ts'
import type { ReadStore } from '../../ports/read-store.ts'
import { type CheckpointTracker, createCheckpointTracker } from '../../runtime/projections/checkpoint-tracker.ts'
import type { ProjectionProgress } from '../../runtime/projections/projection-progress.ts'
import type { ProjectionStatus } from '../../runtime/projections/projection-runner.ts'
import { createChangeCounters } from '../../runtime/queries/change-counters.ts'
import { withSingleFlight } from '../../runtime/queries/coalesce-queries.ts'
import type { QueryRunner } from '../../runtime/queries/query-runner.ts'
import { withResponseCache } from '../../runtime/queries/response-cache.ts'
import { queries } from '../registry.ts'
import { systemClock } from '../system.ts'
import type { ProjectionAdvance, ProjectorCalls } from './projector-thread.ts'
import type { QueryCalls, StoreCall } from './query-thread.ts'
import { startThread } from './threads.ts'

/** Projections that credentials are judged by. */
const ACCESS = new Set(['credentials', 'sessions', 'users', 'workspaces'])

/** Queries whose answers may be given again, with the projections that they read. */
const STEADY = new Map(
  queries.flatMap(({ name, cacheable, reads }) => (cacheable ? [[name, reads.map((read) => read.name)] as const] : [])),
)

/** The read side as the main thread sees it: everything in it happens in other threads. */
export interface ReadSide {
  readonly queries: QueryRunner
  readonly credentials: CredentialStore
  readonly positions: CheckpointTracker
  /** Reads of the read store; it writes nothing. */
  readonly views: Pick<ReadStore, StoreCall['method']>
  /** Lines of the call log as a file. @throws StoreUnavailable */
  readonly callLines: (ask: ExportBatchRequest) => Promise<CallsExportBatch>
  /** Null where another process runs the projections. */
  readonly projections: (() => Promise<readonly ProjectionStatus[]>) | null
  /** Tells where the platform is seen from outside, once that is known. */
  readonly setPublicUrl: (publicUrl: string) => Promise<void>
  /** How far the builds of every projection have come, whichever process makes them. */
  readonly builds: () => Promise<readonly ProjectionProgress[]>
  /** Begins to build a projection anew; false while that is under way. */
  readonly rebuild: (name: string) => Promise<boolean>
  readonly close: () => Promise<void>
}

/** Starts the threads that read: one for queries and, in a process with that role, one for the projections. */
export async function openReadSide(options: {
  readonly eventLogUrl: string
  readonly readStoreUrl: string
  readonly publicUrl: string
  readonly masterKey: Uint8Array
  readonly projects: boolean
  readonly onDeath: (error: Error) => void
}): Promise<ReadSide> {
  const { projects, onDeath, masterKey, ...given } = options
  const start = { ...given, polls: !projects }
  const positions = createCheckpointTracker(systemClock)
  const moves = createChangeCounters()
  const reached = (told: readonly Pick<ProjectionAdvance, 'name' | 'position'>[]) => {
    for (const { name, position } of told) positions.advance(name, position)
  }
  const queryThread = await startThread<QueryCalls>(
    new URL('./query-thread.ts', import.meta.url),
    { ...start, masterKey },
    { reached },
    onDeath,
  )
  const { calls } = queryThread
  const stored: CredentialStore = {
    credential: (kind, hash) => calls.credential({ kind, hash }),
    workspace: (id) => calls.workspace(id),
  }
  /** Projections that another process writes, though this one could. */
  const standingBy = new Set<string>()
  const apart = () => !projects || standingBy.size > 0
  const remembered = withCredentialCache(stored)
  const looked = withCoalescing(stored)
  // Where another process writes, nobody tells when a credential changes: each request looks.
  const credentials: CredentialStore = {
    credential: (kind, hash) => (apart() ? looked : remembered).credential(kind, hash),
    workspace: (id) => (apart() ? looked : remembered).workspace(id),
  }
  const advance = (told: readonly ProjectionAdvance[]) => {
    const before = apart()
    for (const { name, standby } of told) {
      if (standby) standingBy.add(name)
      else standingBy.delete(name)
    }
    if (apart() !== before) calls.apart(apart()).catch(() => undefined)
    calls.advance(told).catch(() => undefined)
    // Before the position, so that whoever waited for it is not given what stood before it.
    for (const { name, workspaces } of told) moves.recordChange(name, workspaces)
    reached(told)
    if (apart() || told.some(({ name, touched }) => touched && ACCESS.has(name))) remembered.clear()
  }
  const projector = projects
    ? await startThread<ProjectorCalls>(
        new URL('./projector-thread.ts', import.meta.url),
        start,
        { progress: advance },
        onDeath,
      )
    : null
  const asking: QueryRunner = {
    async run(ask) {
      const { noticed = [], ...answer } = await calls.ask(ask)
      for (const move of noticed) moves.recordChange(...move)
      return answer
    },
  }
  const stampOf = (names: readonly string[], workspaceId: string) => {
    const moved = moves.cacheVersionOf(names, workspaceId)
    return apart() ? `${moved} ${names.map(positions.positionOf)}` : moved
  }
  const read =
    (method: StoreCall['method']) =>
    (...parameters: readonly unknown[]) =>
      calls.store({ method, parameters })
  return {
    queries: withResponseCache(withSingleFlight(asking), { cacheable: STEADY, positions, cacheVersionOf: stampOf }),
    credentials,
    positions,
    views: {
      get: read('get'),
      getMany: read('getMany'),
      find: read('find'),
      pluck: read('pluck'),
      count: read('count'),
      sum: read('sum'),
      checkpoint: read('checkpoint'),
      checkpoints: read('checkpoints'),
    } as ReadSide['views'],
    callLines: (ask) => calls.callLines(ask),
    setPublicUrl: (publicUrl) => calls.locate(publicUrl),
    builds: () => calls.builds(null as never),
    rebuild: (name) => calls.rebuild(name),
    projections: projector && (() => projector.calls.status(null as never)),
    async close() {
      await Promise.all([projector?.close(), queryThread.close()])
    },
  }
}
