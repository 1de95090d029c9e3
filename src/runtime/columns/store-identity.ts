import type { Random } from '../../ports/random.ts'
import type { ReadStore } from '../../ports/read-store.ts'

/** Name of the checkpoint whose position is the identity of the store. No projection has such a name. */
const IDENTITY = 'columns'

/**
 * The identity of a read store: a number that is drawn once for each, so that segments of one that was deleted are not taken
 * for those of its successor, whose documents may be others. Rejects with StoreUnavailable.
 */
export function createStoreIdentity(store: ReadStore, random: Pick<Random, 'seed'>): () => Promise<number> {
  let known: number | null = null
  return async () => {
    if (known !== null) return known
    const found = await store.checkpoint(IDENTITY)
    if (!found) await store.commit([], { name: IDENTITY, expected: null, next: { position: random.seed(), at: null } })
    // Where another process was first, its number counts.
    known = (found ?? (await store.checkpoint(IDENTITY)))?.position ?? null
    return known ?? 0
  }
}
