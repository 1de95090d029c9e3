import { z } from 'zod'
import { workspace } from '../../src/domain/configuration/workspace.ts'
import { diff } from '../../src/domain/shared/patch.ts'
import { refuseEmptyChange, refuseNotFound, refuseRevoked } from '../../src/domain/shared/refusals.ts'
import { keyEventBase } from '../../src/domain/supply/lane.ts'
import { isLiveKey, type RoutingKeySettings, routingKeyChanges } from '../../src/domain/supply/routing-key.ts'
import { defineCommand } from '../../src/kernel/command.ts'
import { id } from '../../src/kernel/wire.ts'

/** Changes the settings of a publisher's routing key. */
export const changeRoutingKey = defineCommand({
  name: 'change-routing-key',
  entity: workspace,
  input: z.object({ keyId: id, changes: routingKeyChanges }),
  rejects: ['bad-request', 'routing-key-not-found', 'conflict'],
  decide({ keyId, changes }, state) {
    const key = state.routingKeys.get(keyId)
    if (!key) return refuseNotFound('routing-key')
    if (Object.keys(changes).length === 0) return refuseEmptyChange()
    if (!isLiveKey(key)) return refuseRevoked('The key')
    const difference = diff<RoutingKeySettings>(key, changes)
    return difference ? [{ type: 'RoutingKeyChanged', data: { ...keyEventBase(state, key), ...difference } }] : []
  },
})
