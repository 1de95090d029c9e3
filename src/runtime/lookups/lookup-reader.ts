import type { AnyProjection } from '../../kernel/projection.ts'
import { START } from '../../ports/event-log.ts'
import type { Checkpoint, ReadStore, StoredDocument } from '../../ports/read-store.ts'
import { type BuildAlias, buildsOf, readAlias } from '../projections/build-alias.ts'
import { type BuildNames, buildNames } from '../projections/build-names.ts'
import { coverageOf, lowestOf } from '../projections/coverage.ts'

/** Documents of one build of a projection, and how far it had come before they were read: they reflect that at least. */
export interface LookupRead {
  /** Of the partition that has come least far. Null: there it has folded nothing. */
  readonly checkpoint: Checkpoint | null
  readonly documents: readonly StoredDocument[]
}

/** Reads documents of a projection. @throws StoreUnavailable; TypeError for an unknown projection */
export type LookupReader = (projection: string, ids: readonly string[]) => Promise<LookupRead>

/**
 * The build of the version that this code knows; null for none. Documents of another version are never read: they may
 * have another shape.
 */
function ownBuild(projection: AnyProjection, alias: BuildAlias | null): BuildNames | null {
  if (alias === null) return buildNames(projection)
  const { active, building } = buildsOf(alias, projection.version)
  return active ?? building
}

/**
 * Creates a reader whose checkpoint and documents come from one build. A build is retired before it is dropped, so one
 * that was read and is not retired afterwards was there all the time; otherwise the read is repeated on its successor.
 */
export function createLookupReader(
  store: Pick<ReadStore, 'get' | 'getMany' | 'checkpoints'>,
  projections: readonly AnyProjection[],
): LookupReader {
  const byName = new Map(projections.map((projection) => [projection.name, projection]))
  /** The builds as they were last read. */
  const known = new Map<string, BuildNames | null>()

  async function buildNow(projection: AnyProjection): Promise<BuildNames | null> {
    const build = ownBuild(projection, await readAlias(store, projection.name))
    known.set(projection.name, build)
    return build
  }

  async function readBuild(build: BuildNames | null, ids: readonly string[]): Promise<LookupRead> {
    if (build === null) return { checkpoint: null, documents: [] }
    // The checkpoint first: documents only get newer, so no event between the two is missed.
    const lowest = lowestOf(coverageOf(await store.checkpoints(`${build.checkpoint}/`), build.checkpoint))
    const checkpoint = lowest.position === START ? null : lowest
    return { checkpoint, documents: await store.getMany(build.collection, ids) }
  }

  return async (name, ids) => {
    const projection = byName.get(name)
    if (!projection) throw new TypeError(`No projection is called ${name}.`)
    let build = known.get(name) ?? (await buildNow(projection))
    for (;;) {
      const read = await readBuild(build, ids)
      const now = await buildNow(projection)
      if (now?.collection === build?.collection) return read
      build = now
    }
  }
}
