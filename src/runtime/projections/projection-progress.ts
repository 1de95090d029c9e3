import type { AnyProjection } from '../../kernel/projection.ts'
import type { Checkpoint, ReadStore } from '../../ports/read-store.ts'
import { ensureAliases, readAliases } from './build-alias.ts'
import { buildNames } from './build-names.ts'

/** How far a projection has read, from the store's checkpoints: any process can read it, whichever runs the projection. */
export interface ProjectionProgress {
  readonly name: string
  /** Version of the active build. */
  readonly version: number
  /** Checkpoint of the active build; null before its first batch. */
  readonly active: Checkpoint | null
  /** The build that is being built beside it; null for none. */
  readonly building: { readonly checkpoint: Checkpoint | null } | null
}

/** Progress of projections. @throws StoreUnavailable */
export async function readProgress(
  store: ReadStore,
  projections: readonly AnyProjection[],
): Promise<readonly ProjectionProgress[]> {
  await ensureAliases(store)
  const [aliases, checkpoints] = [await readAliases(store), await store.checkpoints()]
  return projections.map((projection) => {
    const { active, building } = aliases.get(projection.name)?.alias ?? {
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
