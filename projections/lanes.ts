import { z } from 'zod'
import { changed } from '../src/domain/changes.ts'
import { lane, laneEvents, laneId, routingKey } from '../src/domain/lane.ts'
import { publisherEvents } from '../src/domain/publisher.ts'
import { workspaceIdOf } from '../src/domain/workspace.ts'
import { defineProjection } from '../src/kernel/projection.ts'
import { id, instant } from '../src/kernel/wire.ts'

const { PublisherStatusChanged } = publisherEvents

const key = routingKey
  .omit({ campaignId: true, publisherId: true, hash: true })
  .extend({ lastUsedAt: instant.nullable(), useCount: z.int() })

/** Open lanes with what may be shown of their routing keys, by `laneId`. */
export const lanes = defineProjection({
  name: 'lanes',
  version: 1,
  events: { ...laneEvents, PublisherStatusChanged },
  doc: lane.omit({ keyId: true }).extend({ workspaceId: id, key: key.nullable() }),
  indexes: [
    { workspaceId: 1, publisherId: 1, assignedAt: 1 },
    { workspaceId: 1, campaignId: 1, assignedAt: 1 },
  ],
  key(event) {
    if (event.type === 'PublisherStatusChanged')
      return event.data.revoked.map(({ campaignId }) => laneId(campaignId, event.data.publisherId))
    const { campaignId, publisherId } = event.type === 'LaneOpened' ? event.data.lane : event.data
    return laneId(campaignId, publisherId)
  },
  starts: {
    LaneOpened(event) {
      const { keyId: _keyId, ...terms } = event.data.lane
      const { campaignId: _campaignId, publisherId: _publisherId, hash: _hash, ...shown } = event.data.key
      return { ...terms, workspaceId: workspaceIdOf(event), key: { ...shown, lastUsedAt: null, useCount: 0 } }
    },
  },
  on: {
    LaneTermsChanged: (doc, { data, meta }) => changed({ ...doc, termsFrozenAt: meta.at }, data.after),
    LaneClosed: () => null,
    PublisherStatusChanged: (doc) => ({ ...doc, key: doc.key && { ...doc.key, state: 'revoked' as const } }),
  },
})
