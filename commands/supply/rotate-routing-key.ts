import { workspace } from '../../src/domain/configuration/workspace.ts'
import { storedKey } from '../../src/domain/shared/issued-secret.ts'
import { refuseNotFound, refuseRevoked } from '../../src/domain/shared/refusals.ts'
import { MINUTE_MS } from '../../src/domain/shared/time.ts'
import { keyEventBase } from '../../src/domain/supply/lane.ts'
import { isLiveKey, routingKeyRotation } from '../../src/domain/supply/routing-key.ts'
import { defineCommand } from '../../src/kernel/command.ts'
import { addMs } from '../../src/kernel/instant.ts'
import { id } from '../../src/kernel/wire.ts'

/**
 * Gives a routing key a new secret; `key` is its stored form. The previous secret works until its grace ends; one that is
 * already in its grace stops at once.
 */
export const rotateRoutingKey = defineCommand({
  name: 'rotate-routing-key',
  entity: workspace,
  input: routingKeyRotation.extend({ keyId: id, key: storedKey }),
  rejects: ['routing-key-not-found', 'conflict'],
  decide({ keyId, graceMinutes, key: { prefix, hash } }, state, { now }) {
    const key = state.routingKeys.get(keyId)
    if (!key) return refuseNotFound('routing-key')
    if (!isLiveKey(key)) return refuseRevoked('The key')
    const graceEndsAt = graceMinutes === 0 ? null : addMs(now, graceMinutes * MINUTE_MS)
    const before = { prefix: key.prefix }
    return [{ type: 'RoutingKeyRotated', data: { ...keyEventBase(state, key), before, prefix, hash, graceEndsAt } }]
  },
})
