import { z } from 'zod'
import { changeApiKey } from '../../../commands/access/change-api-key.ts'
import { createApiKey } from '../../../commands/access/create-api-key.ts'
import { revokeApiKey } from '../../../commands/access/revoke-api-key.ts'
import { rotateApiKey } from '../../../commands/access/rotate-api-key.ts'
import { apiKeyShape } from '../../../queries/access/api-key-shape.ts'
import { getApiKey } from '../../../queries/access/get-api-key.ts'
import { apiKeyChanges, apiKeyRotation, newApiKey } from '../../domain/access/api-key.ts'
import { workspace } from '../../domain/configuration/workspace.ts'
import { id } from '../../kernel/wire.ts'
import { issueSecret, storedSecret } from '../secret-issuer.ts'
import { defineWrite } from './define-write.ts'
import type { WriteContext } from './write-context.ts'
import type { Write } from './write-route.ts'

const path = '/api/tracking/api-keys'
const byId = { params: z.object({ id }), record: ({ id }: { readonly id: string }) => id }

const issued = z.object({ apiKey: apiKeyShape, key: z.string() })

/** Issues an API key: `svc_test_…` in a sandbox workspace, `svc_live_…` in any other. */
async function issueApiKey(context: WriteContext, purpose: string): Promise<string> {
  const state = await context.tools.writer.stateOf(workspace, context.tenant.workspaceId)
  return issueSecret(context, purpose, state.workspace?.sandbox ? 'svc_test_' : 'svc_live_')
}

const create = defineWrite({
  name: 'create-api-key',
  summary: 'Add an API key',
  method: 'POST',
  mounts: [{ surface: 'console', path }],
  body: newApiKey,
  responses: { 201: issued },
  command: createApiKey,
  issue: (context) => issueApiKey(context, 'create-api-key'),
  input: ({ body, secret }) => ({ ...body, ...storedSecret(secret) }),
  answer: { query: getApiKey, params: ({ outcome }) => ({ id: outcome.first('ApiKeyCreated')?.apiKey.id ?? '' }) },
  reveal: ({ secret }) => ({ key: secret }),
})

const change = defineWrite({
  ...byId,
  name: 'change-api-key',
  summary: 'Change an API key',
  method: 'PATCH',
  mounts: [{ surface: 'console', path: `${path}/:id` }],
  body: apiKeyChanges,
  responses: { 200: z.object({ apiKey: apiKeyShape }) },
  command: changeApiKey,
  input: ({ params, body }) => ({ apiKeyId: params.id, changes: body }),
  answer: { query: getApiKey, params: ({ params }) => params },
})

const rotate = defineWrite({
  ...byId,
  name: 'rotate-api-key',
  summary: "Replace an API key's secret",
  method: 'POST',
  mounts: [{ surface: 'console', path: `${path}/:id/rotate` }],
  body: apiKeyRotation,
  responses: { 200: issued },
  command: rotateApiKey,
  issue: (context) => issueApiKey(context, `rotate-api-key ${context.params.id}`),
  input: ({ params, body, secret }) => ({ apiKeyId: params.id, ...body, ...storedSecret(secret) }),
  answer: { query: getApiKey, params: ({ params }) => params },
  reveal: ({ secret }) => ({ key: secret }),
})

const revoke = defineWrite({
  ...byId,
  name: 'revoke-api-key',
  summary: 'Revoke an API key at once',
  method: 'DELETE',
  mounts: [{ surface: 'console', path: `${path}/:id` }],
  responses: { 200: z.object({ deleted: id }) },
  command: revokeApiKey,
  input: ({ params }) => ({ apiKeyId: params.id }),
  respond: ({ params }) => ({ deleted: params.id }),
})

/** Writes of API keys (Supplement §2). */
export const apiKeyWrites: readonly Write[] = [create, change, rotate, revoke]
