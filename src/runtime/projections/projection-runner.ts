import { createWakeSignal, type WakeSignal } from '../../kernel/async/wake-signal.ts'
import type { PartitionRange } from '../../kernel/partition.ts'
import type { AnyProjection } from '../../kernel/projection.ts'
import type { Clock } from '../../ports/clock.ts'
import type { EventLog } from '../../ports/event-log.ts'
import type { ReadStore } from '../../ports/read-store.ts'
import { runLanes } from '../lanes/lane-runner.ts'
import { createLogReader, type LogReader } from '../lanes/log-reader.ts'
import type { PageSizes } from '../lanes/read-lanes.ts'
import type { LaneWork } from '../lanes/running-lane.ts'
import type { Ownership } from '../ownership/ownership.ts'
import type { Upcasts } from '../upcasts.ts'
import { advance, flush, flushDueAt, restart, skip } from './advance-lane.ts'
import { beginLane } from './begin-lane.ts'
import { requestRebuild } from './build-lifecycle.ts'
import type { BuildPorts, Halt } from './build-ports.ts'
import { coverageOf, lowestOf } from './coverage.ts'
import { createLaneSet, type LaneSet } from './lane-set.ts'
import { clearDocuments, type ProjectionLane } from './projection-lane.ts'
import type { RebuildProgress } from './rebuild-progress.ts'
import { createRebuildSwitch } from './switch-caught-up-builds.ts'

/** Status of one lane of a build of a projection in this process, for operators. */
export interface ProjectionStatus {
  readonly name: string
  readonly version: number
  readonly range: PartitionRange
  readonly position: number
  /** Recorded time of the last event seen (ISO); null before the first. */
  readonly at: string | null
  /** Upper bound of the age of events not folded yet (ms); 0 when no such event is known, or another process folds them. */
  readonly lagMs: number
  /** Events folded since this process began. */
  readonly events: number
  /** `outdated`: it met an event of a version that this process does not know. */
  readonly state: 'running' | 'standby' | 'halted' | 'outdated' | 'rebuilding'
  readonly problem: string | null
  /** Whether the active build of its version is read meanwhile. */
  readonly replaces: boolean
}

/** How far a lane of a build that is read has come, or of the first build of this version, which will be. */
export interface LaneProgress {
  readonly name: string
  readonly range: PartitionRange
  readonly position: number
  /** Whether the build is complete, so that it can be read. */
  readonly readable: boolean
  /** Ids of the documents just written, and their workspaces (null: any). */
  readonly touched: readonly string[]
  readonly workspaces: readonly string[] | null
  /** Whether another process writes them, so that this one only polls the checkpoint. */
  readonly standby: boolean
}

export interface ProjectionRunnerOptions extends PageSizes {
  readonly log: EventLog
  readonly store: ReadStore
  readonly ownership: Ownership
  readonly projections: readonly AnyProjection[]
  /** Into how many ranges the partitions are cut (default: 1). */
  readonly shards?: number
  readonly upcasts?: Upcasts
  readonly clock: Clock
  readonly signal: AbortSignal
  /** Names of projections whose documents are read by position (`withColumns`). */
  readonly indexedByPosition?: readonly string[]
  readonly onProgress?: (progress: LaneProgress) => void
  readonly onHalt?: (halt: Halt) => void
  readonly onRebuild?: (progress: RebuildProgress) => void
}

export interface ProjectionRunner {
  readonly status: () => readonly ProjectionStatus[]
  /** Rebuilds a projection beside its active build. @throws TypeError for an unknown name, StoreUnavailable */
  readonly rebuild: (name: string) => Promise<void>
  /** Folds what has been appended at once, up to a position: somebody waits for it. */
  readonly hurry: (position: number) => void
  /** Resolves when the signal has aborted and nothing runs any more. */
  readonly done: Promise<void>
}

const isOwned = ({ state }: ProjectionLane) => state === 'running' || state === 'starting'

/** Whether its checkpoint is stored, and no step of the lane is under way. */
const isResting = ({ state, busy, committed }: ProjectionLane) =>
  state === 'running' && busy === null && committed !== null

/** The ports of the lanes; the progress of what is read, or will be, is reported to the options' listener. */
function portsOf(options: ProjectionRunnerOptions): BuildPorts {
  const { log, store, clock, upcasts = {} } = options
  return {
    log,
    store,
    clock,
    upcasts,
    onHalt: (halt) => options.onHalt?.(halt),
    report: (lane, touched, workspaces) => {
      if (lane.replaces) return
      const { range, read: position, projection } = lane
      options.onProgress?.({
        name: projection.name,
        range,
        position,
        readable: !lane.building,
        touched,
        workspaces,
        standby: lane.state === 'contending',
      })
    },
  }
}

/** The status of a lane. `loopProblem`: why the runner's loop failed last; null when it runs. */
function statusOf(
  lane: ProjectionLane,
  logReader: LogReader,
  now: number,
  loopProblem: string | null,
): ProjectionStatus {
  const { projection, range, read, at, state, building, replaces } = lane
  const isBehind = state !== 'contending' && (!isOwned(lane) || !logReader.isCaughtUp(read))
  const shown = isOwned(lane) ? 'running' : state === 'halted' || state === 'outdated' ? state : 'standby'
  return {
    name: projection.name,
    version: projection.version,
    range,
    position: read,
    at,
    lagMs: isBehind && at !== null ? Math.max(0, now - Date.parse(at)) : 0,
    events: lane.events,
    state: building && shown === 'running' ? 'rebuilding' : shown,
    problem: lane.problem ?? loopProblem,
    replaces,
  }
}

/** The lanes of the projections, with those that others own as far as the stored checkpoints say. */
function createLanes(options: ProjectionRunnerOptions, ports: BuildPorts, wake: WakeSignal): LaneSet {
  const { store, clock, signal, projections, shards = 1, ownership } = options
  return createLaneSet({
    store,
    clock,
    signal,
    projections,
    shards,
    indexedByPosition: new Set(options.indexedByPosition),
    versionsRead: ownership.versionsRead,
    onDrop: ownership.forget,
    onExpiry: wake.notify,
    async onRefresh(lanes) {
      const others = lanes.filter(({ state }) => state === 'contending')
      const resting = lanes.filter(isResting)
      const checkpoints = await store.checkpoints()
      // A lane with nothing to commit does not find out by itself that its checkpoint went with the store's documents.
      for (const lane of resting) if (isResting(lane) && !checkpoints[lane.key]) restart(lane)
      for (const lane of others) {
        const { position, at } = lowestOf(coverageOf(checkpoints, lane.group), lane.range)
        lane.read = position
        lane.at = at
      }
      for (const lane of lanes) if (lane.state !== 'starting') ports.report(lane, [], null)
    },
  })
}

/** What is done with the lanes: fold, commit, rebuild. */
function createWork(
  { onRebuild }: ProjectionRunnerOptions,
  ports: BuildPorts,
  lanes: LaneSet,
  logReader: LogReader,
): LaneWork<ProjectionLane> {
  const switching = createRebuildSwitch(ports, (lane) => logReader.isCaughtUp(lane.read), onRebuild)
  return {
    lanes: lanes.all,
    groups: lanes.groups,
    async refresh(now) {
      await lanes.refresh(now)
      if (await switching.switchFinished(lanes.all())) lanes.expire()
      return Math.min(lanes.refreshAt(), switching.checkAt(lanes.all()) ?? Number.POSITIVE_INFINITY)
    },
    begin: (lane) => beginLane(ports, lane),
    // Nobody waits for a build before it is read.
    isBackground: ({ building }) => building,
    mayPause: ({ replaces }) => replaces,
    hasRoom: () => true,
    distribute: lanes.distribute,
    skip: (lane, page) => skip(ports, lane, page),
    take: (lane, page, pause) => advance(ports, lane, page, pause),
    dispatch: () => null,
    commitDueAt: flushDueAt,
    commit: async (lane) => void (await flush(ports, lane)),
    finish: async (lane) => void (await flush(ports, lane)),
    end(lane) {
      clearDocuments(lane)
      ports.report(lane, [], null)
    },
  }
}

/** Runs projections over the log until the signal: catches up, follows, rebuilds, each lane for as long as it is owned. */
export function runProjections(options: ProjectionRunnerOptions): ProjectionRunner {
  const { log, store, projections, clock, signal } = options
  const wake: WakeSignal = createWakeSignal(clock, signal)
  const types = new Set(projections.flatMap(({ events }) => Object.keys(events)))
  const logReader = createLogReader(log, types, wake, signal)
  const ports = portsOf(options)
  const lanes = createLanes(options, ports, wake)
  const work = createWork(options, ports, lanes, logReader)
  const loop = runLanes({ ...options, work, logReader, wake })

  return {
    status: () => lanes.all().map((lane) => statusOf(lane, logReader, clock.now(), loop.problem())),
    async rebuild(name) {
      const projection = projections.find((one) => one.name === name)
      if (!projection) throw new TypeError(`No projection is called ${name}.`)
      await requestRebuild(store, projection)
      lanes.expire()
    },
    hurry: loop.hurry,
    done: loop.done,
  }
}
