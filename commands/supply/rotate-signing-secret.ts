import { z } from 'zod'
import { workspace } from '../../src/domain/configuration/workspace.ts'
import { refuseNotFound, refuseRevoked } from '../../src/domain/shared/refusals.ts'
import { keyEventBase } from '../../src/domain/supply/lane.ts'
import { isLiveKey, sealed } from '../../src/domain/supply/routing-key.ts'
import { defineCommand } from '../../src/kernel/command.ts'
import { id } from '../../src/kernel/wire.ts'

/** Gives a routing key a new signing secret, sealed. The previous one stops working at once. */
export const rotateSigningSecret = defineCommand({
  name: 'rotate-signing-secret',
  entity: workspace,
  input: z.object({ keyId: id, sealed }),
  rejects: ['routing-key-not-found', 'conflict'],
  decide({ keyId, sealed }, state) {
    const key = state.routingKeys.get(keyId)
    if (!key) return refuseNotFound('routing-key')
    if (!isLiveKey(key)) return refuseRevoked('The key')
    return [{ type: 'SigningSecretRotated', data: { ...keyEventBase(state, key), sealed } }]
  },
})
