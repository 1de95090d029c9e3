import { createWakeSignal } from '../../kernel/async/wake-signal.ts'
import type { AnyProjection } from '../../kernel/projection.ts'
import type { Clock } from '../../ports/clock.ts'
import { type EventLog, START } from '../../ports/event-log.ts'
import type { ReadStore } from '../../ports/read-store.ts'
import { startRunLoop } from '../run-loop.ts'
import type { Upcasts } from '../upcasts.ts'
import { flush, flushDueAt } from './advance-build.ts'
import { requestRebuild } from './build-lifecycle.ts'
import type { BuildPorts, Halt } from './build-ports.ts'
import { createBuildSet } from './build-set.ts'
import { createCatchUp } from './catch-up.ts'
import { createLogReader, type LogReader } from './log-reader.ts'
import { type ProjectionBuild, positionOf } from './projection-build.ts'
import type { RebuildProgress } from './rebuild-progress.ts'
import { loadCheckpoint, watchOwner } from './standby.ts'
import { createRebuildSwitch } from './switch-caught-up-builds.ts'

/** Status of one build of a projection, for operators. */
export interface ProjectionStatus {
  readonly name: string
  readonly version: number
  readonly position: number
  /** Recorded time of the last event seen (ISO); null before the first. */
  readonly at: string | null
  /** Upper bound of the age of events not folded yet (ms); 0 when no such event is known. */
  readonly lagMs: number
  /** Events folded since this process began. */
  readonly events: number
  readonly state: 'running' | 'standby' | 'halted' | 'rebuilding'
  readonly problem: string | null
}

export interface ProjectionRunnerOptions {
  readonly log: EventLog
  readonly store: ReadStore
  readonly projections: readonly AnyProjection[]
  readonly upcasts?: Upcasts
  readonly clock: Clock
  readonly signal: AbortSignal
  /** Names of projections whose documents are read by position (`withColumns`). */
  readonly indexedByPosition?: readonly string[]
  /**
   * The active build's documents reflect a position; `touched` are the ids just written, in these workspaces (null: in
   * any). `standby`: another runner writes them, and this one only polls its checkpoint.
   */
  readonly onProgress?: (
    name: string,
    position: number,
    touched: readonly string[],
    workspaces: readonly string[] | null,
    standby: boolean,
  ) => void
  readonly onHalt?: (halt: Halt) => void
  readonly onRebuild?: (progress: RebuildProgress) => void
  /** Maximum events in a page while catching up; pages of the live tail have any size. */
  readonly pageSize?: number
  /** Approximate maximum of JSON in one page, in characters. */
  readonly pageCharacters?: number
}

export interface ProjectionRunner {
  readonly status: () => readonly ProjectionStatus[]
  /** Rebuilds a projection beside its active build. @throws TypeError for an unknown name, StoreUnavailable */
  readonly rebuild: (name: string) => Promise<void>
  /** Resolves when the signal has aborted and nothing runs any more. */
  readonly done: Promise<void>
}

const isHalted = ({ state }: ProjectionBuild) => state === 'halted'

/** The ports of the builds; the progress of active builds is reported to the options' listener. */
function portsOf(options: ProjectionRunnerOptions): BuildPorts {
  const { log, store, clock, upcasts = {} } = options
  return {
    log,
    store,
    clock,
    upcasts,
    onHalt: (halt) => options.onHalt?.(halt),
    report: (build, touched, workspaces) => {
      if (build.building) return
      options.onProgress?.(build.projection.name, positionOf(build), touched, workspaces, build.state === 'standby')
    },
  }
}

/** The status of a build. `loopProblem`: why the runner's loop failed last; null when it runs. */
function statusOf(
  build: ProjectionBuild,
  logReader: LogReader,
  now: number,
  loopProblem: string | null,
): ProjectionStatus {
  const { projection, position, at } = build
  const isBehind = isHalted(build) || !logReader.isCaughtUp(position ?? START)
  return {
    name: projection.name,
    version: projection.version,
    position: position ?? build.committed ?? START,
    at,
    lagMs: isBehind && at !== null ? Math.max(0, now - Date.parse(at)) : 0,
    events: build.events,
    state: build.building && build.state === 'running' ? 'rebuilding' : build.state,
    problem: build.problem ?? loopProblem,
  }
}

/** Runs projections over the log until the signal: catches up, follows, rebuilds, and stands by for other runners. */
export function runProjections(options: ProjectionRunnerOptions): ProjectionRunner {
  const { log, store, projections, clock, signal } = options
  const wake = createWakeSignal(clock, signal)
  const types = new Set(projections.flatMap(({ events }) => Object.keys(events)))
  const logReader = createLogReader(log, types, wake, signal)
  const ports = portsOf(options)
  const builds = createBuildSet({
    store,
    projections,
    indexedByPosition: new Set(options.indexedByPosition),
    onRefresh: (refreshed) => {
      for (const build of refreshed) if (build.position !== null) ports.report(build, [], null)
    },
  })
  const catchUp = createCatchUp({ ...options, builds, ports, logReader })
  const switching = createRebuildSwitch(ports, (build) => logReader.isCaughtUp(positionOf(build)), options.onRebuild)

  /** Runs every build once. Resolves to the instant until which there is nothing to do; null when there is more at once. */
  async function turn(): Promise<number | null> {
    const now = clock.now()
    await builds.refresh(now)
    const due = builds.all().filter((build) => !isHalted(build) && build.notBefore <= now)
    for (const build of due) {
      if (build.state === 'standby') await watchOwner(ports, build)
      else if (build.position === null) await loadCheckpoint(ports, build)
      switching.track(build, now)
    }
    const running = due.filter((build) => build.state === 'running' && build.position !== null)
    const isMoving = await catchUp(running)
    await Promise.all(running.map((build) => flush(ports, build)))
    if (await switching.switchFinished(builds.all())) builds.expire()
    if (isMoving || builds.refreshAt() === 0) return null
    const wakes = builds
      .all()
      .filter((build) => !isHalted(build))
      .flatMap((build) => wakesOf(build, now))
    return Math.min(builds.refreshAt(), ...wakes)
  }

  const loop = startRunLoop({ turn, wake, clock, signal, onStop: async () => logReader.close() })

  return {
    status: () => builds.all().map((build) => statusOf(build, logReader, clock.now(), loop.problem())),
    async rebuild(name) {
      const projection = projections.find((one) => one.name === name)
      if (!projection) throw new TypeError(`No projection is called ${name}.`)
      await requestRebuild(store, projection)
      builds.expire()
      wake.notify()
    },
    done: loop.done,
  }
}

/** When a build needs the next turn (ms since the epoch); none for one that waits for events. */
function wakesOf(build: ProjectionBuild, now: number): readonly number[] {
  if (build.notBefore > now) return [build.notBefore]
  if (build.position === null) return [now]
  const due = flushDueAt(build)
  return due === null ? [] : [due]
}
