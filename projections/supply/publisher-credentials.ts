import { z } from 'zod'
import { laneEvents } from '../../src/domain/supply/lane.ts'
import { routingKeyEvents } from '../../src/domain/supply/routing-key.ts'
import { workspaceIdOf } from '../../src/kernel/entity.ts'
import { defineProjection } from '../../src/kernel/projection.ts'
import { id } from '../../src/kernel/wire.ts'

const { LaneOpened } = laneEvents
const { RoutingKeyRotated, CompatEnabled, CompatTokenRotated } = routingKeyEvents

const doc = z.object({ workspaceId: id, keyId: id })

/**
 * Which routing key a secret or a single-step token is of, by its SHA-256: a look-up across workspaces. It only says where to look:
 * whether the key is still valid is decided by the workspace's configuration.
 */
export const publisherCredentials = defineProjection({
  name: 'publisher-credentials',
  version: 1,
  events: { LaneOpened, RoutingKeyRotated, CompatEnabled, CompatTokenRotated },
  doc,
  indexes: [{ workspaceId: 1 }],
  key(event) {
    if (event.type === 'LaneOpened') return event.data.key.hash
    return event.type === 'RoutingKeyRotated' ? event.data.hash : event.data.token.hash
  },
  create: {
    LaneOpened: (event) => ({ workspaceId: workspaceIdOf(event), keyId: event.data.key.id }),
    RoutingKeyRotated: (event) => ({ workspaceId: workspaceIdOf(event), keyId: event.data.keyId }),
    CompatEnabled: (event) => ({ workspaceId: workspaceIdOf(event), keyId: event.data.keyId }),
    CompatTokenRotated: (event) => ({ workspaceId: workspaceIdOf(event), keyId: event.data.keyId }),
  },
})
