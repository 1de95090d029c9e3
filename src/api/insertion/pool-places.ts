import { LRUCache } from 'lru-cache'
import { workspace } from '../../domain/configuration/workspace.ts'
import { LEASE } from '../../domain/shared/limits.ts'
import type { LeasePlace } from '../../reactions/leases.ts'
import type { StreamWriter } from '../../runtime/write/stream-writer.ts'

/** Where the pool of a public key is configured. */
export interface PoolKeyPlace {
  readonly workspaceId: string
  readonly poolId: string
}

/** Finds pools, each with the configuration that it belongs to. Every method throws StoreUnavailable and LogUnavailable. */
export interface PoolPlaces {
  /** The pool of a public key; null for a key of none. */
  readonly byKey: (publicKey: string) => Promise<LeasePlace | null>
  readonly byId: (workspaceId: string, poolId: string) => Promise<LeasePlace | null>
}

/** Keys whose place a process remembers: it never changes. */
const MAX_PLACES = 10_000

/** Creates the finder of pools. */
export function createPoolPlaces({
  find,
  writer,
}: {
  /** The pool that has or had a public key. @throws StoreUnavailable */
  readonly find: (publicKey: string) => Promise<PoolKeyPlace | null>
  readonly writer: Pick<StreamWriter, 'recentStateOf'>
}): PoolPlaces {
  const places = new LRUCache<string, PoolKeyPlace>({ max: MAX_PLACES })

  async function placeOf(workspaceId: string, poolId: string, maxAgeMs: number): Promise<LeasePlace | null> {
    const configured = await writer.recentStateOf(workspace, workspaceId, maxAgeMs)
    const pool = configured.pools.get(poolId)
    return pool ? { workspaceId, pool, configured } : null
  }

  return {
    async byKey(publicKey) {
      // Made-up keys are not remembered.
      const known = places.get(publicKey) ?? (await find(publicKey))
      if (known === null) return null
      places.set(publicKey, known)
      const { workspaceId, poolId } = known
      const place = await placeOf(workspaceId, poolId, LEASE.foldAgeMs)
      if (place?.pool.publicKey === publicKey) return place
      // The key may be newer than the configuration at hand.
      const newest = await placeOf(workspaceId, poolId, 0)
      return newest?.pool.publicKey === publicKey ? newest : null
    },
    byId: (workspaceId, poolId) => placeOf(workspaceId, poolId, LEASE.foldAgeMs),
  }
}
