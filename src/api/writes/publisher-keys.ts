import { z } from 'zod'
import { changeRoutingKey } from '../../../commands/supply/change-routing-key.ts'
import { rotateCompatToken } from '../../../commands/supply/rotate-compat-token.ts'
import { rotateRoutingKey } from '../../../commands/supply/rotate-routing-key.ts'
import { rotateSigningSecret } from '../../../commands/supply/rotate-signing-secret.ts'
import { getRoutingKey } from '../../../queries/supply/get-routing-key.ts'
import { compatShape, keyShape } from '../../../queries/supply/routing-key-shape.ts'
import { routingKeyChanges, routingKeyRotation } from '../../domain/supply/routing-key.ts'
import { isRefusal } from '../../kernel/refusal.ts'
import { id } from '../../kernel/wire.ts'
import { issueSecret } from '../secret-issuer.ts'
import { defineWrite, type Write } from './define-write.ts'
import { issueCompatToken, issueRoutingKey } from './routing-secrets.ts'

const path = '/api/publishers/keys/:keyId'
const one = { params: z.object({ keyId: id }), record: ({ keyId }: { readonly keyId: string }) => keyId }

const change = defineWrite({
  ...one,
  name: 'change-routing-key',
  summary: "Change a publisher key's settings",
  method: 'PATCH',
  mounts: [{ surface: 'console', path }],
  body: routingKeyChanges,
  responses: { 200: z.object({ key: keyShape }) },
  rejects: changeRoutingKey.rejects,
  async run({ params, body, act, ask }) {
    const done = await act(changeRoutingKey, { ...params, changes: body })
    if (isRefusal(done)) return done
    const answer = await ask(getRoutingKey, params)
    return isRefusal(answer) ? answer : { status: 200, body: answer }
  },
})

const rotate = defineWrite({
  ...one,
  name: 'rotate-routing-key',
  summary: "Replace a publisher's routing key",
  method: 'POST',
  mounts: [{ surface: 'console', path: `${path}/rotate` }],
  body: routingKeyRotation,
  responses: { 200: z.object({ key: keyShape, routingKey: z.string() }) },
  rejects: rotateRoutingKey.rejects,
  async run(writing) {
    const { params, body, act, ask } = writing
    const known = await ask(getRoutingKey, params)
    if (isRefusal(known)) return known
    const { secret: routingKey, kept } = await issueRoutingKey(writing, known.key, `rotate-routing-key ${params.keyId}`)
    const done = await act(rotateRoutingKey, { ...params, ...body, key: kept })
    if (isRefusal(done)) return done
    const answer = await ask(getRoutingKey, params)
    return isRefusal(answer) ? answer : { status: 200, body: { ...answer, routingKey } }
  },
})

const rotateCompat = defineWrite({
  ...one,
  name: 'rotate-compat-token',
  summary: 'Replace the URL of the single-step ping',
  method: 'POST',
  mounts: [{ surface: 'console', path: `${path}/compat-token/rotate` }],
  responses: { 200: z.object({ compat: compatShape }) },
  rejects: rotateCompatToken.rejects,
  async run(writing) {
    const { params, act, ask } = writing
    const token = await issueCompatToken(writing, `rotate-compat-token ${params.keyId}`)
    const done = await act(rotateCompatToken, { ...params, token })
    if (isRefusal(done)) return done
    const answer = await ask(getRoutingKey, params)
    return isRefusal(answer) ? answer : { status: 200, body: { compat: answer.key.compat } }
  },
})

const rotateSigning = defineWrite({
  ...one,
  name: 'rotate-signing-secret',
  summary: "Replace a publisher key's signing secret",
  method: 'POST',
  mounts: [{ surface: 'console', path: `${path}/signing-secret/rotate` }],
  responses: { 200: z.object({ signingSecret: z.string(), note: z.string() }) },
  rejects: rotateSigningSecret.rejects,
  async run(writing) {
    const { params, act, tools } = writing
    const signingSecret = await issueSecret(writing, `rotate-signing-secret ${params.keyId}`, 'rks_')
    const done = await act(rotateSigningSecret, { ...params, sealed: tools.secrets.seal(signingSecret) })
    if (isRefusal(done)) return done
    const note = 'Keep this secret now: it is not shown again. The one before has stopped working.'
    return { status: 200, body: { signingSecret, note } }
  },
})

/** Writes of publishers' routing keys (Document 1, "Publishers and lanes"; Supplement §4). */
export const publisherKeyWrites: readonly Write[] = [change, rotate, rotateCompat, rotateSigning]
