import { z } from 'zod'
import { createPlatformKey } from '../../../commands/access/create-platform-key.ts'
import { apiKeyShape } from '../../../queries/access/api-key-shape.ts'
import { newApiKey } from '../../domain/access/api-key.ts'
import { issueSecret, storedSecret } from '../secret-issuer.ts'
import { defineWrite } from './define-write.ts'
import type { Write } from './write-route.ts'

const create = defineWrite({
  name: 'create-platform-key',
  summary: 'Make an API key that belongs to no workspace',
  method: 'POST',
  mounts: [{ surface: 'operator', path: '/api/operator/keys' }],
  body: newApiKey,
  responses: { 201: z.object({ apiKey: apiKeyShape, key: z.string() }) },
  command: createPlatformKey,
  issue: (context) => issueSecret(context, 'create-platform-key', 'svc_live_'),
  input: ({ body, secret }) => ({ ...body, ...storedSecret(secret) }),
  reveal: ({ secret }) => ({ key: secret }),
  respond({ outcome, context: { principal } }) {
    const { secrets: _secrets, ...created } = outcome.first('PlatformKeyCreated')?.apiKey ?? { secrets: [] }
    return { apiKey: { ...created, createdBy: principal.actor, lastUsedAt: null, revokesAt: null } }
  },
})

/** Writes of API keys without a workspace (Supplement §2, "Operator"). */
export const platformKeyWrites: readonly Write[] = [create]
