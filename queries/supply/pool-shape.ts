import { z } from 'zod'
import { leases } from '../../projections/insertion/leases.ts'
import { numbers } from '../../projections/supply/numbers.ts'
import type { pools } from '../../projections/supply/pools.ts'
import { pool } from '../../src/domain/supply/pool.ts'
import type { WithId } from '../../src/kernel/document.ts'
import type { ReadStore } from '../../src/ports/read-store.ts'
import type { DocOf } from '../shared/documents.ts'
import { countBy } from '../shared/documents.ts'

/** A number pool in a response, with the counts of its numbers and of those that visitors hold. */
export const poolShape = pool.extend({ counts: z.object({ numbers: z.int(), leased: z.int() }) }).meta({ id: 'Pool' })

/** Pools with their counts. */
export async function poolShapes(views: ReadStore, workspaceId: string, docs: readonly WithId<DocOf<typeof pools>>[]) {
  if (docs.length === 0) return []
  const filter = { workspaceId, poolId: { $in: docs.map(({ id }) => id) } }
  const [numbersIn, leasedIn] = await Promise.all([
    countBy(views, numbers, filter, 'poolId'),
    countBy(views, leases, { ...filter, status: 'live', overflow: false }, 'poolId'),
  ])
  return docs.map(({ workspaceId: _workspace, ...record }) => ({
    ...record,
    counts: { numbers: numbersIn(record.id), leased: leasedIn(record.id) },
  }))
}
