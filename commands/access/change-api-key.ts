import { z } from 'zod'
import { type ApiKeySettings, apiKeyChanges, hashesOf, withUniqueScopes } from '../../src/domain/access/api-key.ts'
import { workspace } from '../../src/domain/configuration/workspace.ts'
import { diff } from '../../src/domain/shared/patch.ts'
import { refuseEmptyChange, refuseNotFound, refuseRevoked } from '../../src/domain/shared/refusals.ts'
import { defineCommand } from '../../src/kernel/command.ts'
import { id } from '../../src/kernel/wire.ts'

/** Changes the settings of an API key, from the next request on. */
export const changeApiKey = defineCommand({
  name: 'change-api-key',
  entity: workspace,
  input: z.object({ apiKeyId: id, changes: apiKeyChanges }),
  rejects: ['bad-request', 'api-key-not-found', 'conflict'],
  decide({ apiKeyId, changes }, { apiKeys }) {
    const apiKey = apiKeys.get(apiKeyId)
    if (!apiKey) return refuseNotFound('api-key')
    if (Object.keys(changes).length === 0) return refuseEmptyChange()
    if (apiKey.status === 'revoked') return refuseRevoked('API key')
    const difference = diff<ApiKeySettings>(apiKey, withUniqueScopes(changes))
    if (!difference) return []
    return [{ type: 'ApiKeyChanged', data: { apiKeyId, name: apiKey.name, hashes: hashesOf(apiKey), ...difference } }]
  },
})
