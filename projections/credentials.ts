import { keyCredential } from '../src/domain/access.ts'
import { apiKeyEvents } from '../src/domain/api-key.ts'
import { workspaceIdOf } from '../src/domain/workspace.ts'
import { defineProjection } from '../src/kernel/projection.ts'

/** API keys as they are judged, by the SHA-256 of each secret: a look-up across workspaces. */
export const credentials = defineProjection({
  name: 'credentials',
  version: 1,
  events: apiKeyEvents,
  doc: keyCredential,
  indexes: [],
  key: ({ data: { apiKey } }) => apiKey.secrets.map(({ hash }) => hash),
  starts: {
    ApiKeyCreated: (event) => {
      const { id: keyId, name, scopes, ipAllowlist, rateLimitPerMinute, status, secrets } = event.data.apiKey
      const workspaceId = workspaceIdOf(event)
      return {
        kind: 'key' as const,
        keyId,
        workspaceId,
        name,
        scopes,
        ipAllowlist,
        rateLimitPerMinute,
        status,
        secrets,
      }
    },
  },
})
