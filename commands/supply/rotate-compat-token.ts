import { z } from 'zod'
import { workspace } from '../../src/domain/configuration/workspace.ts'
import { refuseNotFound, refuseRevoked } from '../../src/domain/shared/refusals.ts'
import { keyEventBase } from '../../src/domain/supply/lane.ts'
import { compatToken, isLiveKey } from '../../src/domain/supply/routing-key.ts'
import { defineCommand } from '../../src/kernel/command.ts'
import { refuse } from '../../src/kernel/refusal.ts'
import { id } from '../../src/kernel/wire.ts'

/** Gives a lane's single-step ping a new URL. The previous one stops working at once. */
export const rotateCompatToken = defineCommand({
  name: 'rotate-compat-token',
  entity: workspace,
  input: z.object({ keyId: id, token: compatToken }),
  rejects: ['routing-key-not-found', 'conflict'],
  decide({ keyId, token }, state) {
    const key = state.routingKeys.get(keyId)
    if (!key) return refuseNotFound('routing-key')
    if (!isLiveKey(key)) return refuseRevoked('The key')
    if (key.compat === null)
      return refuse(
        'conflict',
        { compat: { enabled: false } },
        'The single-step ping of this lane is off. Switch it on first.',
      )
    return [{ type: 'CompatTokenRotated', data: { ...keyEventBase(state, key), token } }]
  },
})
