import { z } from 'zod'
import { workspace } from '../../src/domain/configuration/workspace.ts'
import { missing, revoked } from '../../src/domain/shared/refusals.ts'
import { namesOfKey } from '../../src/domain/supply/lane.ts'
import { compatToken, keyWorks } from '../../src/domain/supply/routing-key.ts'
import { defineCommand } from '../../src/kernel/command.ts'
import { refuse } from '../../src/kernel/refusal.ts'
import { id } from '../../src/kernel/wire.ts'

/** Gives a lane's single-step ping another URL; the one before is dead at once. */
export const rotateCompatToken = defineCommand({
  name: 'rotate-compat-token',
  entity: workspace,
  input: z.object({ keyId: id, token: compatToken }),
  rejects: ['routing-key-not-found', 'conflict'],
  decide({ keyId, token }, state) {
    const key = state.routingKeys.get(keyId)
    if (!key) return missing('routing-key')
    if (!keyWorks(key)) return revoked('The key')
    if (key.compat === null)
      return refuse('conflict', { compat: { enabled: false } }, 'The single-step ping of this lane is switched off.')
    return [{ type: 'CompatTokenRotated', data: { ...namesOfKey(state, key), token } }]
  },
})
