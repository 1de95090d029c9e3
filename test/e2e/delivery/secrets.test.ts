import { expect } from 'vitest'
import type { StreamWriter } from '../../../src/runtime/write/stream-writer.ts'
import { type ApiResponse, type Json, statusAndCode } from '../../support/e2e/api-client.ts'
import { suite } from '../../support/e2e/suite.ts'
import { createWebhookClient } from '../../support/e2e/webhook-client.ts'
import {
  answerWith,
  isSignedBy,
  type ReceivedRequest,
  type ReceiverAnswer,
  startWebhookReceiver,
  type WebhookReceiver,
} from '../../support/e2e/webhook-receiver.ts'
import { createTenantWorkspace } from '../../support/e2e/world.ts'

const PATH = '/api/tracking/webhooks'
const SECRET = /^whsec_[\w-]{43}$/

async function world(writer: StreamWriter) {
  return { main: await createTenantWorkspace(writer, { name: 'Main' }) }
}

const { it, describe, beforeAll, afterAll, main, the } = suite('signing secrets', world)
const webhooks = createWebhookClient(main)
const { created, read, change, test } = webhooks

/** Resolves once the secret has been rotated while a request was under way. */
const rotation = Promise.withResolvers<void>()
const failOnceRotated: ReceiverAnswer = (response, request, n) => {
  if (n > 1) answerWith(200)(response, request, n)
  else void rotation.promise.then(() => answerWith(500)(response, request, n))
}

let receiver: WebhookReceiver
beforeAll(async () => {
  receiver = await startWebhookReceiver({ turning: failOnceRotated })
})
afterAll(() => receiver.close())

const post = (path: string, body: Json = {}, headers: Readonly<Record<string, string>> = {}) =>
  main.console(path, { method: 'POST', body, headers })
const rotate = (id: string, headers?: Readonly<Record<string, string>>) => post(`${PATH}/${id}/secret`, {}, headers)
const rotated = async (id: string): Promise<Json> => {
  const answer = await rotate(id)
  expect(answer.status, answer.text).toBe(200)
  return answer.body
}
/** The one request that a test of an endpoint makes. */
async function tested(id: string, name: string): Promise<ReceivedRequest> {
  const count = receiver.got(name).length
  await test(id)
  const requests = await receiver.until(name, count + 1)
  return requests[count] ?? expect.fail('nothing came')
}
const replays = ({ headers }: ApiResponse) => headers.get('svc-idempotent-replay')

describe('a signing secret', () => {
  it('is shown when its endpoint is created, and signs every POST of it', async () => {
    for (const [name, settings] of [
      ['hook', {}],
      ['pixel', { kind: 'pixel', method: 'POST' }],
      ['template', { kind: 'pixel', method: 'POST', bodyTemplate: '{"ref":"{{call.ref}}","name":"Zoë"}' }],
    ] as const) {
      const { id, secret } = await created({ ...settings, url: receiver.url(name) })
      expect(secret).toMatch(SECRET)
      expect((await read(id)).signed).toBe(true)
      expect(isSignedBy(secret, await tested(id, name)), name).toBe(true)
    }
  })

  it('is one of its own for each endpoint', async () => {
    const secrets = await Promise.all([1, 2, 3].map(() => created({ url: receiver.url('own') })))
    expect(new Set(secrets.map(({ secret }) => secret)).size).toBe(3)
  })

  it('is nowhere read again: reads show its first and last characters', async () => {
    const { id, secret } = await created({ url: receiver.url('read') })
    const { signingSecret, secretHint } = await rotated(id)
    await tested(id, 'read')
    await change(id, { note: 'Seen' })
    const paths = [PATH, `${PATH}/${id}`, `${PATH}/${id}/deliveries`, '/api/tracking/activity?kind=webhook']
    for (const path of paths) {
      const { status, text } = await main.console(path)
      expect(status).toBe(200)
      for (const known of [secret, signingSecret]) expect(text, path).not.toContain(known.slice(6))
    }
    const { secretHint: shown } = await read(id)
    expect(shown).toBe(secretHint)
    const [first, last] = shown.split('…')
    expect([signingSecret.startsWith(first), signingSecret.endsWith(last)]).toEqual([true, true])
    expect(first.length + last.length).toBeLessThanOrEqual(16)
    expect([first.length, last.length]).not.toContain(0)
  })
})

describe('POST /api/tracking/webhooks/:id/secret', () => {
  it('answers a new secret with its hint, and the new one signs at once', async () => {
    const { id, secret } = await created({ url: receiver.url('rotated') })
    const before = await read(id)
    const { signingSecret, secretHint, note, ...more } = await rotated(id)
    expect([more, note]).toEqual([{}, expect.stringMatching(/\S/)])
    expect(signingSecret).toMatch(SECRET)
    expect(signingSecret).not.toBe(secret)
    expect(await read(id)).toEqual({ ...before, secretHint, updatedAt: expect.any(String) })
    const request = await tested(id, 'rotated')
    expect([isSignedBy(signingSecret, request), isSignedBy(secret, request)]).toEqual([true, false])
  })

  it('a retry of what was queued before is signed with the new secret', async () => {
    const { id, secret } = await created({ url: receiver.url('turning') })
    const { requestId } = await test(id)
    await receiver.until('turning', 1)
    const { signingSecret } = await rotated(id)
    rotation.resolve()
    const [first, second] = await receiver.until('turning', 2)
    expect([first, second].map((request) => request?.headers['svc-request-id'])).toEqual([requestId, requestId])
    expect(isSignedBy(secret, first ?? expect.fail())).toBe(true)
    expect(isSignedBy(signingSecret, second ?? expect.fail())).toBe(true)
  })

  it('of rotations at once each that succeeds answers another secret, and the last one signs', async () => {
    const { id } = await created({ url: receiver.url('contended') })
    const answers = await Promise.all(Array.from({ length: 10 }, () => rotate(id)))
    const won = answers.filter(({ status }) => status === 200).map(({ body }) => body.signingSecret)
    expect(won.length).toBeGreaterThan(0)
    expect(new Set(won).size).toBe(won.length)
    for (const answer of answers.filter(({ status }) => status !== 200))
      expect(statusAndCode(answer)).toEqual([409, 'conflict'])
    const request = await tested(id, 'contended')
    expect(won.filter((secret) => isSignedBy(secret, request))).toHaveLength(1)
  })

  it('works while the endpoint is paused, and refuses an outdated If-Match', async () => {
    const { id } = await created({ url: receiver.url('idle') })
    const tag = (await main.console(`${PATH}/${id}`)).headers.get('etag') ?? 'none'
    await change(id, { status: 'paused' })
    expect((await rotate(id, { 'if-match': tag })).status).toBe(412)
    expect((await rotated(id)).signingSecret).toMatch(SECRET)
  })
})

describe('a GET pixel', () => {
  it('has no secret: none is answered, no hint is shown, and its requests are not signed', async () => {
    const answer = await webhooks.create({ kind: 'pixel', url: receiver.url('get') })
    const { webhook, signingSecret, note } = answer.body
    expect([answer.status, signingSecret]).toEqual([201, null])
    expect(note).toMatch(/not signed/)
    expect(await read(webhook.id)).toMatchObject({ signed: false, secretHint: null })
    const { headers, method, body } = await tested(webhook.id, 'get')
    expect([method, body.length, headers['svc-signature']]).toEqual(['GET', 0, undefined])
    expect(statusAndCode(await rotate(webhook.id))).toEqual([409, 'conflict'])
  })

  it('that becomes a POST is signed, with a secret that a rotation shows', async () => {
    const { id } = await created({ kind: 'pixel', url: receiver.url('posted') })
    expect(await change(id, { method: 'POST' })).toMatchObject({
      signed: true,
      secretHint: expect.stringMatching(/^whsec_/),
    })
    const { signingSecret } = await rotated(id)
    expect(isSignedBy(signingSecret, await tested(id, 'posted'))).toBe(true)
    expect(await change(id, { method: 'GET' })).toMatchObject({ signed: false, secretHint: null })
  })
})

describe('with an Idempotency-Key', () => {
  it('a creation that is sent again answers the same endpoint with the same secret', async () => {
    const headers = { 'idempotency-key': `create-${the.main.workspaceId}` }
    const send = (name: string) => post(PATH, { name, url: receiver.url('once'), eventPattern: '*' }, headers)
    const { total } = (await main.console(PATH)).body
    const [first, second] = [await send('Once'), await send('Once')]
    expect([first.status, second.status, replays(first), replays(second)]).toEqual([201, 201, null, 'true'])
    expect(second.body).toEqual(first.body)
    expect(isSignedBy(second.body.signingSecret, await tested(first.body.webhook.id, 'once'))).toBe(true)
    expect(statusAndCode(await send('Twice'))).toEqual([409, 'conflict'])
    expect((await main.console(PATH)).body.total).toBe(total + 1)
  })

  it('creations at once make one endpoint', async () => {
    const headers = { 'idempotency-key': `at-once-${the.main.workspaceId}` }
    const body = { name: 'At once', url: receiver.url('once'), eventPattern: '*' }
    const answers = await Promise.all(Array.from({ length: 10 }, () => post(PATH, body, headers)))
    const made = answers.filter(({ status }) => status === 201)
    expect(made.length).toBeGreaterThan(0)
    expect(new Set(made.map((answer) => answer.body.signingSecret)).size).toBe(1)
    expect((await main.console(`${PATH}?q=At%20once`)).body.total).toBe(1)
  })

  it('a rotation that is sent again answers the same secret and rotates once', async () => {
    const { id } = await created({ url: receiver.url('turn') })
    const headers = { 'idempotency-key': `rotate-${id}` }
    const [first, second] = [await rotate(id, headers), await rotate(id, headers)]
    expect([first.status, second.status, replays(first), replays(second)]).toEqual([200, 200, null, 'true'])
    expect(second.body).toEqual(first.body)
    expect(isSignedBy(second.body.signingSecret, await tested(id, 'turn'))).toBe(true)
    expect((await read(id)).secretHint).toBe(first.body.secretHint)
  })
})
