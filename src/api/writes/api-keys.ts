import { z } from 'zod'
import { changeApiKey } from '../../../commands/access/change-api-key.ts'
import { createApiKey } from '../../../commands/access/create-api-key.ts'
import { revokeApiKey } from '../../../commands/access/revoke-api-key.ts'
import { rotateApiKey } from '../../../commands/access/rotate-api-key.ts'
import { apiKeyShape } from '../../../queries/access/api-key-shape.ts'
import { getApiKey } from '../../../queries/access/get-api-key.ts'
import { apiKeyChanges, apiKeyRotation, newApiKey } from '../../domain/access/api-key.ts'
import { workspace } from '../../domain/configuration/workspace.ts'
import { isRefusal } from '../../kernel/refusal.ts'
import { id } from '../../kernel/wire.ts'
import { issueSecret, storedSecret } from '../secret-issuer.ts'
import { defineWrite, type Write } from './define-write.ts'
import type { WriteContext } from './write-context.ts'

const path = '/api/tracking/api-keys'
const one = { params: z.object({ id }), record: ({ id }: { readonly id: string }) => id }

const issued = z.object({ apiKey: apiKeyShape, key: z.string() })

/** A new key, of the form that tells a sandbox workspace's from another's. */
async function newKey(writing: WriteContext<unknown, unknown>, purpose: string): Promise<string> {
  const state = await writing.tools.writer.stateOf(workspace, writing.tenant.workspaceId)
  return issueSecret(writing, purpose, state.workspace?.sandbox ? 'svc_test_' : 'svc_live_')
}

const create = defineWrite({
  name: 'create-api-key',
  summary: 'Add an API key',
  method: 'POST',
  mounts: [{ surface: 'console', path }],
  body: newApiKey,
  responses: { 201: issued },
  rejects: createApiKey.rejects,
  async run(writing) {
    const key = await newKey(writing, 'create-api-key')
    const done = await writing.act(createApiKey, { ...writing.body, ...storedSecret(key) })
    if (isRefusal(done)) return done
    const answer = await writing.ask(getApiKey, { id: done.first('ApiKeyCreated')?.apiKey.id ?? '' })
    return isRefusal(answer) ? answer : { status: 201, body: { apiKey: answer.apiKey, key } }
  },
})

const change = defineWrite({
  ...one,
  name: 'change-api-key',
  summary: 'Change an API key',
  method: 'PATCH',
  mounts: [{ surface: 'console', path: `${path}/:id` }],
  body: apiKeyChanges,
  responses: { 200: z.object({ apiKey: apiKeyShape }) },
  rejects: changeApiKey.rejects,
  async run({ params: { id }, body, act, ask }) {
    const done = await act(changeApiKey, { apiKeyId: id, changes: body })
    if (isRefusal(done)) return done
    const answer = await ask(getApiKey, { id })
    return isRefusal(answer) ? answer : { status: 200, body: answer }
  },
})

const rotate = defineWrite({
  ...one,
  name: 'rotate-api-key',
  summary: "Replace an API key's secret",
  method: 'POST',
  mounts: [{ surface: 'console', path: `${path}/:id/rotate` }],
  body: apiKeyRotation,
  responses: { 200: issued },
  rejects: rotateApiKey.rejects,
  async run(writing) {
    const { id } = writing.params
    const key = await newKey(writing, `rotate-api-key ${id}`)
    const done = await writing.act(rotateApiKey, { apiKeyId: id, ...writing.body, ...storedSecret(key) })
    if (isRefusal(done)) return done
    const answer = await writing.ask(getApiKey, { id })
    return isRefusal(answer) ? answer : { status: 200, body: { apiKey: answer.apiKey, key } }
  },
})

const revoke = defineWrite({
  ...one,
  name: 'revoke-api-key',
  summary: 'Revoke an API key at once',
  method: 'DELETE',
  mounts: [{ surface: 'console', path: `${path}/:id` }],
  responses: { 200: z.object({ deleted: id }) },
  rejects: revokeApiKey.rejects,
  async run({ params: { id }, act }) {
    const done = await act(revokeApiKey, { apiKeyId: id })
    return isRefusal(done) ? done : { status: 200, body: { deleted: id } }
  },
})

/** Writes of API keys (Supplement §2). */
export const apiKeyWrites: readonly Write[] = [create, change, rotate, revoke]
