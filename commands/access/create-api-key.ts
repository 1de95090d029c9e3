import { apiKeyCount, apiKeyOf, issuedApiKey } from '../../src/domain/access/api-key.ts'
import { planLimitExceeded } from '../../src/domain/access/plan-limits.ts'
import { workspace } from '../../src/domain/configuration/workspace.ts'
import { refuseNotFound } from '../../src/domain/shared/refusals.ts'
import { defineCommand } from '../../src/kernel/command.ts'

/** Adds an API key. The caller generates the key; only its first characters and its hash arrive here. */
export const createApiKey = defineCommand({
  name: 'create-api-key',
  entity: workspace,
  input: issuedApiKey,
  rejects: ['workspace-not-found', 'plan-upgrade-required'],
  decide(input, state, context) {
    const { workspace } = state
    if (!workspace) return refuseNotFound('workspace')
    const over = planLimitExceeded(workspace.planId, 'maxApiKeys', apiKeyCount(state))
    if (over) return over
    return [{ type: 'ApiKeyCreated', data: { apiKey: apiKeyOf(input, context) } }]
  },
})
