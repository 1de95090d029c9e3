import { backOffMs } from '../../kernel/async/backoff.ts'
import { errorMessage } from '../../kernel/async/errors.ts'
import type { RecordedEvent } from '../../kernel/event.ts'
import type { Clock } from '../../ports/clock.ts'
import { type EventLog, type LogPage, START } from '../../ports/event-log.ts'
import type { Checkpoint, ReadStore } from '../../ports/read-store.ts'
import type { Upcasts } from '../upcasts.ts'
import { type Batch, cacheDocuments, foldBatch, type ProjectionBuild, resetCheckpoint } from './projection-build.ts'

/** Why a projection stands still until its code is fixed. */
export interface Halt {
  readonly name: string
  readonly version: number
  readonly position: number
  readonly eventType: string
  readonly message: string
}

/** What lanes are taken on with. */
export interface StepPorts {
  readonly log: EventLog
  readonly store: ReadStore
  readonly clock: Clock
  readonly upcasts: Upcasts
  /** The lane's documents stand at its position; `touched` are the ids just written, in these workspaces (null: in any). */
  readonly report: (lane: ProjectionBuild, touched: readonly string[], workspaces: readonly string[] | null) => void
  readonly onHalt: (halt: Halt) => void
}

/** The steps of one lane. None of them throws for a store that is away except `settle` and `watchOwner`. */
export interface BuildSteps {
  /** Reads where the store says that a lane is. @throws StoreUnavailable */
  readonly loadCheckpoint: (lane: ProjectionBuild) => Promise<void>
  /** Looks whether the runner that owns the projection is alive, and takes over when it is not. @throws StoreUnavailable, LogUnavailable */
  readonly watchOwner: (lane: ProjectionBuild) => Promise<void>
  /** Folds a lane's inbox, which is its part of the page, and commits it. */
  readonly advance: (lane: ProjectionBuild, page: LogPage) => Promise<void>
  /** Moves the checkpoint of a lane that had nothing to write; at once, or when it is time to. Answers whether it stands where the lane does. */
  readonly flush: (lane: ProjectionBuild, atOnce?: boolean) => Promise<boolean>
  /** When `flush` will have something to do (ms); null for nothing. */
  readonly flushDue: (lane: ProjectionBuild) => number | null
}

const RETRIES = 3
/** Pages with nothing to write move the checkpoint only this often: by events when catching up, by time (ms) when live. */
const IDLE_EVENTS = 20_000
const IDLE_MS = 200
const STANDBY_EVERY_MS = 1_000
/** An owner that stands still for this long (ms) behind a log that went on is taken for dead. */
const TAKE_OVER_MS = 2_000
const STORE_RETRY_MS = 400

/** Workspaces that events are of; null when one of them is of none, for then it may concern any. */
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

/** The steps of lanes over a log and a store. */
export function createBuildSteps({ log, store, clock, upcasts, report, onHalt }: StepPorts): BuildSteps {
  /** Reads where the store says that a lane is. */
  async function loadCheckpoint(lane: ProjectionBuild): Promise<void> {
    const checkpoint = await store.checkpoint(lane.names.checkpoint)
    lane.committed = checkpoint?.position ?? null
    lane.position = lane.committed ?? START
    lane.at = checkpoint?.at ?? null
    lane.committedAt = clock.now()
    report(lane, [], null)
  }

  /** Looks whether the runner that owns the projection is alive, and takes over when it is not. */
  async function watchOwner(lane: ProjectionBuild): Promise<void> {
    const now = clock.now()
    const before = lane.committed
    await loadCheckpoint(lane)
    const still = lane.committed === before && (await log.head()) > (lane.committed ?? START)
    lane.stillSince = still ? (lane.stillSince ?? now) : null
    if (lane.stillSince !== null && now - lane.stillSince >= TAKE_OVER_MS) {
      lane.state = 'running'
      lane.stillSince = null
    } else lane.notBefore = now + STANDBY_EVERY_MS
  }

  function standBy(lane: ProjectionBuild): void {
    lane.state = 'standby'
    report(lane, [], null)
    resetCheckpoint(lane)
    lane.stillSince = null
    lane.notBefore = clock.now() + STANDBY_EVERY_MS
  }

  /** A reducer threw: again a little later, and then never again until the code is another. */
  function handleReducerError(lane: ProjectionBuild, { event, error }: NonNullable<Batch['fault']>): void {
    lane.failures += 1
    lane.problem = `${event.type} at ${event.position}: ${errorMessage(error)}`
    lane.recent = new Map()
    lane.older = new Map()
    if (lane.failures <= RETRIES) {
      lane.notBefore = clock.now() + backOffMs(lane.failures)
      return
    }
    lane.state = 'halted'
    const { name, version } = lane.projection
    onHalt({ name, version, position: event.position, eventType: event.type, message: errorMessage(error) })
  }

  /** Writes documents and moves the checkpoint; false when another runner has moved it. */
  async function write(lane: ProjectionBuild, writes: Batch['writes'], next: Checkpoint): Promise<boolean> {
    const moved = await store.commit(writes, { name: lane.names.checkpoint, expected: lane.committed, next })
    if (moved) lane.committed = next.position
    else standBy(lane)
    return moved
  }

  /**
   * Writes a batch and moves the checkpoint; false when another runner has moved it. What is emitted stands before the
   * documents that it stands beside do, so that a crash in between leaves nothing out: it is emitted again, the same.
   */
  async function commit(lane: ProjectionBuild, batch: Omit<Batch, 'events' | 'fault'>): Promise<boolean> {
    const { emitted, writes, position, at } = batch
    const here = { position: lane.committed ?? START, at: lane.at }
    if (emitted.length > 0 && !(await write(lane, emitted, here))) return false
    if (!(await write(lane, writes, { position, at }))) return false
    lane.seenBefore = lane.seen
    lane.committedAt = clock.now()
    return true
  }

  /** Folds a lane's part of a page and commits it. A store that is away leaves the lane to be settled again. */
  async function advance(lane: ProjectionBuild, page: LogPage): Promise<void> {
    const from = lane.position ?? START
    const reach = { position: Math.max(from, page.position), at: page.events.at(-1)?.meta.at ?? lane.at }
    try {
      let touched: readonly string[] = []
      let to: Pick<Batch, 'position' | 'at'> = reach
      if (lane.inbox.length > 0) {
        const batch = await foldBatch(lane, store, upcasts, reach)
        const moved = batch.position > from
        if ((moved || batch.writes.length > 0) && !(await commit(lane, batch))) return
        lane.events += batch.events
        touched = batch.writes.map(({ id }) => id)
        to = batch
        if (batch.fault) handleReducerError(lane, batch.fault)
        else {
          cacheDocuments(lane, batch.docs)
          lane.failures = 0
          lane.problem = null
        }
        if (batch.fault && !moved) return
      } else if (lane.failures === 0) lane.problem = null
      lane.position = to.position
      lane.at = to.at
      lane.seen += page.events.length
      report(lane, touched, touched.length > 0 ? workspacesOf(lane.inbox) : [])
    } catch (error) {
      storeFailed(lane, error)
    } finally {
      lane.inbox = []
    }
  }

  function storeFailed(lane: ProjectionBuild, error: unknown): void {
    lane.problem = errorMessage(error)
    resetCheckpoint(lane)
    lane.notBefore = clock.now() + STORE_RETRY_MS
  }

  async function flush(lane: ProjectionBuild, atOnce = false): Promise<boolean> {
    const { position } = lane
    if (position === null || position === (lane.committed ?? START)) return position !== null
    const much = lane.seen - lane.seenBefore >= IDLE_EVENTS
    if (!atOnce && !much && clock.now() - lane.committedAt < IDLE_MS) return false
    try {
      return await commit(lane, { emitted: [], writes: [], position, at: lane.at })
    } catch (error) {
      storeFailed(lane, error)
      return false
    }
  }

  const flushDue = (lane: ProjectionBuild): number | null =>
    lane.state !== 'running' || lane.position === null || lane.position === (lane.committed ?? START)
      ? null
      : lane.committedAt + IDLE_MS

  return { loadCheckpoint, watchOwner, advance, flush, flushDue }
}
