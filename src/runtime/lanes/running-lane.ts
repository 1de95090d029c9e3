import { parseStreamName } from '../../kernel/entity.ts'
import type { RecordedEvent } from '../../kernel/event.ts'
import { inRange, isWhole, type PartitionRange } from '../../kernel/partition.ts'
import type { LogPage } from '../../ports/event-log.ts'
import type { Lane, LaneGroup } from '../ownership/lane.ts'

/**
 * `contending`: this process does not own it. `starting`: it does, and reads the checkpoint next. `running`: its events are
 * worked on. `halted`: its work failed again and again; `outdated`: it met an event of a version that this code does not
 * know. This process contends for neither until it is started anew.
 */
export type LaneState = 'contending' | 'starting' | 'running' | 'halted' | 'outdated'

/** Up to where the log is done for consecutive partitions. */
export interface DonePartitions {
  readonly range: PartitionRange
  readonly position: number
}

/** A lane of the log in this process. Positions are log positions, instants ms since the epoch. */
export interface RunningLane extends Lane {
  state: LaneState
  /** Epoch of the lease under which it is owned. */
  epoch: number
  /** Position up to which the log has been read for it. */
  read: number
  /** Its partitions that were further when it began, having been cut otherwise before: their events up to there are done. */
  ahead: readonly DonePartitions[]
  /** Nothing is retried before. */
  notBefore: number
  /** Work on it that has not ended; null for none. */
  busy: Promise<void> | null
  problem: string | null
}

/** How a lane begins: it runs, is tried again, or its checkpoint carries a later epoch than its lease. */
export type Begun = 'running' | 'retry' | { readonly laterEpoch: number }

/** Pauses a lane for a multiple of the time that it has worked since its last pause. */
export type PauseWork = () => Promise<void>

/** What is done with lanes. `take` and `commit` handle their own errors. */
export interface LaneWork<L extends RunningLane> {
  readonly lanes: () => readonly L[]
  /** What the lanes are lanes of. */
  readonly groups: () => readonly LaneGroup[]
  /** Brings the lanes up to date. Resolves to when it has to be called again; 0 for at once. @throws LogUnavailable, StoreUnavailable */
  readonly refresh: (now: number) => Promise<number>
  /** Reads the checkpoint of an owned lane and writes its epoch there. @throws LogUnavailable, StoreUnavailable */
  readonly begin: (lane: L) => Promise<Begun>
  /** Whether nobody waits for a lane: the others then need not wait for it either. None by default. */
  readonly isBackground?: (lane: L) => boolean
  /** Whether a background lane may pause while live events arrive. None by default. */
  readonly mayPause?: (lane: L) => boolean
  /** Whether a lane takes more events. */
  readonly hasRoom: (lane: L) => boolean
  /** Hands a page out to lanes that are behind it, before they take it. */
  readonly distribute: (page: LogPage, members: readonly L[]) => void
  /** Skips a page that holds nothing for a lane, at once; false where it holds something. By default no lane does. */
  readonly skip?: (lane: L, page: LogPage) => boolean
  /** Takes its part of a page. `pause`: to be called between pieces of this work while others wait for live events; else null. */
  readonly take: (lane: L, page: LogPage, pause: PauseWork | null) => Promise<void>
  /** Starts what is due beside reading. Returns when there is more to start; null for after the next events. */
  readonly dispatch: (lane: L, now: number) => number | null
  /** When the lane's position has to be committed; null when it is. */
  readonly commitDueAt: (lane: L) => number | null
  readonly commit: (lane: L) => Promise<void>
  /** Ends the work of an owned lane, and commits it. @throws StoreUnavailable */
  readonly finish: (lane: L) => Promise<void>
  /** Forgets the work of a lane that this process does not own any more. */
  readonly end: (lane: L) => void
}

/** The part of a lane that every kind of work begins with. */
export function runningLane(lane: Lane, read: number): RunningLane {
  return { ...lane, state: 'contending', epoch: 0, read, ahead: [], notBefore: 0, busy: null, problem: null }
}

/** Whether the events of a stream are those of a lane. */
export function isOfLane({ range }: Pick<Lane, 'range'>, stream: string): boolean {
  return isWhole(range) || inRange(range, parseStreamName(stream).partition)
}

/** Up to where the log is done for a lane and a stream. */
export function doneUpTo({ read, ahead }: Pick<RunningLane, 'read' | 'ahead'>, stream: string): number {
  if (ahead.length === 0) return read
  const { partition } = parseStreamName(stream)
  return Math.max(read, ahead.find(({ range }) => inRange(range, partition))?.position ?? read)
}

/** Whether an event is one of a lane, and not done yet. */
export function isNewTo(lane: RunningLane, { stream, position }: Pick<RecordedEvent, 'stream' | 'position'>): boolean {
  return position > lane.read && isOfLane(lane, stream) && position > doneUpTo(lane, stream)
}

/** Why a lane cannot go on at an event whose version this code does not know. */
export function unknownVersionProblem({ type, position, version }: RecordedEvent, known: number): string {
  return `${type} at ${position} has version ${version}; this process knows versions up to ${known}`
}
