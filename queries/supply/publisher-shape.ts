import { z } from 'zod'
import { callLog } from '../../projections/calls/call-log.ts'
import type { publishers } from '../../projections/supply/publishers.ts'
import { QUALITY } from '../../src/domain/shared/limits.ts'
import { DAY_MS } from '../../src/domain/shared/time.ts'
import { publisher } from '../../src/domain/supply/publisher.ts'
import { qualityScore } from '../../src/domain/supply/quality.ts'
import type { WithId } from '../../src/kernel/document.ts'
import { collectionOf } from '../../src/kernel/projection.ts'
import type { QueryContext } from '../../src/kernel/query.ts'
import type { QueryPorts } from '../../src/ports/query-ports.ts'
import type { ReadStore } from '../../src/ports/read-store.ts'
import type { DocOf } from '../shared/documents.ts'
import { laneShape, lanesOfPublishers } from './lane-shape.ts'

/** A publisher as it is answered, with its lanes. */
export const publisherShape = publisher
  .extend({ quality: z.int().nullable(), lanes: z.array(laneShape) })
  .meta({ id: 'Publisher' })

async function qualityScores(views: ReadStore, workspaceId: string, ids: readonly string[], now: string) {
  const since = Date.parse(now) - QUALITY.days * DAY_MS
  const groups = await views.sum(
    collectionOf(callLog),
    { workspaceId, startedMs: { $gte: since }, 'publisher.id': { $in: ids } },
    ['publisher.id'],
    ['connectedCount', 'convertedCount'],
  )
  const scores = new Map(
    groups.map(({ key: [id], count, sums: [connected = 0, converted = 0] }) => [
      String(id),
      qualityScore({ calls: count, connected, converted }),
    ]),
  )
  return (id: string) => scores.get(id) ?? null
}

/** Publishers with their lanes and scores. */
export async function publisherShapes(
  ports: QueryPorts,
  { tenant: { workspaceId }, now }: Pick<QueryContext<unknown, unknown>, 'tenant' | 'now'>,
  docs: readonly WithId<DocOf<typeof publishers>>[],
) {
  const ids = docs.map(({ id }) => id)
  if (ids.length === 0) return []
  const [lanes, quality] = await Promise.all([
    lanesOfPublishers(ports, workspaceId, ids, now),
    qualityScores(ports.views, workspaceId, ids, now),
  ])
  return docs.map(({ workspaceId: _workspace, ...record }) => ({
    ...record,
    quality: quality(record.id),
    lanes: lanes(record.id),
  }))
}
