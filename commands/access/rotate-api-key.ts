import { apiKeyRotation, hashesOf, keptSecret } from '../../src/domain/access/api-key.ts'
import { workspace } from '../../src/domain/configuration/workspace.ts'
import { refuseNotFound, refuseRevoked } from '../../src/domain/shared/refusals.ts'
import { defineCommand } from '../../src/kernel/command.ts'
import { id } from '../../src/kernel/wire.ts'

const MINUTE_MS = 60_000

/**
 * Gives an API key a new secret, made outside. The secret in use goes on working until the grace ends, at once with none;
 * one that was in its grace already stops now.
 */
export const rotateApiKey = defineCommand({
  name: 'rotate-api-key',
  entity: workspace,
  input: apiKeyRotation.extend(keptSecret.shape).extend({ apiKeyId: id }),
  rejects: ['api-key-not-found', 'conflict'],
  decide({ apiKeyId, graceMinutes, prefix, hash }, { apiKeys }, { now }) {
    const apiKey = apiKeys.get(apiKeyId)
    if (!apiKey) return refuseNotFound('api-key')
    if (apiKey.status === 'revoked') return refuseRevoked('API key')
    const expiresAt = new Date(Date.parse(now) + graceMinutes * MINUTE_MS).toISOString()
    const inUse = apiKey.secrets.filter((secret) => secret.expiresAt === null)
    const outgoing = graceMinutes === 0 ? [] : inUse.map((secret) => ({ ...secret, expiresAt }))
    const secrets = [...outgoing, { hash, expiresAt: null }]
    const before = { prefix: apiKey.prefix }
    const ended = hashesOf(apiKey).filter((old) => secrets.every((kept) => kept.hash !== old))
    return [{ type: 'ApiKeyRotated', data: { apiKey: { ...apiKey, prefix, secrets }, before, ended, graceMinutes } }]
  },
})
