import { isKnownVersion, versionOf } from '../../kernel/entity.ts'
import type { RecordedEvent } from '../../kernel/event.ts'
import { createInFlight, type InFlight } from '../../kernel/in-flight.ts'
import type { AnyReaction } from '../../kernel/reaction.ts'
import { START } from '../../ports/event-log.ts'
import { isNewTo, type RunningLane, runningLane, unknownVersionProblem } from '../lanes/running-lane.ts'
import { lanesOf } from '../ownership/lane.ts'
import type { Upcasts } from '../upcasts.ts'
import type { ParkedStream } from './parked-streams.ts'

/** One event to be processed by one reaction. `at` is when it was read (ms since the epoch, by this process's clock). */
export interface ReactionJob {
  readonly event: RecordedEvent
  readonly at: number
  done: boolean
}

/** A parked stream, as its lane knows it. */
export interface LaneParkedStream {
  entry: ParkedStream
  /** Position up to which events of the stream have been read, and wait. */
  seen: number
  /** Whether the stored entry lags behind. */
  changed: boolean
  /** Whether the stream is being resumed. */
  resuming: boolean
}

/** A lane of a reaction in this process. Positions are log positions, instants ms since the epoch. */
export interface ReactionLane<Tools> extends RunningLane {
  readonly reaction: AnyReaction<Tools>
  /** Every event up to here is done, or waits in a parked stream. */
  position: number
  /** The checkpoint as stored, and the version of its entry. */
  committed: number
  version: number
  committedAt: number
  /** Jobs after `position`, in log order. */
  jobs: ReactionJob[]
  /** Those that have not been dispatched, in log order. */
  queue: ReactionJob[]
  /** The same by the ids of their events. */
  readonly queued: InFlight<string, ReactionJob>
  /** Streams with a running job, each with the jobs that wait for it: one job per stream runs at a time. */
  readonly streams: InFlight<string, ReactionJob[]>
  readonly running: Set<Promise<void>>
  readonly parked: Map<string, LaneParkedStream>
  /** Grows when ownership ends, so that jobs of an earlier term change nothing. */
  term: number
  /** Why it reads no further: an event of a version that this code does not know. Null while there is none. */
  unknown: string | null
  /** Whether failed jobs are left to the next owner, because the lane is given back. */
  stopping: boolean
}

/** The lanes of a reaction, none of which is owned yet. */
export function reactionLanes<Tools>(reaction: AnyReaction<Tools>, shards: number): readonly ReactionLane<Tools>[] {
  return lanesOf({ name: reaction.name, shards }).map((lane) => ({
    ...runningLane(lane, START),
    reaction,
    position: START,
    committed: START,
    version: 0,
    committedAt: 0,
    jobs: [],
    queue: [],
    queued: createInFlight(),
    streams: createInFlight(),
    running: new Set(),
    parked: new Map(),
    term: 0,
    unknown: null,
    stopping: false,
  }))
}

/** Ends the term of a lane. The next owner processes the events that are not done. */
export function endTerm<Tools>(lane: ReactionLane<Tools>): void {
  lane.term += 1
  lane.jobs = []
  lane.queue = []
  lane.queued.clear()
  lane.streams.clear()
  lane.running.clear()
  lane.parked.clear()
}

/** The event waits behind those before it in its parked stream. */
function wait(parked: LaneParkedStream, { position }: RecordedEvent): void {
  parked.entry = { ...parked.entry, waiting: parked.entry.waiting + 1 }
  parked.seen = Math.max(parked.seen, position)
  parked.changed = true
}

/** Marks the job as done whose step another process has done: this event shows it. */
function settleCause<Tools>({ queued, reaction }: ReactionLane<Tools>, { type, meta }: RecordedEvent): void {
  if (meta.causationId === null) return
  const job = queued.get(meta.causationId)
  if (job && reaction.doneBy[job.event.type]?.includes(type)) job.done = true
}

/**
 * Takes the events of a page that the reaction handles. Stops before an event of a version that this code does not know:
 * the lane then has a problem, reads no further, and ends when its jobs are done.
 */
export function enqueue<Tools>(
  lane: ReactionLane<Tools>,
  page: { readonly events: readonly RecordedEvent[]; readonly position: number },
  upcasts: Upcasts,
  now: number,
): void {
  for (const event of page.events) {
    if (!isNewTo(lane, event)) continue
    settleCause(lane, event)
    if (lane.reaction.on[event.type] === undefined) continue
    if (!isKnownVersion({ upcasts }, event)) {
      lane.unknown = unknownVersionProblem(event, versionOf({ upcasts }, event.type))
      return
    }
    lane.read = event.position
    const parked = lane.parked.get(event.stream)
    if (parked) {
      wait(parked, event)
      continue
    }
    const job = { event, at: now, done: false }
    lane.jobs.push(job)
    lane.queue.push(job)
    lane.queued.set(event.meta.eventId, job)
  }
  lane.read = Math.max(lane.read, page.position)
}

/** Parks a stream at a job that failed: the jobs behind it wait. */
export function park<Tools>(lane: ReactionLane<Tools>, job: ReactionJob, entry: ParkedStream): void {
  const { stream } = job.event
  const parked = { entry, seen: lane.read, changed: false, resuming: false }
  lane.parked.set(stream, parked)
  job.done = true
  const behind = [...(lane.streams.get(stream) ?? []), ...lane.queue.filter(({ event }) => event.stream === stream)]
  for (const waiting of behind) {
    if (waiting.done) continue
    waiting.done = true
    lane.queued.delete(waiting.event.meta.eventId)
    wait(parked, waiting.event)
  }
  lane.streams.set(stream, [])
  lane.queue = lane.queue.filter(({ done }) => !done)
}

/** Moves `position` to the last event before the first one that is not done. */
export function advancePosition<Tools>(lane: ReactionLane<Tools>): void {
  const { jobs } = lane
  const open = jobs.findIndex(({ done }) => !done)
  const done = open === -1 ? jobs.length : open
  const last = jobs[done - 1]
  if (last) lane.position = Math.max(lane.position, last.event.position)
  if (done > 0) lane.jobs = jobs.slice(done)
  if (lane.jobs.length === 0) lane.position = Math.max(lane.position, lane.read)
}
