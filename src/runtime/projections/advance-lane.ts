import { backOffMs } from '../../kernel/async/backoff.ts'
import { errorMessage } from '../../kernel/async/errors.ts'
import { isKnownVersion, versionOf } from '../../kernel/entity.ts'
import type { RecordedEvent } from '../../kernel/event.ts'
import { type LogPage, START } from '../../ports/event-log.ts'
import type { DocumentWrite } from '../../ports/read-store.ts'
import { type PauseWork, unknownVersionProblem } from '../lanes/running-lane.ts'
import type { BuildPorts } from './build-ports.ts'
import { type Batch, foldBatch, type ReducerFault } from './fold-batch.ts'
import { cacheDocuments, clearDocuments, PIECE, type ProjectionLane } from './projection-lane.ts'

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

/** Retries the event a little later; halts the lane after the last retry. */
function handleReducerError({ clock, onHalt }: BuildPorts, lane: ProjectionLane, { event, error }: ReducerFault): void {
  lane.failures += 1
  lane.problem = `${event.type} at ${event.position}: ${errorMessage(error)}`
  clearDocuments(lane)
  if (lane.failures <= RETRIES) {
    lane.notBefore = clock.now() + backOffMs(lane.failures)
    return
  }
  lane.state = 'halted'
  const { name, version } = lane.projection
  onHalt({ name, version, position: event.position, eventType: event.type, message: errorMessage(error) })
}

/** Has the lane read its checkpoint again: what is stored is not known. */
export function restart(lane: ProjectionLane): void {
  if (lane.state === 'running') lane.state = 'starting'
  clearDocuments(lane)
}

function handleStoreError({ clock }: BuildPorts, lane: ProjectionLane, error: unknown): void {
  lane.problem = errorMessage(error)
  lane.notBefore = clock.now() + STORE_RETRY_MS
  restart(lane)
}

/** Writes documents and moves the checkpoint; false when it is another owner's by now. */
async function commit(
  { store, clock }: BuildPorts,
  lane: ProjectionLane,
  { writes, position, at }: Pick<Batch, 'writes' | 'position' | 'at'>,
): Promise<boolean> {
  const { key: name, committed: expected, epoch } = lane
  if (!(await store.commit(writes, { name, expected, next: { position, at, epoch } }))) {
    restart(lane)
    return false
  }
  lane.committed = position
  lane.seenBefore = lane.seen
  lane.committedAt = clock.now()
  return true
}

/** Documents of the next piece, to fit the target duration at the speed of the last one: its documents, and its duration (ms). */
function nextSize(documents: number, tookMs: number): number {
  const fitting = Math.floor((documents * PIECE.ms) / Math.max(1, tookMs))
  return Math.min(PIECE.most, Math.ceil(documents * PIECE.growth), Math.max(PIECE.least, fitting))
}

const kindOf = ({ isStored }: DocumentWrite) => (isStored ? 'replaced' : 'added')

/**
 * The same with pauses: in pieces as large as fit their target duration at the speed of the last one. The checkpoint moves with the
 * last piece. Until then the documents are ahead of it, and skip the events that they have when the batch is folded again.
 */
async function commitInPieces(
  ports: BuildPorts,
  lane: ProjectionLane,
  { writes, ...reach }: Pick<Batch, 'writes' | 'position' | 'at'>,
  pause: PauseWork,
): Promise<boolean> {
  const { added = [], replaced = [] } = Object.groupBy(writes, kindOf)
  for (let left = [...added, ...replaced]; ; ) {
    const [first] = left
    const kind = first ? kindOf(first) : 'added'
    const piece = left.slice(0, lane.pieces[kind]).filter((write) => kindOf(write) === kind)
    if (piece.length === left.length) return commit(ports, lane, { writes: left, ...reach })
    const begun = ports.clock.now()
    if (!(await commit(ports, lane, { writes: piece, position: lane.committed ?? START, at: lane.at }))) return false
    left = left.slice(piece.length)
    lane.pieces[kind] = nextSize(piece.length, ports.clock.now() - begun)
    await pause()
  }
}

/** Folds and commits the inbox. Resolves to the batch; null when the lane must stay where it was. */
async function foldInbox(
  ports: BuildPorts,
  lane: ProjectionLane,
  reach: Pick<Batch, 'position' | 'at'>,
  pause: PauseWork | null,
): Promise<Batch | null> {
  const from = lane.read
  const batch = await foldBatch(lane, ports.store, ports.upcasts, reach, ports.clock.now())
  const moved = batch.position > from
  const isStored = () => (pause === null ? commit(ports, lane, batch) : commitInPieces(ports, lane, batch, pause))
  if ((moved || batch.writes.length > 0) && !(await isStored())) return null
  lane.events += batch.events
  if (batch.fault) {
    handleReducerError(ports, lane, batch.fault)
    return moved ? batch : null
  }
  cacheDocuments(lane, batch.docs)
  lane.failures = 0
  lane.problem = null
  return batch
}

/** Leaves an event of an unknown version, and all that follows, out of the inbox. Returns that event; null for none. */
function cutAtUnknown({ upcasts }: BuildPorts, lane: ProjectionLane): RecordedEvent | null {
  const index = lane.inbox.findIndex((event) => !isKnownVersion({ upcasts }, event))
  const unknown = lane.inbox[index]
  if (unknown === undefined) return null
  lane.inbox = lane.inbox.slice(0, index)
  return unknown
}

/** Moves a lane on to where a batch has come. `touched`: the documents that it changed. */
function moveTo(
  { report }: BuildPorts,
  lane: ProjectionLane,
  { position, at }: Pick<Batch, 'position' | 'at'>,
  seen: number,
  touched: readonly string[],
): void {
  lane.read = position
  lane.at = at
  lane.seen += seen
  report(lane, touched, touched.length > 0 ? workspacesOf(lane.inbox) : [])
}

/** Folds what the inbox holds, up to a position, commits it and reports. */
async function advanceTo(
  ports: BuildPorts,
  lane: ProjectionLane,
  reach: Pick<Batch, 'position' | 'at'>,
  seen: number,
  pause: PauseWork | null,
): Promise<void> {
  const batch = lane.inbox.length > 0 ? await foldInbox(ports, lane, reach, pause) : { ...reach, writes: [] }
  if (batch === null) return
  if (lane.inbox.length === 0 && lane.failures === 0) lane.problem = null
  const touched = batch.writes.filter(({ isFirst }) => !isFirst).map(({ id }) => id)
  moveTo(ports, lane, batch, seen, touched)
}

/** Moves a lane past a page that holds nothing for it, and reports; false, and nothing done, where it holds something. */
export function skip(ports: BuildPorts, lane: ProjectionLane, { position, events }: LogPage): boolean {
  if (lane.inbox.length > 0) return false
  if (lane.failures === 0) lane.problem = null
  const at = events.at(-1)?.meta.at ?? lane.at
  moveTo(ports, lane, { position: Math.max(lane.read, position), at }, events.length, [])
  return true
}

/**
 * Folds a lane's inbox, which is its part of the page, commits it, in pieces where it pauses, and reports. Does not throw: when the
 * store is unavailable, the lane reads its checkpoint again and retries. At an event of an unknown version it ends.
 */
export async function advance(
  ports: BuildPorts,
  lane: ProjectionLane,
  page: LogPage,
  pause: PauseWork | null = null,
): Promise<void> {
  const unknown = cutAtUnknown(ports, lane)
  const last = lane.inbox.at(-1)
  const reach = unknown
    ? { position: last?.position ?? lane.read, at: last?.meta.at ?? lane.at }
    : { position: Math.max(lane.read, page.position), at: page.events.at(-1)?.meta.at ?? lane.at }
  try {
    await advanceTo(ports, lane, reach, page.events.length, pause)
    if (unknown && lane.state === 'running' && lane.read === reach.position) {
      lane.state = 'outdated'
      lane.problem = unknownVersionProblem(unknown, versionOf(ports, unknown.type))
    }
  } catch (error) {
    handleStoreError(ports, lane, error)
  } finally {
    lane.inbox = []
  }
}

/** Commits the checkpoint of a lane that had nothing to write. Resolves to whether it is stored. Does not throw. */
export async function flush(ports: BuildPorts, lane: ProjectionLane): Promise<boolean> {
  const { read, committed } = lane
  if (read === (committed ?? START)) return true
  try {
    return await commit(ports, lane, { writes: [], position: read, at: lane.at })
  } catch (error) {
    handleStoreError(ports, lane, error)
    return false
  }
}

/** When `flush` is due (ms since the epoch); null when there is nothing to flush. */
export function flushDueAt({ read, committed, seen, seenBefore, committedAt }: ProjectionLane): number | null {
  if (read === (committed ?? START)) return null
  return seen - seenBefore >= IDLE_EVENTS ? 0 : committedAt + IDLE_MS
}
