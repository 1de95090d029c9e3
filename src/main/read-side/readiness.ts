import { UNREAD_CREDENTIALS } from '../../api/credential-store.ts'
import type { AnyProjection } from '../../kernel/projection.ts'
import type { Readiness } from '../../ports/api.ts'
import type { Clock } from '../../ports/clock.ts'
import type { EventLog } from '../../ports/event-log.ts'
import { createLogEndBefore, furthestOf, type LogEndBefore } from '../../runtime/log-end.ts'
import type { CheckpointTracker } from '../../runtime/projections/checkpoint-tracker.ts'
import { lateBuilds } from '../../runtime/projections/oldest-unfolded.ts'
import type { ProjectionProgress } from '../../runtime/projections/projection-progress.ts'
import type { WatchedWriter } from '../../runtime/write/outdated-watch.ts'
import type { SnapshotStatus } from '../../runtime/write/snapshot-builder.ts'
import type { Workers } from '../workers.ts'
import {
  endedProjections,
  haltedRebuilds,
  LAG_MS,
  lagProblems,
  missingIndexProblems,
  newerBuilds,
  olderLogProblem,
  readBuilds,
  unownedProblems,
} from './fold-problems.ts'
import type { ReadSide } from './read-side.ts'
import { endedAt, plain, probe, type ReadinessProblem } from './readiness-problem.ts'

/** Only another version of the code helps. */
const OUTDATED = 'A newer version of the platform has written events that this process does not know.'

/** Sources of the readiness of a process. */
export interface ReadinessPorts {
  readonly readSide: Pick<ReadSide, 'projections' | 'positions' | 'hasCredentials' | 'progress' | 'missingIndexes'>
  /** The projections that this process reads. */
  readonly projections: readonly Pick<AnyProjection, 'name' | 'events'>[]
  readonly log: Pick<EventLog, 'head' | 'readAll'>
  readonly workers: Pick<Workers, 'status'>
  /** Numbers of parked streams, by reaction. */
  readonly parked: () => Promise<ReadonlyMap<string, number>>
  readonly writer: Pick<WatchedWriter, 'outdated' | 'snapshotStatus'>
  /** Sentences of what the process has not prepared yet. */
  readonly unprepared: () => readonly string[]
  readonly clock: Clock
  /** Called with all problems when their causes are others than at the report before. */
  readonly onChange: (problems: readonly ReadinessProblem[]) => void
  /** Called with the sentence when the log has gone back: once it has grown again, nothing tells what it lost. */
  readonly onOlderLog: (sentence: string) => void
}

const streams = (count: number) => `${count} ${count === 1 ? 'stream' : 'streams'}`

/** Projections of which this version of the code can read no build yet: queries of them answer 503. */
function missingBuilds({ unreadable }: Pick<CheckpointTracker, 'unreadable'>): readonly ReadinessProblem[] {
  return unreadable().map((name) => plain(`Projection ${name} is being built for this version.`))
}

/** A process that has yet to read the credentials and keys that stood at its start. */
function missingCredentials({ hasCredentials }: Pick<ReadSide, 'hasCredentials'>): readonly ReadinessProblem[] {
  return hasCredentials() ? [] : [plain(UNREAD_CREDENTIALS)]
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

/** The log beside what was read of it. */
interface LogState {
  /** Ages (ms) of the oldest events that projections have not folded, by name of those that are behind. */
  readonly late: ReadonlyMap<string, number>
  readonly older: readonly ReadinessProblem[]
}

/** Reads how far projections are behind the log, or that it ends before their checkpoints. @throws LogUnavailable */
async function readLogState(
  { log, clock, projections }: Pick<ReadinessPorts, 'log' | 'clock' | 'projections'>,
  endBefore: LogEndBefore,
  progress: readonly ProjectionProgress[],
): Promise<LogState> {
  const builds = readBuilds(projections, progress)
  const furthest = furthestOf(builds.flatMap(({ build }) => build.lanes))
  const end = await endBefore(furthest)
  if (end !== null) return { late: new Map(), older: [olderLogProblem(end, furthest)] }
  return { late: await lateBuilds({ log, clock }, builds, LAG_MS), older: [] }
}

/** Reactions that have ended in this process. */
function endedReactions({ status }: Pick<Workers, 'status'>): readonly ReadinessProblem[] {
  return status().flatMap(({ name, state, problem }) =>
    state === 'outdated' ? [{ sentence: endedAt(`Reaction ${name}`), cause: problem }] : [],
  )
}

/**
 * Readiness for `/readyz`, the same in every role: the stores must respond, the log must have what the read models were built
 * from, every projection must be folded by somebody and keep up, the credentials that stood at the start must be read, the stores' indexes must be there,
 * reactions must run, and neither a build nor a snapshot of this version may be missing.
 */
export function createReadiness(ports: ReadinessPorts): () => Promise<Readiness> {
  const { readSide, workers, parked, writer, unprepared, clock, onChange, onOlderLog } = ports
  const endBefore = createLogEndBefore(ports.log)
  let reported = ''
  return async () => {
    const [stored, statuses, waiting] = await Promise.all([
      probe(clock, 'read store', () => Promise.all([readSide.progress(), readSide.missingIndexes()])),
      readSide.projections?.().catch(() => []) ?? [],
      parked(),
    ])
    const [progress, missing] = stored.answer ?? [[], []]
    const read = await probe(clock, 'event log', () => readLogState(ports, endBefore, progress))
    const older = read.answer?.older ?? []
    for (const { sentence } of older) onOlderLog(sentence)
    const met = writer.outdated()
    const outdated = met === null ? [] : [{ sentence: OUTDATED, cause: met }]
    const snapshots = writer.snapshotStatus()
    const ended = endedProjections(statuses)
    const found = [
      ...read.problems,
      ...stored.problems,
      ...older,
      ...lagProblems(read.answer?.late ?? new Map(), ended),
      ...unownedProblems(progress),
      ...missingIndexProblems(missing),
      ...ended.values(),
      ...endedReactions(workers),
      ...outdated,
      ...missingBuilds(readSide.positions),
      ...missingCredentials(readSide),
      ...missingSnapshots(snapshots),
      ...unprepared().map(plain),
    ]
    // The lanes of one projection have the same problem.
    const problems = found.filter(({ sentence }, n) => found.findIndex((one) => one.sentence === sentence) === n)
    const causes = problems.flatMap(({ cause }) => cause ?? []).join('\n')
    if (causes !== reported) onChange(problems)
    reported = causes
    const sentences = problems.map(({ sentence }) => sentence)
    const warnings = [
      ...parkedWarnings(waiting),
      ...failedSnapshots(snapshots),
      ...haltedRebuilds(statuses),
      ...newerBuilds(progress),
    ]
    return { ready: problems.length === 0, problems: sentences, warnings }
  }
}
