import { z } from 'zod'
import { changeRoutingKey } from '../../../commands/supply/change-routing-key.ts'
import { rotateCompatToken } from '../../../commands/supply/rotate-compat-token.ts'
import { rotateRoutingKey } from '../../../commands/supply/rotate-routing-key.ts'
import { rotateSigningSecret } from '../../../commands/supply/rotate-signing-secret.ts'
import { getRoutingKey } from '../../../queries/supply/get-routing-key.ts'
import { compatShape, keyShape } from '../../../queries/supply/routing-key-shape.ts'
import { workspace } from '../../domain/configuration/workspace.ts'
import { refuseNotFound } from '../../domain/shared/refusals.ts'
import { routingKeyChanges, routingKeyRotation } from '../../domain/supply/routing-key.ts'
import { isRefusal } from '../../kernel/refusal.ts'
import { id } from '../../kernel/wire.ts'
import { signingSecretPlace } from '../../ports/sealed-places.ts'
import { issueSecret } from '../secret-issuer.ts'
import { defineWrite } from './define-write.ts'
import { issueCompatToken, issueRoutingKey, storedCompatToken, storedRoutingKey } from './routing-secrets.ts'
import type { Write } from './write-route.ts'

const path = '/api/publishers/keys/:keyId'
const byId = { params: z.object({ keyId: id }), record: ({ keyId }: { readonly keyId: string }) => keyId }

const change = defineWrite({
  ...byId,
  name: 'change-routing-key',
  summary: "Change a publisher key's settings",
  method: 'PATCH',
  mounts: [{ surface: 'console', path }],
  body: routingKeyChanges,
  responses: { 200: z.object({ key: keyShape }) },
  command: changeRoutingKey,
  input: ({ params, body }) => ({ ...params, changes: body }),
  answer: { query: getRoutingKey, params: ({ params }) => params },
})

const rotate = defineWrite({
  ...byId,
  name: 'rotate-routing-key',
  summary: "Replace a publisher's routing key",
  method: 'POST',
  mounts: [{ surface: 'console', path: `${path}/rotate` }],
  body: routingKeyRotation,
  responses: { 200: z.object({ key: keyShape, routingKey: z.string() }) },
  command: rotateRoutingKey,
  async issue(context) {
    const { params } = context
    const present = await context.query(getRoutingKey, params)
    return isRefusal(present) ? present : issueRoutingKey(context, present.key, `rotate-routing-key ${params.keyId}`)
  },
  input: ({ params, body, secret }) => ({ ...params, ...body, key: storedRoutingKey(secret) }),
  answer: { query: getRoutingKey, params: ({ params }) => params },
  reveal: ({ secret }) => ({ routingKey: secret }),
})

const rotateCompat = defineWrite({
  ...byId,
  name: 'rotate-compat-token',
  summary: 'Replace the URL of the single-step ping',
  method: 'POST',
  mounts: [{ surface: 'console', path: `${path}/compat-token/rotate` }],
  responses: { 200: z.object({ compat: compatShape }) },
  command: rotateCompatToken,
  issue: (context) => issueCompatToken(context, `rotate-compat-token ${context.params.keyId}`),
  async input({ params, secret, context: { tools, tenant } }) {
    const { workspaceId } = tenant
    const { routingKeys } = await tools.writer.stateOf(workspace, workspaceId)
    const key = routingKeys.get(params.keyId)
    if (!key) return refuseNotFound('routing-key')
    return { ...params, token: storedCompatToken(tools.secrets, secret, { ...key, workspaceId }) }
  },
  answer: { query: getRoutingKey, params: ({ params }) => params },
  respond: ({ answer: { key } }) => ({ compat: key.compat }),
})

const rotateSigning = defineWrite({
  ...byId,
  name: 'rotate-signing-secret',
  summary: "Replace a publisher key's signing secret",
  method: 'POST',
  mounts: [{ surface: 'console', path: `${path}/signing-secret/rotate` }],
  responses: { 200: z.object({ signingSecret: z.string(), note: z.string() }) },
  command: rotateSigningSecret,
  issue: (context) => issueSecret(context, `rotate-signing-secret ${context.params.keyId}`, 'rks_'),
  input: ({ params, secret, context: { tools, tenant } }) => ({
    ...params,
    sealed: tools.secrets.seal(secret, signingSecretPlace(tenant.workspaceId, params.keyId)),
  }),
  reveal: ({ secret }) => ({
    signingSecret: secret,
    note: 'Keep this secret now: it is not shown again. The one before has stopped working.',
  }),
})

/** Writes of publishers' routing keys (Document 1, "Publishers and lanes"; Supplement §4). */
export const publisherKeyWrites: readonly Write[] = [change, rotate, rotateCompat, rotateSigning]
