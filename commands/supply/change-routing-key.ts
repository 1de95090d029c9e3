import { z } from 'zod'
import { workspace } from '../../src/domain/configuration/workspace.ts'
import { changesOf } from '../../src/domain/shared/changes.ts'
import { missing, nothingToChange, revoked } from '../../src/domain/shared/refusals.ts'
import { namesOfKey } from '../../src/domain/supply/lane.ts'
import { keyWorks, type RoutingKeySettings, routingKeyChanges } from '../../src/domain/supply/routing-key.ts'
import { defineCommand } from '../../src/kernel/command.ts'
import { id } from '../../src/kernel/wire.ts'

/** Changes what is set of a publisher's routing key. */
export const changeRoutingKey = defineCommand({
  name: 'change-routing-key',
  entity: workspace,
  input: z.object({ keyId: id, changes: routingKeyChanges }),
  rejects: ['bad-request', 'routing-key-not-found', 'conflict'],
  decide({ keyId, changes }, state) {
    const key = state.routingKeys.get(keyId)
    if (!key) return missing('routing-key')
    if (Object.keys(changes).length === 0) return nothingToChange()
    if (!keyWorks(key)) return revoked('The key')
    const difference = changesOf<RoutingKeySettings>(key, changes)
    return difference ? [{ type: 'RoutingKeyChanged', data: { ...namesOfKey(state, key), ...difference } }] : []
  },
})
