import type { AnyProjection } from '../../kernel/projection.ts'
import type { Checkpoint, ReadStore } from '../../ports/read-store.ts'
import { BUILD_ALIASES, buildNames, readAliases } from './build-names.ts'

/** How far a projection has come, as its store tells: by any process, of any other. */
export interface ProjectionProgress {
  readonly name: string
  /** Version of the build that is read. */
  readonly version: number
  /** Null before its first batch. */
  readonly active: Checkpoint | null
  /** The build that is being made beside it; null for none. */
  readonly building: { readonly checkpoint: Checkpoint | null } | null
}

/** The builds of projections. @throws StoreUnavailable */
export async function readProgress(
  store: ReadStore,
  projections: readonly AnyProjection[],
): Promise<readonly ProjectionProgress[]> {
  await store.ensure([{ name: BUILD_ALIASES, indexes: [], columns: [] }])
  const [pointers, checkpoints] = [await readAliases(store), await store.checkpoints()]
  return projections.map((projection) => {
    const { active, building } = pointers.get(projection.name)?.alias ?? {
      active: buildNames(projection),
      building: null,
    }
    return {
      name: projection.name,
      version: active.version,
      active: checkpoints[active.checkpoint] ?? null,
      building: building && { checkpoint: checkpoints[building.checkpoint] ?? null },
    }
  })
}
