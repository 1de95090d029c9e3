import { z } from 'zod'
import { campaigns } from '../projections/campaigns.ts'
import { lanes } from '../projections/lanes.ts'
import { numbers } from '../projections/numbers.ts'
import { campaignStatus } from '../src/domain/campaign.ts'
import { lane, routingKey } from '../src/domain/lane.ts'
import { collectionOf } from '../src/kernel/projection.ts'
import { id, instant } from '../src/kernel/wire.ts'
import type { ReadStore } from '../src/ports/read-store.ts'
import { type DocOf, type Kept, readAll, readMany } from './documents.ts'
import { countersOf, laneUsage, laneUsageOf } from './usage.ts'

const { id: keyId, prefix, state, protocol, environment, requireSignature, issuedAt } = routingKey.shape

/** A lane as a publisher's answer shows it: by its campaign. */
export const laneShape = lane.omit({ publisherId: true, keyId: true, compatEnabled: true }).extend({
  campaign: z.object({ id, name: z.string(), status: campaignStatus }).nullable(),
  effectiveBufferSeconds: z.int().nullable(),
  usage: laneUsage,
  key: z
    .object({
      id: keyId,
      prefix,
      state,
      protocol,
      environment,
      requireSignature,
      lastUsedAt: instant.nullable(),
      useCount: z.int(),
      issuedAt,
    })
    .nullable(),
  numbers: z.int(),
  compat: z.object({ enabled: z.boolean() }),
})

type LaneDoc = Kept<DocOf<typeof lanes>>

async function numbersByLane(views: ReadStore, workspaceId: string, publisherIds: readonly string[]) {
  const groups = await views.sum(
    collectionOf(numbers),
    { workspaceId, publisherId: { $in: publisherIds }, status: { $ne: 'released' } },
    ['campaignId', 'publisherId'],
    [],
  )
  const counts = new Map(groups.map(({ key, count }) => [key.join(':'), count]))
  return (laneId: string) => counts.get(laneId) ?? 0
}

/** The lanes of publishers, by publisher, the oldest first. */
export async function lanesOf(views: ReadStore, workspaceId: string, publisherIds: readonly string[], now: string) {
  const filter = { workspaceId, publisherId: { $in: publisherIds } }
  const docs = await readAll(views, lanes, { filter, sort: { assignedAt: 1 } })
  const [named, counters, numbersOn] = await Promise.all([
    readMany(
      views,
      campaigns,
      docs.map(({ campaignId }) => campaignId),
    ),
    countersOf(
      views,
      'lane',
      docs.map(({ id }) => id),
    ),
    numbersByLane(views, workspaceId, publisherIds),
  ])
  const shape = ({ id, workspaceId: _workspace, publisherId: _publisher, compatEnabled, ...terms }: LaneDoc) => {
    const campaign = named.get(terms.campaignId)
    return {
      ...terms,
      campaign: campaign ? { id: campaign.id, name: campaign.name, status: campaign.status } : null,
      effectiveBufferSeconds: terms.bufferSeconds ?? campaign?.bufferSeconds ?? null,
      usage: laneUsageOf(counters, id, now),
      numbers: numbersOn(id),
      compat: { enabled: compatEnabled },
    }
  }
  return (publisherId: string) => docs.filter((doc) => doc.publisherId === publisherId).map(shape)
}
