import { z } from 'zod'
import { workspace } from '../../src/domain/configuration/workspace.ts'
import { missing, revoked } from '../../src/domain/shared/refusals.ts'
import { namesOfKey } from '../../src/domain/supply/lane.ts'
import { keyWorks, sealed } from '../../src/domain/supply/routing-key.ts'
import { defineCommand } from '../../src/kernel/command.ts'
import { id } from '../../src/kernel/wire.ts'

/** Gives a routing key another signing secret, here sealed; the one before stops working at once. */
export const rotateSigningSecret = defineCommand({
  name: 'rotate-signing-secret',
  entity: workspace,
  input: z.object({ keyId: id, sealed }),
  rejects: ['routing-key-not-found', 'conflict'],
  decide({ keyId, sealed }, state) {
    const key = state.routingKeys.get(keyId)
    if (!key) return missing('routing-key')
    if (!keyWorks(key)) return revoked('The key')
    return [{ type: 'SigningSecretRotated', data: { ...namesOfKey(state, key), sealed } }]
  },
})
