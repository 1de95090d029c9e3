import { backOffMs } from '../../kernel/async/backoff.ts'
import { errorMessage } from '../../kernel/async/errors.ts'
import type { RecordedEvent } from '../../kernel/event.ts'
import { type LogPage, START } from '../../ports/event-log.ts'
import type { Checkpoint } from '../../ports/read-store.ts'
import type { BuildPorts } from './build-ports.ts'
import { type Batch, foldBatch, type ReducerFault } from './fold-batch.ts'
import {
  cacheDocuments,
  clearDocuments,
  type ProjectionBuild,
  positionOf,
  resetCheckpoint,
} from './projection-build.ts'
import { standBy } from './standby.ts'

/** Retries of a reducer before its projection halts. */
const RETRIES = 3
/** A checkpoint without documents to write is committed only this often: by events while catching up, by ms while live. */
const IDLE_EVENTS = 20_000
const IDLE_MS = 200
const STORE_RETRY_MS = 400

/** Workspaces of the events; null when an event has none, since it may then concern any workspace. */
function workspacesOf(events: readonly RecordedEvent[]): readonly string[] | null {
  const ids = new Set<string>()
  let last: string | null = null
  for (const { meta } of events) {
    if (meta.workspaceId === null) return null
    if (meta.workspaceId !== last) ids.add(meta.workspaceId)
    last = meta.workspaceId
  }
  return [...ids]
}

/** Retries the event a little later; halts the projection after the last retry. */
function handleReducerError(
  { clock, onHalt }: BuildPorts,
  build: ProjectionBuild,
  { event, error }: ReducerFault,
): void {
  build.failures += 1
  build.problem = `${event.type} at ${event.position}: ${errorMessage(error)}`
  clearDocuments(build)
  if (build.failures <= RETRIES) {
    build.notBefore = clock.now() + backOffMs(build.failures)
    return
  }
  build.state = 'halted'
  const { name, version } = build.projection
  onHalt({ name, version, position: event.position, eventType: event.type, message: errorMessage(error) })
}

function handleStoreError({ clock }: BuildPorts, build: ProjectionBuild, error: unknown): void {
  build.problem = errorMessage(error)
  resetCheckpoint(build)
  build.notBefore = clock.now() + STORE_RETRY_MS
}

/** Writes documents and moves the checkpoint; false when another runner has moved it, which then owns the build. */
async function write(
  ports: BuildPorts,
  build: ProjectionBuild,
  writes: Batch['writes'],
  next: Checkpoint,
): Promise<boolean> {
  const moved = await ports.store.commit(writes, { name: build.names.checkpoint, expected: build.committed, next })
  if (moved) build.committed = next.position
  else standBy(ports, build)
  return moved
}

/**
 * Commits a batch; false when another runner has moved the checkpoint. Emitted documents are written first, under the
 * old checkpoint: after a crash in between, the same documents are emitted again.
 */
async function commit(
  ports: BuildPorts,
  build: ProjectionBuild,
  { emitted, writes, position, at }: Pick<Batch, 'emitted' | 'writes' | 'position' | 'at'>,
): Promise<boolean> {
  const current = { position: build.committed ?? START, at: build.at }
  if (emitted.length > 0 && !(await write(ports, build, emitted, current))) return false
  if (!(await write(ports, build, writes, { position, at }))) return false
  build.seenBefore = build.seen
  build.committedAt = ports.clock.now()
  return true
}

/** Folds and commits the inbox. Resolves to the batch; null when the build must stay where it was. */
async function foldInbox(
  ports: BuildPorts,
  build: ProjectionBuild,
  reach: Pick<Batch, 'position' | 'at'>,
): Promise<Batch | null> {
  const from = positionOf(build)
  const batch = await foldBatch(build, ports.store, ports.upcasts, reach)
  const moved = batch.position > from
  if ((moved || batch.writes.length > 0) && !(await commit(ports, build, batch))) return null
  build.events += batch.events
  if (batch.fault) {
    handleReducerError(ports, build, batch.fault)
    return moved ? batch : null
  }
  cacheDocuments(build, batch.docs)
  build.failures = 0
  build.problem = null
  return batch
}

/**
 * Folds a build's inbox, which is its part of the page, commits it and reports. Does not throw: when the store is
 * unavailable, the build reads its checkpoint again and retries.
 */
export async function advance(ports: BuildPorts, build: ProjectionBuild, page: LogPage): Promise<void> {
  const reach = {
    position: Math.max(positionOf(build), page.position),
    at: page.events.at(-1)?.meta.at ?? build.at,
  }
  try {
    const batch = build.inbox.length > 0 ? await foldInbox(ports, build, reach) : { ...reach, writes: [] }
    if (batch === null) return
    if (build.inbox.length === 0 && build.failures === 0) build.problem = null
    const touched = batch.writes.map(({ id }) => id)
    build.position = batch.position
    build.at = batch.at
    build.seen += page.events.length
    ports.report(build, touched, touched.length > 0 ? workspacesOf(build.inbox) : [])
  } catch (error) {
    handleStoreError(ports, build, error)
  } finally {
    build.inbox = []
  }
}

/**
 * Commits the checkpoint of a build that had nothing to write: at once, or when it is due. Resolves to whether the
 * checkpoint is at the build's position. Does not throw.
 */
export async function flush(ports: BuildPorts, build: ProjectionBuild, atOnce = false): Promise<boolean> {
  const { position } = build
  if (position === null || position === (build.committed ?? START)) return position !== null
  const manySeen = build.seen - build.seenBefore >= IDLE_EVENTS
  if (!atOnce && !manySeen && ports.clock.now() - build.committedAt < IDLE_MS) return false
  try {
    return await commit(ports, build, { emitted: [], writes: [], position, at: build.at })
  } catch (error) {
    handleStoreError(ports, build, error)
    return false
  }
}

/** When `flush` is due (ms since the epoch); null when there is nothing to flush. */
export function flushDueAt(build: ProjectionBuild): number | null {
  return build.state !== 'running' || build.position === null || build.position === (build.committed ?? START)
    ? null
    : build.committedAt + IDLE_MS
}
