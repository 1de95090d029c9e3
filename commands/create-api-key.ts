import { z } from 'zod'
import { apiKeySettings, apiKeysHeld } from '../src/domain/api-key.ts'
import { overCeiling } from '../src/domain/ceilings.ts'
import { sha256 } from '../src/domain/fields.ts'
import { KEY_RATE_PER_MINUTE, SECRET_PREFIX } from '../src/domain/limits.ts'
import { missing } from '../src/domain/refusals.ts'
import { workspace } from '../src/domain/workspace.ts'
import { defineCommand } from '../src/kernel/command.ts'

/** Adds an API key. The key itself is made outside: only its first characters and its hash come in. */
export const createApiKey = defineCommand({
  name: 'create-api-key',
  entity: workspace,
  input: apiKeySettings.extend({
    ipAllowlist: apiKeySettings.shape.ipAllowlist.default([]),
    rateLimitPerMinute: apiKeySettings.shape.rateLimitPerMinute.default(KEY_RATE_PER_MINUTE),
    prefix: z.string().min(1).max(SECRET_PREFIX),
    hash: sha256,
  }),
  rejects: ['workspace-not-found', 'plan-upgrade-required'],
  decide({ hash, ...sent }, state, { now, newId, actor }) {
    const { workspace } = state
    if (!workspace) return missing('workspace')
    const over = overCeiling(workspace.planId, 'maxApiKeys', apiKeysHeld(state))
    if (over) return over
    const apiKey = {
      ...sent,
      id: newId(),
      status: 'active',
      secrets: [{ hash, expiresAt: null }],
      createdBy: actor.id,
      createdAt: now,
    } as const
    return [{ type: 'ApiKeyCreated', data: { apiKey } }]
  },
})
