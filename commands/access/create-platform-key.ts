import { apiKeyOf, issuedApiKey } from '../../src/domain/access/api-key.ts'
import { PLATFORM_ID, platform } from '../../src/domain/access/platform.ts'
import { defineCommand } from '../../src/kernel/command.ts'

/** Adds an API key that belongs to no workspace. */
export const createPlatformKey = defineCommand({
  name: 'create-platform-key',
  entity: platform,
  input: issuedApiKey,
  id: () => PLATFORM_ID,
  decide: (input, _state, context) => [{ type: 'PlatformKeyCreated', data: { apiKey: apiKeyOf(input, context) } }],
})
