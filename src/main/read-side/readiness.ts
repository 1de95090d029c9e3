import { errorMessage } from '../../kernel/async/errors.ts'
import type { Readiness } from '../../ports/api.ts'
import type { Clock } from '../../ports/clock.ts'
import type { EventLog } from '../../ports/event-log.ts'
import type { CheckpointTracker } from '../../runtime/projections/checkpoint-tracker.ts'
import type { WatchedWriter } from '../../runtime/write/outdated-watch.ts'
import type { SnapshotStatus } from '../../runtime/write/snapshot-builder.ts'
import type { Workers } from '../workers.ts'
import type { ReadSide } from './read-side.ts'

/** Projection lag that makes a process unready (ms). */
const LAG_MS = 5_000
/** Timeout of a store's probe (ms). */
const PROBE_MS = 2_000

/**
 * A problem of the process. `/readyz` returns the sentence; the cause may name hosts, records and positions of the log, so
 * it is for the process's own log alone. Null where the sentence says everything.
 */
export interface ReadinessProblem {
  readonly sentence: string
  readonly cause: string | null
}

/** Only another version of the code helps. */
const OUTDATED = 'A newer version of the platform has written events that this process does not know.'

/** A lane that has ended at such an event. */
const endedAt = (what: string) => `${what} has met an event of a newer version of the platform.`

const plain = (sentence: string): ReadinessProblem => ({ sentence, cause: null })

async function probe(clock: Clock, name: string, ask: () => Promise<unknown>): Promise<readonly ReadinessProblem[]> {
  return new Promise((resolve) => {
    const cancel = clock.schedule(clock.now() + PROBE_MS, () => resolve([plain(`The ${name} does not answer.`)]))
    ask().then(
      () => {
        cancel()
        resolve([])
      },
      (error: unknown) => {
        cancel()
        resolve([{ sentence: `The ${name} is unavailable.`, cause: errorMessage(error) }])
      },
    )
  })
}

/** Sources of the readiness of a process. */
export interface ReadinessPorts {
  readonly readSide: Pick<ReadSide, 'projections' | 'positions' | 'views'>
  readonly log: Pick<EventLog, 'head'>
  readonly workers: Pick<Workers, 'status'>
  /** Numbers of parked streams, by reaction. */
  readonly parked: () => Promise<ReadonlyMap<string, number>>
  readonly writer: Pick<WatchedWriter, 'outdated' | 'snapshotStatus'>
  /** Sentences of what the process has not prepared yet. */
  readonly unprepared: () => readonly string[]
  readonly clock: Clock
  /** Called with all problems when their causes are others than at the report before. */
  readonly onChange: (problems: readonly ReadinessProblem[]) => void
}

const streams = (count: number) => `${count} ${count === 1 ? 'stream' : 'streams'}`

/** Projections of which this version of the code can read no build yet: queries of them answer 503. */
function missingBuilds({ unreadable }: Pick<CheckpointTracker, 'unreadable'>): readonly ReadinessProblem[] {
  return unreadable().map((name) => plain(`Projection ${name} is being built for this version.`))
}

/** Snapshots that this version of the code must build before it decides in time. */
function missingSnapshots({ missing }: SnapshotStatus): readonly ReadinessProblem[] {
  return missing === 0 ? [] : [plain(`Snapshots of ${streams(missing)} are being built for this version.`)]
}

/** Snapshots that failed: decisions are exact without them, but a fresh process reads long streams from their start. */
function failedSnapshots({ failing }: SnapshotStatus): readonly string[] {
  return failing === 0 ? [] : [`The last snapshot of ${streams(failing)} has failed.`]
}

/** Streams that operators have to look at; everything else goes on. */
function parkedWarnings(parked: ReadonlyMap<string, number>): readonly string[] {
  return [...parked].flatMap(([reaction, count]) =>
    count === 0 ? [] : [`Reaction ${reaction} has parked ${streams(count)}.`],
  )
}

/**
 * Readiness for `/readyz`: every store must respond, projections must run and keep up, reactions must run, and neither a
 * build nor a snapshot of this version may be missing.
 */
export function createReadiness({
  readSide: { projections, positions, views },
  log,
  workers,
  parked,
  writer,
  unprepared,
  clock,
  onChange,
}: ReadinessPorts): () => Promise<Readiness> {
  let reported = ''
  return async () => {
    const [logProblems, storeProblems, statuses, waiting] = await Promise.all([
      probe(clock, 'event log', () => log.head()),
      probe(clock, 'read store', () => views.checkpoints()),
      projections?.().catch(() => []) ?? [],
      parked(),
    ])
    const lagging = statuses.flatMap(({ name, state, problem, lagMs }) => {
      if (state === 'halted') return [{ sentence: `Projection ${name} has halted.`, cause: problem }]
      if (state === 'outdated') return [{ sentence: endedAt(`Projection ${name}`), cause: problem }]
      // Another build is read meanwhile; without one, the projection is unreadable.
      if (state === 'rebuilding') return []
      return lagMs > LAG_MS ? [plain(`Projection ${name} is ${Math.round(lagMs / 1_000)} s behind.`)] : []
    })
    const ended = workers
      .status()
      .flatMap(({ name, state, problem }) =>
        state === 'outdated' ? [{ sentence: endedAt(`Reaction ${name}`), cause: problem }] : [],
      )
    const met = writer.outdated()
    const outdated = met === null ? [] : [{ sentence: OUTDATED, cause: met }]
    const snapshots = writer.snapshotStatus()
    const unready = [
      ...outdated,
      ...missingBuilds(positions),
      ...missingSnapshots(snapshots),
      ...unprepared().map(plain),
    ]
    const found = [...logProblems, ...storeProblems, ...lagging, ...ended, ...unready]
    // The lanes of one projection have the same problem.
    const problems = found.filter(({ sentence }, n) => found.findIndex((one) => one.sentence === sentence) === n)
    const causes = problems.flatMap(({ cause }) => cause ?? []).join('\n')
    if (causes !== reported) onChange(problems)
    reported = causes
    const sentences = problems.map(({ sentence }) => sentence)
    const warnings = [...parkedWarnings(waiting), ...failedSnapshots(snapshots)]
    return { ready: problems.length === 0, problems: sentences, warnings }
  }
}
