import type { AnyProjection } from '../../kernel/projection.ts'
import type { FoldedBuild } from '../../runtime/projections/oldest-unfolded.ts'
import type { ProjectionProgress } from '../../runtime/projections/projection-progress.ts'
import type { ProjectionStatus } from '../../runtime/projections/projection-runner.ts'
import { endedAt, plain, type ReadinessProblem } from './readiness-problem.ts'

/** Age of an event that a projection has not folded (ms) from which on a process is not ready. */
export const LAG_MS = 5_000
/** For how long (ms) a projection may have no owner: others take over from a process that has died within that time. */
export const HAND_OVER_MS = 15_000

/** The builds that this version of the code reads, with their projections. */
export function readBuilds(
  projections: readonly Pick<AnyProjection, 'name' | 'events'>[],
  progress: readonly ProjectionProgress[],
): readonly FoldedBuild[] {
  const byName = new Map(projections.map((projection) => [projection.name, projection]))
  return progress.flatMap(({ name, active }) => {
    const projection = byName.get(name)
    return projection && active ? [{ projection, build: active }] : []
  })
}

/** A log that ends before the checkpoints of the projections: it went back, and what is appended now is not folded. */
export function olderLogProblem(end: number, furthest: number): ReadinessProblem {
  return {
    sentence: "The event log is older than the read models: their checkpoints are beyond the log's head.",
    cause: `the event log ends at position ${end}, and the read models were built to position ${furthest}`,
  }
}

/** Collections named in a sentence. */
const NAMED = 5

/** Collections that are missing or lack an index: until it is there again, reads of them may take too long. */
export function missingIndexProblems(collections: readonly string[]): readonly ReadinessProblem[] {
  const { length } = collections
  if (length === 0) return []
  const of = length === 1 ? '1 collection' : `${length} collections`
  const named = collections.slice(0, NAMED).join(', ')
  return [
    plain(
      `Indexes of ${of} of the read store are missing: ${named}${length > NAMED ? ` and ${length - NAMED} more` : ''}.`,
    ),
  ]
}

/** Projections that no living process folds: what is written from now on is not read. */
export function unownedProblems(progress: readonly ProjectionProgress[]): readonly ReadinessProblem[] {
  const read = progress.filter(({ active }) => active !== null)
  const unowned = read.filter(({ active }) => active !== null && active.unownedMs > HAND_OVER_MS)
  if (unowned.length === 0) return []
  if (unowned.length === read.length) return [plain('No running process folds the projections of this version.')]
  return unowned.map(({ name }) => plain(`No running process folds projection ${name} of this version.`))
}

/** Projections that have ended in this process, by name. A build that replaces another is not read yet. */
export function endedProjections(statuses: readonly ProjectionStatus[]): ReadonlyMap<string, ReadinessProblem> {
  const ended = statuses.flatMap(({ name, state, problem, replaces }) => {
    if (state === 'halted' && !replaces)
      return [[name, { sentence: `Projection ${name} has halted.`, cause: problem }] as const]
    if (state === 'outdated') return [[name, { sentence: endedAt(`Projection ${name}`), cause: problem }] as const]
    return []
  })
  return new Map(ended)
}

/** Projections that are behind, by the age (ms) of the oldest event that they have not folded; not those that have ended. */
export function lagProblems(
  late: ReadonlyMap<string, number>,
  ended: ReadonlyMap<string, ReadinessProblem>,
): readonly ReadinessProblem[] {
  const behind = [...late].filter(([name]) => !ended.has(name))
  return behind.map(([name, ageMs]) => plain(`Projection ${name} is ${Math.round(ageMs / 1_000)} s behind.`))
}

/** Rebuilds that have halted: the build of before is read. */
export function haltedRebuilds(statuses: readonly ProjectionStatus[]): readonly string[] {
  const halted = statuses.filter(({ state, replaces }) => state === 'halted' && replaces)
  return [...new Set(halted.map(({ name }) => `The rebuild of projection ${name} has halted.`))]
}

/** Builds that only a newer version of the code reads. */
export function newerBuilds(progress: readonly ProjectionProgress[]): readonly string[] {
  return progress.flatMap(({ name, version, others }) => {
    const isNewer = others.some((build) => build.active && build.version > version)
    return isNewer ? [`A newer version of the platform reads a build of its own of projection ${name}.`] : []
  })
}
