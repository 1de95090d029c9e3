import { waitBeforeRetry } from '../../kernel/async/backoff.ts'
import { createWakeSignal } from '../../kernel/async/wake-signal.ts'
import type { PartitionRange } from '../../kernel/partition.ts'
import type { AnyReaction } from '../../kernel/reaction.ts'
import type { Clock } from '../../ports/clock.ts'
import type { EventLog } from '../../ports/event-log.ts'
import type { OperationalStore } from '../../ports/operational-store.ts'
import { runLanes } from '../lanes/lane-runner.ts'
import { createLogReader } from '../lanes/log-reader.ts'
import { doneOrSlow } from '../lanes/read-lanes.ts'
import type { LaneWork } from '../lanes/running-lane.ts'
import type { Ownership } from '../ownership/ownership.ts'
import type { Upcasts } from '../upcasts.ts'
import { createDispatcher, type Dispatcher, type DispatcherOptions } from './dispatch-jobs.ts'
import type { OwnEffects } from './effects.ts'
import { type ParkedStream, putParked } from './parked-streams.ts'
import { beginReaction, commitDueAt, commitReaction } from './reaction-checkpoint.ts'
import { endTerm, enqueue, type ReactionLane, reactionLanes } from './reaction-lane.ts'
import { parkedEntry, type ResumePorts, resumeRequested } from './resume-parked.ts'

/** Status of one lane of a reaction in this process. */
export interface ReactionStatus {
  readonly name: string
  readonly range: PartitionRange
  /** Every event up to here is done, or waits in a parked stream. */
  readonly position: number
  /** `outdated`: it met an event of a version that this process does not know. */
  readonly state: 'owner' | 'contending' | 'outdated'
  /** Events read and not done. */
  readonly waiting: number
  readonly problem: string | null
}

export interface ReactionRunnerOptions<Tools> extends Partial<OwnEffects> {
  readonly log: EventLog
  readonly ops: OperationalStore
  readonly ownership: Ownership
  readonly reactions: readonly AnyReaction<Tools>[]
  /** Into how many ranges the partitions are cut (default: 1). */
  readonly shards?: number
  readonly tools: Tools
  readonly upcasts?: Upcasts
  readonly clock: Clock
  readonly signal: AbortSignal
  /**
   * How long an event waits after it was read (ms): usually the process that appended it runs its effects at once.
   */
  readonly graceMs: number
  /** A stream was parked. */
  readonly onPark?: (parked: ParkedStream) => void
}

export interface ReactionRunner {
  readonly status: () => readonly ReactionStatus[]
  /** Resolves when the signal has aborted, the running jobs have ended and the positions are committed. */
  readonly done: Promise<void>
}

/** A lane with this many jobs reads no further. */
const MAX_JOBS = 2_000
/** How often operators' requests about parked streams are looked for (ms). */
const LOOK_EVERY_MS = 1_000

type Lane<Tools> = ReactionLane<Tools>

/** Stores parked streams; an unavailable store is waited for. */
function createParking<Tools>({
  ops,
  clock,
  signal,
  onPark,
}: ReactionRunnerOptions<Tools>): DispatcherOptions<Tools>['storeParked'] {
  return async (lane, job, failure) => {
    const { term, reaction } = lane
    const at = new Date(clock.now()).toISOString()
    const entry = parkedEntry(reaction.name, job.event, failure, { at, waiting: 0 })
    for (let tries = 1; lane.term === term && !lane.stopping && !signal.aborted; tries++) {
      try {
        await putParked(ops, entry)
        if (lane.term !== term) return null
        onPark?.(entry)
        return entry
      } catch {
        await waitBeforeRetry(clock, tries, signal)
      }
    }
    return null
  }
}

/** What is done with the lanes: enqueue, dispatch, commit, park and resume. */
function createWork<Tools>(
  options: ReactionRunnerOptions<Tools>,
  lanes: readonly Lane<Tools>[],
  dispatcher: Dispatcher<Tools>,
  resumePorts: ResumePorts<Tools>,
  wake: () => void,
): LaneWork<Lane<Tools>> {
  const { log, ops, clock, upcasts = {}, reactions, shards = 1 } = options
  const groups = reactions.map(({ name }) => ({ name, shards }))
  let lookAt = 0

  const commit = (lane: Lane<Tools>) => commitReaction(ops, lane, clock.now())
  return {
    lanes: () => lanes,
    groups: () => groups,
    async refresh(now) {
      if (now < lookAt) return lookAt
      lookAt = now + LOOK_EVERY_MS
      const running = lanes.filter(({ state }) => state === 'running')
      await Promise.all(running.map((lane) => resumeRequested(resumePorts, lane, wake)))
      return lookAt
    },
    begin: (lane) => beginReaction({ log, ops, now: clock.now() }, lane),
    hasRoom: ({ jobs, unknown }) => jobs.length < MAX_JOBS && unknown === null,
    distribute: () => undefined,
    take: async (lane, page) => enqueue(lane, page, upcasts, clock.now()),
    dispatch(lane, now) {
      const dueAt = dispatcher.dispatch(lane, now)
      if (lane.unknown !== null && lane.jobs.length === 0 && commitDueAt(lane) === null) {
        lane.state = 'outdated'
        lane.problem = lane.unknown
      }
      return dueAt
    },
    commitDueAt,
    commit,
    async finish(lane) {
      // Running jobs end; those that fail are left to the next owner.
      lane.stopping = true
      await doneOrSlow(clock, [...lane.running])
      await commit(lane)
    },
    end: endTerm,
  }
}

/** Every type that reactions read: what they handle, and what shows that a step is done. */
function typesOf<Tools>(reactions: readonly AnyReaction<Tools>[]): ReadonlySet<string> {
  const handled = reactions.flatMap(({ on }) => Object.keys(on))
  const successors = reactions.flatMap(({ doneBy }) => Object.values(doneBy).flatMap((types) => types ?? []))
  return new Set([...handled, ...successors])
}

/** Runs reactions over the log until the signal, each lane in one process at a time, at least once for each event. */
export function runReactions<Tools>(options: ReactionRunnerOptions<Tools>): ReactionRunner {
  const { log, clock, signal, upcasts = {}, shards = 1 } = options
  const { takeProcessed = () => false, untilNotRunning = async () => undefined } = options
  const wake = createWakeSignal(clock, signal)
  const logReader = createLogReader(log, typesOf(options.reactions), wake, signal)
  const lanes = options.reactions.flatMap((reaction) => reactionLanes(reaction, shards))
  const steps = { ...options, upcasts, takeProcessed, untilNotRunning }
  const dispatcher = createDispatcher({ ...steps, storeParked: createParking(options), onEnd: wake.notify })
  const work = createWork(options, lanes, dispatcher, steps, wake.notify)
  const loop = runLanes({ ...options, work, logReader, wake })

  function statusOf({ reaction, range, position, state, jobs, problem }: Lane<Tools>): ReactionStatus {
    return {
      name: reaction.name,
      range,
      position,
      state: state === 'running' ? 'owner' : state === 'outdated' ? 'outdated' : 'contending',
      waiting: jobs.length,
      problem: problem ?? loop.problem(),
    }
  }

  return { status: () => lanes.map(statusOf), done: loop.done.then(dispatcher.idle) }
}
