import { laneEvents } from '../../src/domain/supply/lane.ts'
import { publisherEvents } from '../../src/domain/supply/publisher.ts'
import {
  newRoutingKey,
  revokeKey,
  routingKey,
  routingKeyEvents,
  routingKeyReducers,
} from '../../src/domain/supply/routing-key.ts'
import { workspaceIdOf } from '../../src/kernel/entity.ts'
import { defineProjection } from '../../src/kernel/projection.ts'
import { id } from '../../src/kernel/wire.ts'

const { LaneOpened, LaneClosed } = laneEvents
const { PublisherStatusChanged } = publisherEvents

/** Publishers' routing keys by id, including revoked ones. */
export const routingKeys = defineProjection({
  name: 'routing-keys',
  version: 1,
  events: { ...routingKeyEvents, LaneOpened, LaneClosed, PublisherStatusChanged },
  doc: routingKey.omit({ id: true }).extend({ workspaceId: id }),
  indexes: [{ workspaceId: 1, campaignId: 1 }],
  key(event) {
    if (event.type === 'LaneOpened') return event.data.key.id
    if (event.type === 'LaneClosed') return event.data.revokedKeys
    if (event.type === 'PublisherStatusChanged') return event.data.revoked.map(({ keyId }) => keyId)
    return event.data.keyId
  },
  create: {
    LaneOpened(event) {
      const { id: _id, ...key } = newRoutingKey(event.data.key)
      return { ...key, workspaceId: workspaceIdOf(event) }
    },
  },
  update: {
    ...routingKeyReducers,
    LaneClosed: (doc, { meta }) => revokeKey(doc, meta.at),
    PublisherStatusChanged: (doc, { meta }) => revokeKey(doc, meta.at),
  },
})
