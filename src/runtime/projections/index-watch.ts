import { sleep } from '../../kernel/async/sleep.ts'
import type { AnyProjection } from '../../kernel/projection.ts'
import type { Clock } from '../../ports/clock.ts'
import type { OperationalStore } from '../../ports/operational-store.ts'
import type { CollectionSpec, ReadStore } from '../../ports/read-store.ts'
import { buildsOf, readAliases, readableBuild } from './build-alias.ts'
import { collectionSpec } from './projection-lane.ts'

/** How often the stores are looked at (ms): while nothing is missing, and until it is there again. */
const LOOK_MS = { whole: 15_000, missing: 500 } as const

/** What the watch looks at. */
export interface IndexWatchOptions {
  readonly store: ReadStore
  readonly ops: Pick<OperationalStore, 'ensure' | 'missingIndexes'>
  readonly projections: readonly AnyProjection[]
  /** Names of projections whose builds get an index on the documents' positions. */
  readonly indexedByPosition: ReadonlySet<string>
  /** Whether this process creates again what is missing; another one does otherwise. */
  readonly repairs: boolean
  readonly clock: Clock
  readonly signal: AbortSignal
}

/** The collections that readers of each projection read, and the one of a build that will be. @throws StoreUnavailable */
async function readSpecs({ store, projections, indexedByPosition }: IndexWatchOptions) {
  const aliases = await readAliases(store)
  const specOf = (projection: AnyProjection, names: ReturnType<typeof readableBuild>): readonly CollectionSpec[] =>
    names ? [collectionSpec({ projection, names }, indexedByPosition.has(projection.name))] : []
  return {
    read: projections.flatMap((one) => specOf(one, readableBuild(one, aliases.get(one.name)?.alias ?? null))),
    building: projections.flatMap((one) => {
      const alias = aliases.get(one.name)?.alias
      return alias ? specOf(one, buildsOf(alias, one.version).building) : []
    }),
  }
}

/** Creates again what is missing. Resolves to the collections that were missing and still are. @throws StoreUnavailable */
async function look(options: IndexWatchOptions): Promise<readonly string[]> {
  const { store, ops, repairs } = options
  const { read, building } = await readSpecs(options)
  const specs = [...read, ...building]
  const [missing, ofOps] = await Promise.all([store.missingIndexes(specs), ops.missingIndexes()])
  const named = new Set(missing)
  if (repairs) {
    if (named.size > 0) await store.ensure(specs.filter(({ name }) => named.has(name)))
    if (ofOps.length > 0) await ops.ensure()
    return []
  }
  // A build that nobody reads yet may not have been begun.
  return [...read.map(({ name }) => name).filter((name) => named.has(name)), ...ofOps]
}

/**
 * Watches whether the indexes that the stores' collections must have are there, until the signal: an operator of a server can
 * drop them, or the whole database. Answers without them are right, but slow.
 * @returns names of the collections of which something was missing at the last look; none before the first one
 */
export function watchIndexes(options: IndexWatchOptions): () => readonly string[] {
  const { clock, signal } = options
  let missing: readonly string[] = []
  async function watch(): Promise<void> {
    for (;;) {
      await sleep(clock, missing.length === 0 ? LOOK_MS.whole : LOOK_MS.missing, signal)
      if (signal.aborted) return
      // What cannot be read now is looked at next time; the read store's own problem is told elsewhere.
      missing = await look(options).catch(() => missing)
    }
  }
  void watch()
  return () => missing
}
