import type { AnyProjection } from '../../kernel/projection.ts'
import type { AnyReaction } from '../../kernel/reaction.ts'
import type { Readiness } from '../../ports/api.ts'
import type { Clock } from '../../ports/clock.ts'
import type { EventLog } from '../../ports/event-log.ts'
import type { OperationalStore } from '../../ports/operational-store.ts'
import type { ReadStore } from '../../ports/read-store.ts'
import { POOLS } from '../../runtime/ownership/leases.ts'
import { createCoverages } from '../../runtime/projections/coverage.ts'
import { type FoldedBuild, lateBuilds } from '../../runtime/projections/oldest-unfolded.ts'
import { readReactionPositions } from '../../runtime/reactions/reaction-checkpoint.ts'
import type { WatchedWriter } from '../../runtime/write/outdated-watch.ts'
import { readBuilds } from '../read-side/fold-problems.ts'
import type { ReadSide } from '../read-side/read-side.ts'
import type { Workers } from '../workers.ts'
import type { ReadingName, Sample, Samples } from './gauges.ts'
import { watchLoopLag } from './loop-lag.ts'

/** Where the values of the gauges are read. */
export interface MetricSources {
  readonly readiness: () => Promise<Readiness>
  readonly writer: Pick<WatchedWriter, 'snapshotStatus' | 'waitingCommands'>
  readonly readSide: Pick<ReadSide, 'progress' | 'projections' | 'projector' | 'threads'>
  readonly projections: readonly Pick<AnyProjection, 'name' | 'events'>[]
  readonly reactions: readonly Pick<AnyReaction<never>, 'name' | 'events' | 'on'>[]
  readonly log: Pick<EventLog, 'readAll'>
  readonly ops: Pick<OperationalStore, 'list'>
  /** Null in a process without the worker role. */
  readonly workers: Pick<Workers, 'status' | 'leases'> | null
  /** Numbers of parked streams, by reaction. @throws StoreUnavailable */
  readonly parked: () => Promise<ReadonlyMap<string, number>>
  readonly views: Pick<ReadStore, 'count' | 'pluck'>
  /** Collection of the timers, and the kinds of jobs in it. */
  readonly timers: { readonly collection: string; readonly kinds: readonly string[] }
  readonly clock: Clock
}

/** Reads the values of some gauges. It may reject, or never settle: then they have none. */
export type ReadSamples = () => Promise<Samples>
export type Readings = Readonly<Record<ReadingName, ReadSamples>>

const one = (value: number): readonly Sample[] => [{ labels: {}, value }]

/** The number of entries of each kind, where `labelsOf` says which kind an entry is of. */
function countBy<Entry>(
  entries: readonly Entry[],
  labelsOf: (entry: Entry) => Readonly<Record<string, string>>,
): readonly Sample[] {
  const kinds = Map.groupBy(entries, (entry) => JSON.stringify(labelsOf(entry)))
  return [...kinds].map(([labels, { length }]) => ({ labels: JSON.parse(labels), value: length }))
}

/** The ages (s) of the oldest events that builds have not folded, by name. @throws LogUnavailable */
async function readLags(
  sources: Pick<MetricSources, 'log' | 'clock'>,
  label: 'projection' | 'reaction',
  builds: readonly FoldedBuild[],
): Promise<readonly Sample[]> {
  const ages = await lateBuilds(sources, builds, 0)
  return builds.map(({ projection: { name } }) => ({ labels: { [label]: name }, value: (ages.get(name) ?? 0) / 1_000 }))
}

async function readProjections(sources: MetricSources): Promise<Samples> {
  const progress = await sources.readSide.progress()
  const unowned = progress.flatMap(({ name, active }) =>
    active === null ? [] : [{ labels: { projection: name }, value: active.unownedMs / 1_000 }],
  )
  const lags = await readLags(sources, 'projection', readBuilds(sources.projections, progress))
  return { projection_lag_seconds: lags, projection_unowned_seconds: unowned }
}

/** How far reactions have come, whichever processes run them; not those that have never run. */
async function readReactions(sources: MetricSources): Promise<Samples> {
  const { ops, clock, reactions } = sources
  const stored = await readReactionPositions(ops, null, clock.now())
  const positions = [...stored].map(([key, { position }]) => [key, { position, at: null }] as const)
  const coverageOf = createCoverages(Object.fromEntries(positions))
  const begun = reactions.filter(({ name }) => positions.some(([key]) => key.startsWith(`${name}/`)))
  const builds = begun.map(({ name, events, on }): FoldedBuild => {
    const handled = Object.entries(events).filter(([type]) => on[type] !== undefined)
    const lanes = coverageOf(name).map(({ range, position }) => ({ range, position, holder: null }))
    return { projection: { name, events: Object.fromEntries(handled) }, build: { lanes } }
  })
  return { reaction_lag_seconds: await readLags(sources, 'reaction', builds) }
}

function readWorkers({ workers }: MetricSources): Samples {
  const lanes = workers?.status() ?? []
  const waiting = Map.groupBy(lanes, ({ name }) => name)
  return {
    reaction_lanes: countBy(lanes, ({ name, state }) => ({ reaction: name, state })),
    reaction_waiting_events: [...waiting].map(([reaction, each]) => ({
      labels: { reaction },
      value: each.reduce((sum, lane) => sum + lane.waiting, 0),
    })),
  }
}

/** Scheduled jobs, in processes that run them. */
async function readTimers({ views, workers, timers, clock }: MetricSources): Promise<Samples> {
  if (workers === null) return {}
  const now = clock.now()
  const { collection } = timers
  const kinds = await Promise.all(
    timers.kinds.map(async (kind) => {
      const [due, waiting, [oldest]] = await Promise.all([
        views.count(collection, { kind, dueAt: { $lte: now } }),
        views.count(collection, { kind, dueAt: { $gt: now } }),
        views.pluck(collection, 'dueAt', { filter: { kind }, sort: { dueAt: 1 }, limit: 1 }),
      ])
      const overdueMs = typeof oldest === 'number' ? Math.max(0, now - oldest) : 0
      return { labels: { kind }, due, waiting, overdue: overdueMs / 1_000 }
    }),
  )
  return {
    timers_due: kinds.map(({ labels, due }) => ({ labels, value: due })),
    timers_waiting: kinds.map(({ labels, waiting }) => ({ labels, value: waiting })),
    timer_overdue_seconds: kinds.map(({ labels, overdue }) => ({ labels, value: overdue })),
  }
}

async function readLeases({ workers, readSide }: MetricSources): Promise<Samples> {
  const work = workers === null ? [] : [{ labels: { pool: POOLS.work }, value: workers.leases() }]
  if (readSide.projector === null) return { lane_leases_held: work }
  const projections = { labels: { pool: POOLS.projections }, value: await readSide.projector.leases() }
  return { lane_leases_held: [...work, projections] }
}

/** The lag of the threads. It fails when one has ended, which ends the process. */
function createThreadReading({ readSide: { threads }, clock }: MetricSources): ReadSamples {
  const watched = [...threads].map(([thread, ask]) => ({ labels: { thread }, lagOf: watchLoopLag(ask, clock) }))
  return async () => {
    const lags = await Promise.all(watched.map(async ({ labels, lagOf }) => ({ labels, lag: await lagOf() })))
    return {
      thread_event_loop_lag_p99_seconds: lags.map(({ labels, lag }) => ({ labels, value: lag.p99 })),
      thread_event_loop_lag_max_seconds: lags.map(({ labels, lag }) => ({ labels, value: lag.max })),
    }
  }
}

/** Creates the readings of a process. */
export function createReadings(sources: MetricSources): Readings {
  const { writer, readSide } = sources
  return {
    async readiness() {
      const { ready, problems, warnings } = await sources.readiness()
      return {
        readiness_ok: one(ready ? 1 : 0),
        readiness_problems: one(problems.length),
        readiness_warnings: one(warnings.length),
      }
    },
    async writer() {
      const { total, deepest } = writer.waitingCommands()
      const { missing, failing } = writer.snapshotStatus()
      return {
        mailbox_waiting_commands: one(total),
        mailbox_waiting_commands_max: one(deepest),
        snapshots_missing: one(missing),
        snapshots_failing: one(failing),
      }
    },
    projections: () => readProjections(sources),
    async projectionLanes() {
      const lanes = (await readSide.projections?.()) ?? []
      return { projection_lanes: countBy(lanes, ({ name, state }) => ({ projection: name, state })) }
    },
    reactions: () => readReactions(sources),
    workers: async () => readWorkers(sources),
    async parked() {
      const counts = [...(await sources.parked())]
      return { reaction_parked_streams: counts.map(([reaction, value]) => ({ labels: { reaction }, value })) }
    },
    timers: () => readTimers(sources),
    leases: () => readLeases(sources),
    threads: createThreadReading(sources),
  }
}
