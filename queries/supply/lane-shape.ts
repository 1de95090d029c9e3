import { z } from 'zod'
import { campaigns } from '../../projections/campaigns/campaigns.ts'
import { capCounters } from '../../projections/routing/cap-counters.ts'
import { lanes } from '../../projections/supply/lanes.ts'
import { numbers } from '../../projections/supply/numbers.ts'
import { publishers } from '../../projections/supply/publishers.ts'
import { routingKeys } from '../../projections/supply/routing-keys.ts'
import { campaignReference } from '../../src/domain/campaigns/campaign.ts'
import { lane, laneCounterId, laneId, reopenedKeyId } from '../../src/domain/supply/lane.ts'
import { publisher } from '../../src/domain/supply/publisher.ts'
import type { WithId } from '../../src/kernel/document.ts'
import { collectionOf } from '../../src/kernel/projection.ts'
import { id } from '../../src/kernel/wire.ts'
import type { QueryPorts } from '../../src/ports/query-ports.ts'
import type { Filter, ReadStore } from '../../src/ports/read-store.ts'
import { countersOf, laneUsage, laneUsageOf } from '../routing/usage-figures.ts'
import { type DocOf, readAll, readOne, readReferenced } from '../shared/documents.ts'
import { statusReference } from '../shared/reference.ts'
import { compatShape, compatShapeOf, keyUsages, laneKeyShape, laneKeyShapeOf } from './routing-key-shape.ts'

/** The fields of a lane on both surfaces. */
const common = lane.omit({ campaignId: true, publisherId: true, keyId: true, reopened: true }).extend({
  effectiveBufferSeconds: z.int().nullable(),
  usage: laneUsage,
  key: laneKeyShape.nullable(),
  numbers: z.int(),
})

/** A lane in a publisher's response, with its campaign. */
export const laneShape = common
  .extend({
    campaignId: id,
    campaign: campaignReference.nullable(),
    compat: z.object({ enabled: z.boolean() }),
  })
  .meta({ id: 'PublisherLane' })

/** A lane in a campaign's response on the console, with its publisher and single-step ping URL. */
export const campaignLaneShape = common
  .extend({
    publisherId: id,
    publisher: publisher.pick({ id: true, name: true, status: true, routingPrefix: true }).nullable(),
    compat: compatShape,
  })
  .meta({ id: 'Lane' })

/** The projections that lanes are read from. */
export const LANE_READS = [lanes, routingKeys, campaigns, numbers, capCounters]

type LaneDoc = WithId<DocOf<typeof lanes>>

const counterIdOf = (doc: LaneDoc) => laneCounterId(doc.campaignId, doc.publisherId, reopenedKeyId(doc))

async function numbersByLane(views: ReadStore, workspaceId: string, docs: readonly LaneDoc[]) {
  const groups = await views.sum(
    collectionOf(numbers),
    {
      workspaceId,
      publisherId: { $in: [...new Set(docs.map(({ publisherId }) => publisherId))] },
      status: { $ne: 'released' },
    },
    ['campaignId', 'publisherId'],
    [],
  )
  const counts = new Map(groups.map(({ key, count }) => [key.join(':'), count]))
  return (lane: string) => counts.get(lane) ?? 0
}

/** Lanes of a workspace, each with its key and campaign. */
async function describeLanes(ports: QueryPorts, workspaceId: string, docs: readonly LaneDoc[], now: string) {
  const { views } = ports
  const keyIds = docs.flatMap(({ keyId }) => keyId ?? [])
  const [named, keys, usageOf, counters, numbersOn] = await Promise.all([
    readReferenced(views, campaigns, docs, ({ campaignId }) => campaignId),
    readReferenced(views, routingKeys, docs, ({ keyId }) => keyId),
    keyUsages(ports, workspaceId, keyIds, now),
    countersOf(views, 'lane', docs.map(counterIdOf)),
    numbersByLane(views, workspaceId, docs),
  ])
  return docs.map((doc) => {
    const { id, workspaceId: _workspace, campaignId, publisherId, keyId, reopened: _reopened, ...terms } = doc
    const campaign = named.get(campaignId)
    const key = keyId === null ? undefined : keys.get(keyId)
    return {
      campaignId,
      publisherId,
      campaign,
      key,
      shown: {
        ...terms,
        effectiveBufferSeconds: terms.bufferSeconds ?? campaign?.bufferSeconds ?? null,
        usage: laneUsageOf(counters, counterIdOf(doc), now),
        key: key ? laneKeyShapeOf(key, usageOf(key.id), now) : null,
        numbers: numbersOn(id),
      },
    }
  })
}

/** The lanes that match a filter, oldest first. */
const findLanes = ({ views }: QueryPorts, filter: Filter) => readAll(views, lanes, { filter, sort: { assignedAt: 1 } })

/** The lanes of publishers, by publisher, oldest first. */
export async function lanesOfPublishers(
  ports: QueryPorts,
  workspaceId: string,
  publisherIds: readonly string[],
  now: string,
) {
  const docs = await findLanes(ports, { workspaceId, publisherId: { $in: publisherIds } })
  const found = await describeLanes(ports, workspaceId, docs, now)
  const shape = ({ campaignId, campaign, key, shown }: (typeof found)[number]) => ({
    ...shown,
    campaignId,
    campaign: statusReference(campaign),
    compat: { enabled: (key?.compat ?? null) !== null },
  })
  return (publisherId: string) => found.filter((one) => one.publisherId === publisherId).map(shape)
}

const publisherSummary = ({ id, name, status, routingPrefix }: WithId<DocOf<typeof publishers>>) => ({
  id,
  name,
  status,
  routingPrefix,
})

/** Lanes in the shape of their campaign. */
async function campaignLanes(ports: QueryPorts, workspaceId: string, docs: readonly LaneDoc[], now: string) {
  const found = await describeLanes(ports, workspaceId, docs, now)
  const owners = await readReferenced(ports.views, publishers, found, (one) => one.publisherId)
  return found.map(({ publisherId, key, shown }) => {
    const owner = owners.get(publisherId)
    return {
      ...shown,
      publisherId,
      publisher: owner ? publisherSummary(owner) : null,
      compat: compatShapeOf(ports, key),
    }
  })
}

interface LaneQuestion {
  readonly workspaceId: string
  readonly campaignId: string
}

/** The lanes of a campaign, oldest first. */
export async function lanesOfCampaign(ports: QueryPorts, { workspaceId, campaignId }: LaneQuestion, now: string) {
  return campaignLanes(ports, workspaceId, await findLanes(ports, { workspaceId, campaignId }), now)
}

/** The lane of a campaign and a publisher, read by its id: a write of a lane reads back what it wrote; null for none. */
export async function laneOfCampaign(
  ports: QueryPorts,
  { workspaceId, campaignId, publisherId }: LaneQuestion & { readonly publisherId: string },
  now: string,
) {
  const doc = await readOne(ports.views, lanes, workspaceId, laneId(campaignId, publisherId))
  const [lane = null] = doc ? await campaignLanes(ports, workspaceId, [doc], now) : []
  return lane
}
