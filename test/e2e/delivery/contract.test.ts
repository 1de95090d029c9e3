import { expect } from 'vitest'
import type { StreamWriter } from '../../../src/runtime/write/stream-writer.ts'
import type { Json } from '../../support/e2e/api-client.ts'
import { suite } from '../../support/e2e/suite.ts'
import { answerScript, minutesAgo } from '../../support/e2e/tenant-client.ts'
import { createWebhookClient, expectWaits, isDelivered, isTried, WAITS_MS } from '../../support/e2e/webhook-client.ts'
import {
  answerInTurn,
  answerWith,
  envelopeOf,
  isSignedBy,
  type ReceiverAnswer,
  signatureOf,
  startWebhookReceiver,
  type WebhookReceiver,
} from '../../support/e2e/webhook-receiver.ts'
import { createTenantWorkspace } from '../../support/e2e/world.ts'

const REQUEST_ID = /^req_[0-9a-f]+$/
const KEPT_BYTES = 2_048
const GIGABYTE = 1024 ** 3

async function world(writer: StreamWriter) {
  const main = await createTenantWorkspace(writer, { name: 'Main' })
  const desk = await main.target(await main.buyer({ name: 'Dächer & Söhne ☎' }), { name: 'Desk' })
  return { main, desk, line: await main.line({ name: 'Roofing' }, [desk]) }
}

const { it, describe, beforeAll, afterAll, main, the } = suite('requests of deliveries', world)

const webhooks = createWebhookClient(main)

/** Writes up to a gigabyte, as fast as it is read. */
let gigabyteSent = 0
const gigabyte: ReceiverAnswer = (response) => {
  response.writeHead(200, { 'content-type': 'text/plain' })
  const chunk = Buffer.alloc(64 * 1024, 'x')
  const write = () => {
    while (gigabyteSent < GIGABYTE && !response.destroyed) {
      gigabyteSent += chunk.length
      if (!response.write(chunk)) return void response.once('drain', write)
    }
    response.end()
  }
  write()
}

/** Writes a byte now and then, and never ends. */
const drip: ReceiverAnswer = (response) => {
  response.writeHead(200)
  const timer = setInterval(() => response.write('.'), 50)
  response.on('close', () => clearInterval(timer))
}

let receiver: WebhookReceiver
beforeAll(async () => {
  receiver = await startWebhookReceiver({
    counted: answerInTurn(500, 200),
    retried: answerInTurn(500, 500, 200),
    rotated: answerInTurn(200, 500, 200),
    long: answerWith(200, 'x'.repeat(3 * KEPT_BYTES), { 'x-answer': 'long' }),
    cut: answerWith(200, `${'x'.repeat(KEPT_BYTES - 1)}é`),
    'long refusal': answerWith(400, `{"error":"${'x'.repeat(3 * KEPT_BYTES)}"}`),
    gigabyte,
    drip,
  })
})
afterAll(() => receiver.close())

/** A webhook on the receiver's path of a name; by default it hears `call.completed`. */
const endpoint = (name: string, settings: Json = {}) =>
  webhooks.created({ name, url: receiver.url(name), eventPattern: 'call.completed', ...settings })
const play = async (): Promise<Json> =>
  (await main.playCall({ to: the.line.e164, at: minutesAgo(10), script: { [the.desk]: answerScript(60) } })).call

describe('Envelope', () => {
  it('of an event is { id, event, createdAt, data }, and its id is that of the headers and of the log', async () => {
    const { id } = await endpoint('plain')
    const call = await play()
    const { requestId, createdAt } = await webhooks.entry(id, 'It is delivered', isDelivered)
    const [request] = receiver.got('plain')
    const envelope = request && envelopeOf(request)
    expect(envelope).toEqual({
      id: expect.stringMatching(REQUEST_ID),
      event: 'call.completed',
      createdAt: expect.any(String),
      data: expect.objectContaining({ callId: call.id, buyerName: 'Dächer & Söhne ☎', reason: 'duration' }),
    })
    expect([envelope.id, request?.headers['svc-request-id']]).toEqual([requestId, requestId])
    expect(Date.parse(envelope.createdAt)).toBeGreaterThanOrEqual(Date.parse(createdAt))
    expect(new Date(envelope.createdAt).toISOString()).toBe(envelope.createdAt)
  })

  it('of a test is the same with test: true, about the newest call', async () => {
    const { id, secret } = await endpoint('tested')
    const call = await play()
    await webhooks.entry(id, 'The event is delivered', isDelivered)
    const queued = await webhooks.test(id)
    expect(queued).toMatchObject({
      test: true,
      event: 'call.completed',
      callId: call.id,
      requestId: expect.stringMatching(REQUEST_ID),
    })
    const [, request] = await receiver.until('tested', 2)
    if (!request) return expect.fail('No test has come.')
    const { data, ...envelope } = envelopeOf(request)
    expect(envelope).toEqual({
      ...{ id: queued.requestId, event: 'call.completed', createdAt: expect.any(String), test: true },
    })
    const [event] = receiver.got('tested')
    expect(data).toEqual(event && envelopeOf(event).data)
    expect(isSignedBy(secret, request)).toBe(true)
    expect(request.headers).toMatchObject({ 'svc-event': 'call.completed', 'svc-attempt': '1' })
  })

  it.each(['call.incoming', 'call.failover', 'call.unrouted', 'target.capped', 'wallet.low'])(
    'of a test of %s names the event',
    async (event) => {
      const { id } = await endpoint(`tests ${event}`, { eventPattern: 'call.routed' })
      await webhooks.test(id, event)
      const [request] = await receiver.until(`tests ${event}`, 1)
      expect(request && envelopeOf(request)).toMatchObject({ event, test: true })
      expect(request?.headers['svc-event']).toBe(event)
    },
  )
})

describe('Delivery request', () => {
  it('has the headers of the table, those of the endpoint with macros expanded, and nothing else', async () => {
    const own = {
      'X-Key': 'Token 4f9c',
      'x-call': '{{call.ref}} of {{campaign.name}}',
      'user-agent': 'mine',
      'content-type': 'text/plain',
    }
    const { id } = await endpoint('headers', { headers: own })
    const call = await play()
    const { requestId, attempts } = await webhooks.entry(id, 'It is delivered', isDelivered)
    const [request] = receiver.got('headers')
    const documented = {
      'content-type': 'application/json',
      'user-agent': 'svc-webhooks/1',
      'svc-event': 'call.completed',
      'svc-request-id': requestId,
      'svc-attempt': '1',
      'svc-signature': expect.stringMatching(/^t=\d+,v1=[0-9a-f]{64}$/),
      'x-key': 'Token 4f9c',
      'x-call': `${call.ref} of Roofing`,
    }
    expect(request?.method).toBe('POST')
    expect(request?.headers).toEqual({
      ...documented,
      host: `127.0.0.1:${receiver.port}`,
      connection: expect.any(String),
      'content-length': `${request?.body.length}`,
    })
    expect(attempts[0].requestHeaders).toEqual(documented)
  })

  it('is signed over the raw bytes of its body with the secret of the endpoint, at a recent instant', async () => {
    const { id, secret } = await endpoint('signed')
    const { secret: another } = await endpoint('signed by another')
    await play()
    await webhooks.entry(id, 'It is delivered', isDelivered)
    const [request] = receiver.got('signed')
    if (!request) return expect.fail('Nothing has come.')
    expect(request.body.length).toBeGreaterThan(request.body.toString('utf8').length)
    expect(isSignedBy(secret, request)).toBe(true)
    expect(isSignedBy(another, request)).toBe(false)
    const rewritten = Buffer.from(JSON.stringify(envelopeOf(request), null, 1))
    expect(isSignedBy(secret, { ...request, body: rewritten })).toBe(false)
    const { t } = signatureOf(request) ?? expect.fail('It has no signature.')
    expect(Math.floor(Date.parse(envelopeOf(request).createdAt) / 1_000)).toBe(t)
    expect(Math.abs(Date.now() / 1_000 - t)).toBeLessThan(300)
  })

  it('of each attempt has its own createdAt and signature, and the same id and data', async () => {
    const { id, secret } = await endpoint('retried')
    await play()
    const { attempts } = await webhooks.entry(id, 'It is delivered', isDelivered)
    const requests = receiver.got('retried')
    expect(requests.map(({ headers }) => headers['svc-attempt'])).toEqual(['1', '2', '3'])
    expectWaits(attempts, WAITS_MS.slice(0, 2))
    const envelopes = requests.map(envelopeOf)
    expect(new Set(envelopes.map((one) => one.id)).size).toBe(1)
    expect(new Set(requests.map(({ headers }) => headers['svc-request-id'])).size).toBe(1)
    for (const { data } of envelopes) expect(data).toEqual(envelopes[0].data)
    expect(new Set(envelopes.map(({ createdAt }) => createdAt)).size).toBe(3)
    expect(new Set(requests.map(({ headers }) => headers['svc-signature'])).size).toBe(3)
    for (const request of requests) expect(isSignedBy(secret, request)).toBe(true)
    expect(attempts.map(({ at }: Json) => at)).toEqual(envelopes.map(({ createdAt }) => createdAt))
  })

  it('is signed with the new secret from its rotation on, retries too', async () => {
    const { id, secret } = await endpoint('rotated')
    await play()
    await webhooks.entry(id, 'It is delivered', isDelivered)
    await play()
    await webhooks.logged(
      id,
      'The second event has failed',
      ({ state, attempts }) => state === 'queued' && attempts.length === 1,
    )
    const answer = await main.console(`/api/tracking/webhooks/${id}/secret`, { method: 'POST' })
    expect(answer.status, answer.text).toBe(200)
    const [first, , retry] = await receiver.until('rotated', 3)
    if (!first || !retry) return expect.fail('Not all have come.')
    expect([isSignedBy(secret, first), isSignedBy(secret, retry)]).toEqual([true, false])
    expect(isSignedBy(answer.body.signingSecret, retry)).toBe(true)
  })
})

describe('Delivery log entry', () => {
  it('has each attempt with its request, response and error', async () => {
    const { id } = await endpoint('counted')
    const call = await play()
    const entry = await webhooks.entry(id, 'It is delivered', isDelivered)
    const attempt = (n: number, status: number, error: string | null) => ({
      ...{ n, status, error, at: expect.any(String), ms: expect.any(Number) },
      requestHeaders: expect.objectContaining({ 'svc-attempt': `${n}` }),
      requestBody: null,
      responseHeaders: expect.objectContaining({ connection: expect.any(String) }),
      responseBody: '',
    })
    expect(entry).toEqual({
      id: expect.any(String),
      requestId: expect.stringMatching(REQUEST_ID),
      ...{ event: 'call.completed', callId: call.id, campaignId: the.line.campaignId, publisherId: null },
      ...{ test: false, state: 'delivered', createdAt: expect.any(String), nextAttemptAt: null },
      attempts: [attempt(1, 500, 'The receiver answered with status 500.'), attempt(2, 200, null)],
    })
  })

  it.each([
    ['long', 200, KEPT_BYTES],
    ['cut', 200, KEPT_BYTES - 1],
    ['long refusal', 400, KEPT_BYTES],
  ])('keeps the first 2,048 bytes of the response body: %s', async (name, status, bytes) => {
    const { id } = await endpoint(name)
    await webhooks.test(id)
    const { attempts } = await webhooks.entry(id, 'It has been tried', isTried(1))
    expect(attempts[0].status).toBe(status)
    expect(Buffer.byteLength(attempts[0].responseBody)).toBe(bytes)
    expect(attempts[0].responseBody).toMatch(/^(\{"error":")?x+$/)
    if (name === 'long') expect(attempts[0].responseHeaders['x-answer']).toBe('long')
    await webhooks.remove(id)
  })

  it('keeps the first 2,048 bytes of a body of a gigabyte, which is not read to its end', async () => {
    const { id } = await endpoint('gigabyte')
    await webhooks.test(id)
    const { state, attempts } = await webhooks.entry(id, 'It has been tried', isTried(1))
    expect([state, attempts[0].status]).toEqual(['delivered', 200])
    expect(attempts[0].responseBody).toBe('x'.repeat(KEPT_BYTES))
    expect(gigabyteSent).toBeLessThan(GIGABYTE / 4)
  })

  it('of a body that never ends keeps what has come, and is delivered', async () => {
    const { id } = await endpoint('drip')
    await webhooks.test(id)
    const { state, attempts } = await webhooks.entry(id, 'It has been tried', isTried(1))
    expect([state, attempts[0].status, attempts[0].error]).toEqual(['delivered', 200, null])
    expect(attempts[0].responseBody).toMatch(/^\.+$/)
  })
})
