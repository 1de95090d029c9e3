import { Unavailable } from '../../kernel/async/errors.ts'
import { sleep } from '../../kernel/async/sleep.ts'
import type { AnyProjection } from '../../kernel/projection.ts'
import { type BuildAlias, buildsOf, ensureAliases, readAliases } from './build-alias.ts'
import { isAsFarAs, isBuildComplete, readStoredBuilds } from './build-completeness.ts'
import { abandonBuild, requestRebuild, switchBuild, syncAliases } from './build-lifecycle.ts'
import { type BuildComparison, compareBuilds } from './compare-builds.ts'
import { createCoverages, type RangeProgress } from './coverage.ts'
import { type ProjectionRunnerOptions, runProjections } from './projection-runner.ts'

/** How often the switch is checked (ms). */
const CHECK_EVERY_MS = 50

/** How a rebuild treats a build of the same version whose documents differ from the new ones. */
export interface RebuildOptions extends ProjectionRunnerOptions {
  /**
   * `switch` (default): no comparison. `keep`: the new build takes the place of the old one only where they hold the same.
   * `replace`: it does in any case, and what differs is reported.
   */
  readonly onDifference?: 'switch' | 'keep' | 'replace'
  readonly onCompared?: (result: RebuildResult) => void
}

/** A rebuilt projection beside its build of before. */
export interface RebuildResult {
  readonly name: string
  /** Null where there was no build of this version, or none was asked for. */
  readonly comparison: BuildComparison | null
  /** Whether the new build is read now. */
  readonly switched: boolean
}

type Rebuild = RebuildOptions & {
  /** Collections that were read before, by projection. */
  readonly before: ReadonlyMap<string, string>
}

const activeIn = (alias: BuildAlias | undefined, version: number): string | undefined =>
  alias && buildsOf(alias, version).active?.collection

/** Compares a complete build that is held with the active one, and switches to it or gives it up. Null: it is not complete. */
async function finishHeld(
  options: Rebuild,
  projection: AnyProjection,
  alias: BuildAlias,
): Promise<RebuildResult | null> {
  const { store, log, onDifference, signal } = options
  const { active, building } = buildsOf(alias, projection.version)
  if (active === null || building === null) return null
  const build = { projection, names: building }
  const head = await log.head()
  if (!(await isBuildComplete(log, await readStoredBuilds(store), build, head))) return null
  const comparison = await compareBuilds(options, { projection, active, built: building })
  if (signal.aborted) return null
  const switched = comparison.differences === 0 || onDifference === 'replace'
  if (switched) await switchBuild(store, build)
  else await abandonBuild(store, build)
  return { name: projection.name, comparison, switched }
}

/** The result of a projection whose rebuild is over; null while it goes on. */
async function resultOf(
  options: Rebuild,
  projection: AnyProjection,
  alias: BuildAlias,
  coverages: (build: string) => readonly RangeProgress[],
): Promise<RebuildResult | null> {
  const { name, version } = projection
  const { active, building, held = false } = buildsOf(alias, version)
  if (building !== null && held) {
    const isNear = active !== null && isAsFarAs(coverages(building.checkpoint), coverages(active.checkpoint))
    return isNear ? finishHeld(options, projection, alias) : null
  }
  if (active?.collection !== options.before.get(name)) return { name, comparison: null, switched: true }
  // Somebody else has given it up.
  return building === null ? { name, comparison: null, switched: false } : null
}

/** The results of the projections whose rebuilds are over. A store that is unavailable for a while only delays them. */
async function resultsOf(options: Rebuild, waiting: readonly AnyProjection[]): Promise<readonly RebuildResult[]> {
  const results: RebuildResult[] = []
  try {
    const [aliases, checkpoints] = [await readAliases(options.store), await options.store.checkpoints()]
    const coverages = createCoverages(checkpoints)
    for (const projection of waiting) {
      const alias = aliases.get(projection.name)?.alias
      const result = alias ? await resultOf(options, projection, alias, coverages) : null
      if (result) results.push(result)
    }
  } catch (error) {
    if (!(error instanceof Unavailable)) throw error
  }
  return results
}

/**
 * Rebuilds projections beside the builds that are read, and resolves when all are switched, or given up because they differ; the
 * next runner drops what is not read any more. A server that runs at the same time may do part of the work. Started again after
 * a kill, it goes on where the builds stand.
 * @throws Error with the reason when a reducer halts one of them, StoreUnavailable before the start
 */
export async function rebuildProjections(options: RebuildOptions): Promise<readonly RebuildResult[]> {
  const { store, projections, clock, signal, onDifference = 'switch' } = options
  await ensureAliases(store)
  await syncAliases(store, projections)
  const aliases = await readAliases(store)
  const before = new Map(
    projections.flatMap(({ name, version }) => {
      const collection = activeIn(aliases.get(name)?.alias, version)
      return collection === undefined ? [] : [[name, collection] as const]
    }),
  )
  const held = onDifference !== 'switch'
  await Promise.all(projections.map((projection) => requestRebuild(store, projection, { held })))
  const stop = new AbortController()
  let halted: string | null = null
  const runner = runProjections({
    ...options,
    signal: AbortSignal.any([signal, stop.signal]),
    onHalt: (halt) => {
      halted = `${halt.name} halted on ${halt.eventType} at ${halt.position}: ${halt.message}`
      options.onHalt?.(halt)
    },
  })
  const results: RebuildResult[] = []
  try {
    let waiting = projections
    while (!signal.aborted && halted === null && waiting.length > 0) {
      for (const result of await resultsOf({ ...options, before }, waiting)) {
        results.push(result)
        options.onCompared?.(result)
      }
      waiting = waiting.filter(({ name }) => !results.some((result) => result.name === name))
      if (waiting.length > 0) await sleep(clock, CHECK_EVERY_MS, signal)
    }
  } finally {
    stop.abort()
    await runner.done
  }
  if (halted !== null) throw new Error(halted)
  return results
}
