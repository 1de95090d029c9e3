import { z } from 'zod'
import { numbers } from '../../projections/supply/numbers.ts'
import type { pools } from '../../projections/supply/pools.ts'
import { pool } from '../../src/domain/supply/pool.ts'
import { collectionOf } from '../../src/kernel/projection.ts'
import type { ReadStore } from '../../src/ports/read-store.ts'
import type { DocOf, WithId } from '../shared/documents.ts'

/** A number pool as it is answered: with how many numbers are in its rotation. Nothing leases them yet. */
export const poolShape = pool.extend({ counts: z.object({ numbers: z.int(), leased: z.int() }) })

/** Pools with their counts. */
export async function poolShapes(views: ReadStore, workspaceId: string, docs: readonly WithId<DocOf<typeof pools>>[]) {
  const poolIds = docs.map(({ id }) => id)
  const filter = { workspaceId, poolId: { $in: poolIds } }
  const groups = poolIds.length === 0 ? [] : await views.sum(collectionOf(numbers), filter, ['poolId'], [])
  const held = new Map(groups.map(({ key: [id], count }) => [id, count]))
  return docs.map(({ workspaceId: _workspace, ...record }) => ({
    ...record,
    counts: { numbers: held.get(record.id) ?? 0, leased: 0 },
  }))
}
