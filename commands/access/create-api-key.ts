import { apiKeyOf, apiKeysHeld, issuedApiKey } from '../../src/domain/access/api-key.ts'
import { overCeiling } from '../../src/domain/access/ceilings.ts'
import { workspace } from '../../src/domain/configuration/workspace.ts'
import { missing } from '../../src/domain/shared/refusals.ts'
import { defineCommand } from '../../src/kernel/command.ts'

/** Adds an API key. The key itself is made outside: only its first characters and its hash come in. */
export const createApiKey = defineCommand({
  name: 'create-api-key',
  entity: workspace,
  input: issuedApiKey,
  rejects: ['workspace-not-found', 'plan-upgrade-required'],
  decide(sent, state, context) {
    const { workspace } = state
    if (!workspace) return missing('workspace')
    const over = overCeiling(workspace.planId, 'maxApiKeys', apiKeysHeld(state))
    if (over) return over
    return [{ type: 'ApiKeyCreated', data: { apiKey: apiKeyOf(sent, context) } }]
  },
})
