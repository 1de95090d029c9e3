import { type KeyCredential, keyCredential } from '../../src/domain/access/access.ts'
import { type ApiKey, apiKeyEvents, hashesOf } from '../../src/domain/access/api-key.ts'
import { platformEvents } from '../../src/domain/access/platform.ts'
import { applyPatch } from '../../src/domain/shared/patch.ts'
import { workspaceIdOf } from '../../src/kernel/entity.ts'
import { defineProjection } from '../../src/kernel/projection.ts'

const { PlatformKeyCreated } = platformEvents

function credentialOf(apiKey: ApiKey, workspaceId: string | null): KeyCredential {
  const { id: keyId, name, scopes, ipAllowlist, rateLimitPerMinute, status, secrets } = apiKey
  return { kind: 'key', keyId, workspaceId, name, scopes, ipAllowlist, rateLimitPerMinute, status, secrets }
}

/**
 * API keys for authentication, by the SHA-256 of each secret: a look-up across workspaces. It has no ended secrets, and no
 * secrets of revoked keys.
 */
export const credentials = defineProjection({
  name: 'credentials',
  version: 1,
  events: { ...apiKeyEvents, PlatformKeyCreated },
  doc: keyCredential,
  indexes: [],
  key({ type, data }) {
    if (type === 'ApiKeyCreated' || type === 'PlatformKeyCreated') return hashesOf(data.apiKey)
    return type === 'ApiKeyRotated' ? [...data.ended, ...hashesOf(data.apiKey)] : data.hashes
  },
  create: {
    ApiKeyCreated: (event) => credentialOf(event.data.apiKey, workspaceIdOf(event)),
    PlatformKeyCreated: ({ data }) => credentialOf(data.apiKey, null),
    ApiKeyRotated: (event, hash) =>
      event.data.ended.includes(hash) ? null : credentialOf(event.data.apiKey, workspaceIdOf(event)),
  },
  update: {
    ApiKeyChanged: (doc, { data }) => applyPatch(doc, data.after),
    ApiKeyRotated: (_doc, event, hash) =>
      event.data.ended.includes(hash) ? null : credentialOf(event.data.apiKey, workspaceIdOf(event)),
    ApiKeyRevoked: () => null,
  },
})
