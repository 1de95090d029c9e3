import { backOffMs } from '../../kernel/async/backoff.ts'
import { errorMessage } from '../../kernel/async/errors.ts'
import { createWakeSignal } from '../../kernel/async/wake-signal.ts'
import { yieldToEventLoop } from '../../kernel/async/yield-to-event-loop.ts'
import type { AnyProjection } from '../../kernel/projection.ts'
import type { Clock } from '../../ports/clock.ts'
import { type EventLog, type LogPage, START } from '../../ports/event-log.ts'
import type { ReadStore } from '../../ports/read-store.ts'
import type { Upcasts } from '../upcasts.ts'
import { BUILD_ALIASES } from './build-names.ts'
import { createLogReader } from './log-reader.ts'
import type { ProjectionBuild } from './projection-build.ts'
import { createBuildSteps, type Halt } from './projection-steps.ts'
import {
  buildsFor,
  collectionSpec,
  dropRetiredBuilds,
  type RebuildProgress,
  rebuildProgress,
  requestRebuild,
  switchBuild,
  syncAliases,
} from './rebuild.ts'

/** One build of a projection, as operators see it. */
export interface ProjectionStatus {
  readonly name: string
  readonly version: number
  readonly position: number
  /** Recorded time of the last event seen (ISO); null before the first. */
  readonly at: string | null
  /** Age of what is missing at most (ms); 0 when nothing is known to be missing. */
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
  /** Names of projections whose documents are followed by position (`withColumns`). */
  readonly indexedByPosition?: readonly string[]
  /**
   * The documents that are read stand at a position; `touched` are the ids just written, in these workspaces (null: in
   * any). `standby`: another runner writes them, and this one only looks now and then how far that has come.
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
  /** Most events in a page of catching up; the live tail takes what there is. */
  readonly pageSize?: number
  /** About how much JSON one page may hold, in characters. */
  readonly pageCharacters?: number
}

export interface ProjectionRunner {
  readonly status: () => readonly ProjectionStatus[]
  /** Builds a projection anew beside the one that is read. @throws TypeError for an unknown name, StoreUnavailable */
  readonly rebuild: (name: string) => Promise<void>
  /** Resolves when the signal has ended the run, with nothing under way. */
  readonly done: Promise<void>
}

const POINTERS_EVERY_MS = 1_000
/** Events of a page while some lag behind others that move too: short, so that no turn is far, but laggards come up. */
const CATCH_UP_PAGE = { leading: 1_000, lagging: 4_000 } as const

/** Runs projections over the log until the signal: catches up, follows, rebuilds, stands by for other runners. */
export function runProjections(options: ProjectionRunnerOptions): ProjectionRunner {
  const { log, store, projections, clock, signal, upcasts = {}, pageSize = 5_000 } = options
  const followed = new Set(options.indexedByPosition)
  const bell = createWakeSignal(clock, signal)
  const types = new Set(projections.flatMap(({ events }) => Object.keys(events)))
  const feed = createLogReader(log, types, bell, signal)
  const starts = new Map<ProjectionBuild, { position: number; at: number }>()
  let lanes: readonly ProjectionBuild[] = []
  let interested = new Map<string, ProjectionBuild[]>()
  let pointersDue = 0
  let failures = 0
  let away: string | null = null
  let limit = Math.min(1_000, pageSize)

  const report = (lane: ProjectionBuild, touched: readonly string[], workspaces: readonly string[] | null) => {
    if (lane.building) return
    const standby = lane.state === 'standby'
    options.onProgress?.(lane.projection.name, lane.position ?? START, touched, workspaces, standby)
  }

  const steps = createBuildSteps({ log, store, clock, upcasts, report, onHalt: (halt) => options.onHalt?.(halt) })

  /** Takes up and lets go of builds, as the pointers say. */
  async function readPointersAgain(): Promise<void> {
    const now = clock.now()
    if (now < pointersDue) return
    await store.ensure([{ name: BUILD_ALIASES, indexes: [], columns: [] }])
    const pointers = new Map((await syncAliases(store, projections, now)).map((one) => [one.name, one]))
    const next = projections.flatMap((projection) => {
      const pointer = pointers.get(projection.name)
      return pointer ? buildsFor(projection, pointer, lanes) : []
    })
    const fresh = next.filter((lane) => !lanes.includes(lane))
    if (fresh.length > 0) {
      const specs = fresh.map(({ projection, names }) =>
        collectionSpec(projection, names.collection, followed.has(projection.name)),
      )
      await store.ensure(specs)
    }
    if (fresh.length > 0 || next.length !== lanes.length) {
      interested = new Map()
      for (const lane of next) {
        for (const type of Object.keys(lane.projection.events)) {
          interested.set(type, [...(interested.get(type) ?? []), lane])
        }
      }
    }
    lanes = next
    for (const lane of lanes) if (lane.position !== null) report(lane, [], null)
    for (const pointer of pointers.values()) await dropRetiredBuilds(store, pointer, now)
    pointersDue = now + POINTERS_EVERY_MS
  }

  /** Reads on for all lanes that lie ahead of nothing else, each page once. */
  async function pass(moving: readonly ProjectionBuild[]): Promise<void> {
    let left = moving.toSorted((a, b) => (a.position ?? START) - (b.position ?? START))
    const apart = left.at(-1)?.position !== left[0]?.position
    while (left.length > 0 && !signal.aborted) {
      const after = left[0]?.position ?? START
      const lagging = after !== left.at(-1)?.position
      const most = apart ? CATCH_UP_PAGE[lagging ? 'lagging' : 'leading'] : limit
      const page = await feed.page(after, Math.min(limit, most))
      const members = left.filter(
        ({ position }) => (position ?? START) === after || (position ?? START) < page.position,
      )
      route(page, members)
      await Promise.all(members.map((lane) => steps.advance(lane, page)))
      limit = limitAfter(page)
      left = left.filter((lane) => !members.includes(lane))
    }
  }

  /** Puts each event of a page into the inboxes of those members that are concerned. */
  function route(page: LogPage, members: readonly ProjectionBuild[]): void {
    const taking = new Set(members)
    const whole = taking.size === lanes.length
    for (const event of page.events) {
      const concerned = interested.get(event.type)
      if (!concerned) continue
      for (const lane of concerned) {
        if ((whole || taking.has(lane)) && event.position > (lane.position ?? START)) lane.inbox.push(event)
      }
    }
  }

  /** How many events the next page may have, by the size of some of this one's. */
  function limitAfter(page: LogPage): number {
    const step = Math.max(1, Math.floor(page.events.length / 8))
    const sample = page.events.filter((_event, index) => index % step === 0)
    if (sample.length === 0) return limit
    const average = sample.reduce((sum, { data, meta }) => sum + JSON.stringify([data, meta]).length, 0) / sample.length
    return Math.max(16, Math.min(pageSize, Math.floor((options.pageCharacters ?? 16_000_000) / average)))
  }

  async function tellRebuilds(): Promise<void> {
    const building = lanes.filter((lane) => lane.building && lane.position !== null && lane.state === 'running')
    if (building.length === 0) return
    const head = await log.head()
    for (const lane of building) {
      const start = starts.get(lane)
      if (start) options.onRebuild?.(rebuildProgress(lane, start, head, clock.now()))
      if (!feed.isCaughtUp(lane.position ?? START) || lane.failures > 0) continue
      if (!(await steps.flush(lane, true))) continue
      await switchBuild(store, lane, clock.now())
      pointersDue = 0
    }
  }

  /** One turn. Answers the instant until which there is nothing to do; null when there is more at once. */
  async function turn(): Promise<number | null> {
    await readPointersAgain()
    const now = clock.now()
    const due = lanes.filter((lane) => lane.state !== 'halted' && lane.notBefore <= now)
    for (const lane of due) {
      if (lane.state === 'standby') await steps.watchOwner(lane)
      else if (lane.position === null) await steps.loadCheckpoint(lane)
      if (lane.building && !starts.has(lane)) starts.set(lane, { position: lane.position ?? START, at: now })
    }
    const running = due.filter((lane) => lane.state === 'running' && lane.position !== null)
    const moving = running.filter((lane) => !feed.isCaughtUp(lane.position ?? START))
    const still = running.filter((lane) => !moving.includes(lane))
    if (still.length > 0) feed.subscribe(Math.max(...still.map((lane) => lane.position ?? START)))
    if (moving.length > 0) await pass(moving)
    await Promise.all(running.map((lane) => steps.flush(lane)))
    await tellRebuilds()
    if (moving.length > 0 || pointersDue === 0) return null
    const wakes = lanes.filter((lane) => lane.state !== 'halted').flatMap((lane) => wakeOf(lane, now))
    return Math.min(pointersDue, ...wakes)
  }

  function wakeOf(lane: ProjectionBuild, now: number): readonly number[] {
    if (lane.notBefore > now) return [lane.notBefore]
    if (lane.position === null) return [now]
    const due = steps.flushDue(lane)
    return due === null ? [] : [due]
  }

  async function run(): Promise<void> {
    while (!signal.aborted) {
      try {
        const until = await turn()
        failures = 0
        away = null
        if (until === null) await yieldToEventLoop()
        else await bell.wait(until)
      } catch (error) {
        // Log or store away, at a point where no lane's fold is at stake: again and again, for ever.
        failures += 1
        away = errorMessage(error)
        await bell.wait(clock.now() + backOffMs(failures))
      }
    }
    feed.close()
  }

  function statusOf(lane: ProjectionBuild): ProjectionStatus {
    const { projection, position, at } = lane
    const behind = lane.state === 'halted' || !feed.isCaughtUp(position ?? START)
    return {
      name: projection.name,
      version: projection.version,
      position: position ?? lane.committed ?? START,
      at,
      lagMs: behind && at !== null ? Math.max(0, clock.now() - Date.parse(at)) : 0,
      events: lane.events,
      state: lane.building && lane.state === 'running' ? 'rebuilding' : lane.state,
      problem: lane.problem ?? away,
    }
  }

  return {
    status: () => lanes.map(statusOf),
    async rebuild(name) {
      const projection = projections.find((one) => one.name === name)
      if (!projection) throw new TypeError(`No projection is called ${name}.`)
      await requestRebuild(store, projection)
      pointersDue = 0
      bell.notify()
    },
    done: run(),
  }
}
