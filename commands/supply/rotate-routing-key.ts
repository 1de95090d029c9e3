import { keptSecret } from '../../src/domain/access/api-key.ts'
import { workspace } from '../../src/domain/configuration/workspace.ts'
import { refuseNotFound, refuseRevoked } from '../../src/domain/shared/refusals.ts'
import { keyEventBase } from '../../src/domain/supply/lane.ts'
import { isLiveKey, routingKeyRotation } from '../../src/domain/supply/routing-key.ts'
import { defineCommand } from '../../src/kernel/command.ts'
import { id } from '../../src/kernel/wire.ts'

/**
 * Gives a routing key another secret, of which `key` is what is kept. The one before goes on working until its grace
 * ends; one whose grace runs already stops at once.
 */
export const rotateRoutingKey = defineCommand({
  name: 'rotate-routing-key',
  entity: workspace,
  input: routingKeyRotation.extend({ keyId: id, key: keptSecret }),
  rejects: ['routing-key-not-found', 'conflict'],
  decide({ keyId, graceMinutes, key: { prefix, hash } }, state, { now }) {
    const key = state.routingKeys.get(keyId)
    if (!key) return refuseNotFound('routing-key')
    if (!isLiveKey(key)) return refuseRevoked('The key')
    const graceEndsAt = graceMinutes === 0 ? null : new Date(Date.parse(now) + graceMinutes * 60_000).toISOString()
    const before = { prefix: key.prefix }
    return [{ type: 'RoutingKeyRotated', data: { ...keyEventBase(state, key), before, prefix, hash, graceEndsAt } }]
  },
})
