import { z } from 'zod'
import { numbers } from '../../projections/supply/numbers.ts'
import type { pools } from '../../projections/supply/pools.ts'
import { pool } from '../../src/domain/supply/pool.ts'
import type { WithId } from '../../src/kernel/document.ts'
import type { ReadStore } from '../../src/ports/read-store.ts'
import type { DocOf } from '../shared/documents.ts'
import { countBy } from '../shared/documents.ts'

/** A number pool in a response, with the count of its numbers. Nothing leases them yet. */
export const poolShape = pool.extend({ counts: z.object({ numbers: z.int(), leased: z.int() }) }).meta({ id: 'Pool' })

/** Pools with their counts. */
export async function poolShapes(views: ReadStore, workspaceId: string, docs: readonly WithId<DocOf<typeof pools>>[]) {
  if (docs.length === 0) return []
  const filter = { workspaceId, poolId: { $in: docs.map(({ id }) => id) } }
  const numbersIn = await countBy(views, numbers, filter, 'poolId')
  return docs.map(({ workspaceId: _workspace, ...record }) => ({
    ...record,
    counts: { numbers: numbersIn(record.id), leased: 0 },
  }))
}
