import { z } from 'zod'
import { hashesOf } from '../../src/domain/access/api-key.ts'
import { workspace } from '../../src/domain/configuration/workspace.ts'
import { refuseNotFound } from '../../src/domain/shared/refusals.ts'
import { defineCommand } from '../../src/kernel/command.ts'
import { id } from '../../src/kernel/wire.ts'

/** Revokes an API key and all its secrets, at once and finally. */
export const revokeApiKey = defineCommand({
  name: 'revoke-api-key',
  entity: workspace,
  input: z.object({ apiKeyId: id }),
  rejects: ['api-key-not-found'],
  decide({ apiKeyId }, { apiKeys }) {
    const apiKey = apiKeys.get(apiKeyId)
    if (!apiKey) return refuseNotFound('api-key')
    if (apiKey.status === 'revoked') return []
    return [{ type: 'ApiKeyRevoked', data: { apiKeyId, name: apiKey.name, hashes: hashesOf(apiKey) } }]
  },
})
