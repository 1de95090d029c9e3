import { expect } from 'vitest'
import type { StreamWriter } from '../../../src/runtime/write/stream-writer.ts'
import { type Json, queryString, statusCodeAndFields } from '../../support/e2e/api-client.ts'
import { refusalOf } from '../../support/e2e/ranges.ts'
import { waitUntil } from '../../support/e2e/server.ts'
import { suite } from '../../support/e2e/suite.ts'
import { answerScript } from '../../support/e2e/tenant-client.ts'
import { createWebhookClient } from '../../support/e2e/webhook-client.ts'
import {
  answerWith,
  envelopeOf,
  type ReceiverAnswer,
  startWebhookReceiver,
  type WebhookReceiver,
} from '../../support/e2e/webhook-receiver.ts'
import { createTenantWorkspace } from '../../support/e2e/world.ts'

const PATH = '/api/tracking/webhooks'
const UUID = /^[0-9a-f]{8}-[0-9a-f-]{27}$/
const INSTANT = /^\d{4}-\d\d-\d\dT[\d:]{8}\.\d{3}Z$/
const EVENTS = [
  ...['call.incoming', 'call.routed', 'call.failover', 'call.connected', 'call.completed', 'call.converted'],
  ...['call.unrouted', 'target.capped', 'target.down', 'wallet.low'],
]

async function world(writer: StreamWriter) {
  const main = await createTenantWorkspace(writer, { name: 'Main' })
  const desk = await main.target(await main.buyer({ name: 'Acme' }), { name: 'Desk' })
  const publisherId = await main.publisher({ name: 'North' })
  const line = await main.line({ name: 'Solar' }, [desk], { publisherId })
  const idle = await main.line({ name: 'Idle' }, [desk])
  const quiet = await createTenantWorkspace(writer, { name: 'Quiet' })
  return { main, desk, publisherId, line, idle, quiet }
}

const { it, describe, beforeAll, afterAll, main, the, tenant } = suite('tests and replays', world)
const webhooks = createWebhookClient(main)
const quiet = createWebhookClient(tenant((the) => the.quiet))
const { change, log, replay } = webhooks

/** What the receiver answers to a path, 200 at first; `hold`: nothing, until `release`. */
const modes = new Map<string, number | 'hold'>()
const held = new Map<string, ((status: number) => void)[]>()
const answer: ReceiverAnswer = (response, request, n) => {
  const respond = (status: number) => answerWith(status, 'Received.', { 'x-answer': 'yes' })(response, request, n)
  const mode = modes.get(request.path) ?? 200
  if (mode === 'hold') held.set(request.path, [...(held.get(request.path) ?? []), respond])
  else respond(mode)
}
function release(path: string, status = 200): void {
  modes.set(path, status)
  for (const respond of held.get(path) ?? []) respond(status)
  held.delete(path)
}

let receiver: WebhookReceiver
beforeAll(async () => {
  receiver = await startWebhookReceiver({ at: answer })
})
afterAll(() => receiver.close())

interface Endpoint {
  readonly id: string
  /** The path of its requests. */
  readonly path: string
}
let endpoints = 0
/** Creates an endpoint that hears no event of a call, with a path of its own. */
async function open(settings: Json = {}, mode: number | 'hold' = 200, client = webhooks): Promise<Endpoint> {
  endpoints += 1
  const path = `/at/${endpoints}`
  modes.set(path, mode)
  const { id } = await client.created({
    eventPattern: 'wallet.low',
    url: `${receiver.url('at')}/${endpoints}`,
    ...settings,
  })
  return { id, path }
}
const gotAt = (path: string) => receiver.got('at').filter((request) => request.path === path)
const untilGot = (path: string, count: number) =>
  waitUntil(`${count} requests for ${path}`, async () => gotAt(path).length >= count && gotAt(path))
const post = (path: string, body: Json = {}) => main.console(path, { method: 'POST', body })
const sendTest = (id: string, body: Json = {}) => post(`${PATH}/${id}/test`, body)
const replayFailures = (id: string, body: Json = {}) => post(`${PATH}/${id}/replay-failures`, body)
const entryOf = async (id: string, deliveryId: string) => (await log(id)).find((entry) => entry.id === deliveryId)
/** An entry, once its last attempt has a number. */
const attempted = (id: string, deliveryId: string, n: number): Promise<Json> =>
  waitUntil(`Attempt ${n} is logged`, async () => {
    const entry = await entryOf(id, deliveryId)
    return (entry?.attempts.at(-1)?.n ?? 0) >= n && entry
  })
const replayed = async (deliveryId: string): Promise<Json> => {
  const { status, text, body } = await replay(deliveryId)
  expect(status, text).toBe(202)
  expect(Object.keys(body)).toEqual(['delivery'])
  return body.delivery
}
/** A test whose first attempts failed: a replay of what waits makes it due at once. */
async function failedTimes({ id }: Endpoint, times: number, event?: string): Promise<Json> {
  const { id: deliveryId } = await webhooks.test(id, event)
  for (let n = 1; n < times; n += 1) {
    const { attempts } = await attempted(id, deliveryId, n)
    if (attempts.length === n) await replayed(deliveryId)
  }
  return attempted(id, deliveryId, times)
}
/** A delivery that failed for good. */
async function failed(endpoint: Endpoint, event?: string): Promise<Json> {
  const entry = await failedTimes(endpoint, 4, event)
  expect(entry).toMatchObject({ state: 'failed', nextAttemptAt: null })
  return entry
}
async function delivered({ id }: Endpoint): Promise<Json> {
  const { id: deliveryId } = await webhooks.test(id)
  return attempted(id, deliveryId, 1)
}
const numbersOf = (entry: Json): readonly number[] => entry.attempts.map(({ n }: Json) => n)

describe('POST /api/tracking/webhooks/:id/test', () => {
  it('in a workspace without calls sends the sample of call.completed, marked as a test', async () => {
    const { id, path } = await open({}, 'hold', quiet)
    const entry = await quiet.test(id)
    expect(entry).toEqual({
      id: expect.stringMatching(UUID),
      requestId: expect.stringMatching(/^req_[0-9a-f]{32}$/),
      event: 'call.completed',
      callId: expect.stringMatching(UUID),
      campaignId: expect.stringMatching(UUID),
      publisherId: expect.stringMatching(UUID),
      test: true,
      state: 'queued',
      createdAt: expect.stringMatching(INSTANT),
      nextAttemptAt: expect.stringMatching(INSTANT),
      attempts: [],
    })
    release(path)
    const [request] = await untilGot(path, 1)
    const envelope = envelopeOf(request ?? expect.fail())
    expect(Object.keys(envelope)).toEqual(['id', 'event', 'createdAt', 'data', 'test'])
    expect(envelope).toMatchObject({ id: entry.requestId, event: 'call.completed', test: true })
    const { sample } = (await main.rest('/api/v1/webhooks/events')).body
    expect(envelope.data).toEqual(sample.payload)
    expect(request?.headers).toMatchObject({
      'svc-event': 'call.completed',
      'svc-request-id': entry.requestId,
      'svc-attempt': '1',
    })
  })

  it('tells of the newest call, whatever the endpoint listens to', async () => {
    const narrowed = { campaignId: the.idle.campaignId, publisherId: the.publisherId }
    const { id, path } = await open({ ...narrowed, eventPattern: 'wallet.low' })
    await main.playCall({ to: the.line.e164, from: '+13105550100' })
    const { call } = await main.playCall({ to: the.line.e164, from: '+13105550123' })
    const entry = await webhooks.test(id)
    const about = { callId: call.id, campaignId: the.line.campaignId, publisherId: the.publisherId }
    expect(entry).toMatchObject({ ...about, event: 'call.completed', test: true })
    const [request] = await untilGot(path, 1)
    expect(envelopeOf(request ?? expect.fail())).toMatchObject({
      test: true,
      data: { ...about, ref: call.ref, campaignName: 'Solar', publisherName: 'North', callerNumber: '+13105550123' },
    })
    expect(await attempted(id, entry.id, 1)).toMatchObject({ ...about, state: 'delivered' })
  })

  it.each(EVENTS)('sends %s when that is asked for', async (event) => {
    const { id, path } = await open()
    const entry = await webhooks.test(id, event)
    const [request] = await untilGot(path, 1)
    expect(envelopeOf(request ?? expect.fail())).toMatchObject({ id: entry.requestId, event, test: true })
    expect(await attempted(id, entry.id, 1)).toMatchObject({ event, test: true, state: 'delivered' })
  })

  it('of wallet.low names the workspace and no call', async () => {
    const { id, path } = await open()
    expect(await webhooks.test(id, 'wallet.low')).toMatchObject({ callId: null, campaignId: null, publisherId: null })
    const [request] = await untilGot(path, 1)
    const { data } = envelopeOf(request ?? expect.fail())
    expect(Object.keys(data).toSorted()).toEqual(['agencyId', 'agencyName', 'balanceCents', 'reason'])
    expect(data).toMatchObject({ agencyId: the.main.workspaceId, agencyName: 'Main', reason: 'workspace_unfunded' })
    expect(data.balanceCents).toBeLessThanOrEqual(0)
  })

  it('refuses a paused endpoint', async () => {
    const { id, path } = await open()
    await change(id, { status: 'paused' })
    expect(refusalOf(await sendTest(id))).toMatchObject({ status: 409, code: 'conflict' })
    expect([await log(id), gotAt(path)]).toEqual([[], []])
  })

  it('takes five that wait and no sixth; each that is delivered makes room', async () => {
    const { id, path } = await open({}, 'hold')
    const taken = []
    for (let n = 0; n < 5; n += 1) taken.push(await webhooks.test(id))
    expect(refusalOf(await sendTest(id))).toMatchObject({ status: 409, code: 'conflict' })
    const another = await open()
    expect((await sendTest(another.id)).status).toBe(202)
    release(path)
    for (const entry of taken) await attempted(id, entry.id, 1)
    for (let n = 0; n < 2; n += 1) expect((await sendTest(id)).status).toBe(202)
    const requests = await untilGot(path, 7)
    expect(new Set(requests.map(({ headers }) => headers['svc-request-id'])).size).toBe(7)
  })

  it('of ten sent at once takes five', async () => {
    const { id, path } = await open({}, 'hold')
    const answers = await Promise.all(Array.from({ length: 10 }, () => sendTest(id)))
    const taken = answers.filter(({ status }) => status === 202)
    for (const refused of answers.filter(({ status }) => status !== 202))
      expect(refusalOf(refused)).toMatchObject({ status: 409, code: 'conflict' })
    expect(taken).toHaveLength(5)
    release(path)
    for (const { body } of taken) await attempted(id, body.delivery.id, 1)
    expect(gotAt(path)).toHaveLength(5)
  })

  it('counts one that is retried as one that waits', async () => {
    const endpoint = await open({}, 500)
    const { id } = endpoint
    await failedTimes(endpoint, 3)
    modes.set(endpoint.path, 'hold')
    for (let n = 0; n < 4; n += 1) await webhooks.test(id)
    expect((await sendTest(id)).status).toBe(409)
    release(endpoint.path)
  })

  it('repeated with its Idempotency-Key queues one', async () => {
    const { id, path } = await open()
    const headers = { 'idempotency-key': `test-${id}` }
    const send = () => main.console(`${PATH}/${id}/test`, { method: 'POST', body: {}, headers })
    const [first, second] = [await send(), await send()]
    expect([second.status, second.headers.get('svc-idempotent-replay')]).toEqual([202, 'true'])
    expect(second.body.delivery.id).toBe(first.body.delivery.id)
    await untilGot(path, 1)
    expect(await log(id)).toHaveLength(1)
  })
})

describe('GET /api/tracking/webhooks/:id/deliveries', () => {
  const list = async (id: string, query: Json = {}): Promise<Json> => {
    const { status, text, body } = await main.console(`${PATH}/${id}/deliveries${queryString(query)}`)
    expect(status, text).toBe(200)
    return body
  }

  it('has one entry for an event of a call, with its attempts, what was sent and what came back', async () => {
    const { id, path } = await open({ eventPattern: 'call.completed', headers: { 'x-key': 'of {{call.ref}}' } }, 500)
    const { call } = await main.playCall({ to: the.line.e164, script: { [the.desk]: answerScript(5) } })
    await untilGot(path, 1)
    modes.set(path, 200)
    const [entry] = await webhooks.logged(id, 'The event is delivered', ({ state }) => state === 'delivered')
    const attempt = {
      at: expect.stringMatching(INSTANT),
      ms: expect.any(Number),
      requestHeaders: expect.objectContaining({
        'content-type': 'application/json',
        'user-agent': 'svc-webhooks/1',
        'svc-event': 'call.completed',
        'svc-request-id': entry.requestId,
        'svc-signature': expect.stringMatching(/^t=\d+,v1=[0-9a-f]{64}$/),
        'x-key': `of ${call.ref}`,
      }),
      requestBody: null,
      responseHeaders: expect.objectContaining({ 'x-answer': 'yes' }),
      responseBody: 'Received.',
    }
    expect(entry).toEqual({
      id: expect.stringMatching(UUID),
      requestId: expect.stringMatching(/^req_[0-9a-f]{32}$/),
      event: 'call.completed',
      callId: call.id,
      campaignId: the.line.campaignId,
      publisherId: the.publisherId,
      test: false,
      state: 'delivered',
      createdAt: expect.stringMatching(INSTANT),
      nextAttemptAt: null,
      attempts: [
        { ...attempt, n: 1, status: 500, error: expect.stringMatching(/500/) },
        { ...attempt, n: 2, status: 200, error: null },
      ],
    })
    expect(entry.attempts.map(({ requestHeaders }: Json) => requestHeaders['svc-attempt'])).toEqual(['1', '2'])
    expect((await list(id)).data).toEqual([entry])
  })

  it('keeps the body that a POST pixel sent', async () => {
    const pixel = { kind: 'pixel', method: 'POST', bodyTemplate: '{"event":"{{event.name}}"}' }
    expect((await delivered(await open(pixel))).attempts).toMatchObject([{ requestBody: '{"event":"call.completed"}' }])
  })

  it('logs a request that reaches no server with status 0 and the reason', async () => {
    const gone = await startWebhookReceiver()
    const { id } = await webhooks.created({ url: gone.url('gone'), eventPattern: 'wallet.low' })
    gone.close()
    const { id: deliveryId } = await webhooks.test(id)
    const { attempts } = await attempted(id, deliveryId, 1)
    expect(attempts[0]).toMatchObject({ status: 0, error: expect.stringMatching(/\S/), responseHeaders: null })
    expect(attempts[0].responseBody).toBeNull()
    expect(await webhooks.read(id)).toMatchObject({ stats: { lastStatus: 0, lastOk: false } })
    expect((await webhooks.remove(id)).status).toBe(200)
  })

  describe('of an endpoint with a delivered, a failed and a queued one', () => {
    let id: string
    let all: readonly Json[]
    beforeAll(async () => {
      const endpoint = await open({}, 500)
      id = endpoint.id
      await failed(endpoint, 'call.routed')
      modes.set(endpoint.path, 200)
      await delivered(endpoint)
      modes.set(endpoint.path, 500)
      // Its fourth attempt is 25 seconds away.
      await failedTimes(endpoint, 3, 'wallet.low')
      all = (await log(id)).toReversed()
    })

    it('lists the newest first, by page', async () => {
      expect(all.map(({ event, state }) => [event, state])).toEqual([
        ['wallet.low', 'queued'],
        ['call.completed', 'delivered'],
        ['call.routed', 'failed'],
      ])
      expect(await list(id)).toEqual({ data: all, page: 1, pageSize: 25, total: 3, totalPages: 1, nextCursor: null })
      const second = await list(id, { page: 2, pageSize: 1 })
      const { nextCursor } = second
      expect(second).toEqual({ data: [all[1]], page: 2, pageSize: 1, total: 3, totalPages: 3, nextCursor })
      expect(await list(id, { cursor: nextCursor })).toMatchObject({ data: [all[2]], page: 3, nextCursor: null })
      // Sorted by the position in the log of all workspaces, which it does not show.
      const stored = JSON.parse(Buffer.from(nextCursor, 'base64url').toString())
      expect(stored).toEqual(['deliveries', '', 'desc', 3, all[1].id, expect.any(String)])
      expect(await list(id, { page: 9 })).toMatchObject({ data: [], total: 3 })
      expect((await list(id, { pageSize: 1_000 })).pageSize).toBe(200)
    })

    it('tells when what waits is due', () => {
      const waits = (entry: Json) => entry.nextAttemptAt !== null
      expect(all.map(waits)).toEqual([true, false, false])
      const { nextAttemptAt, attempts } = all[0]
      expect(Date.parse(nextAttemptAt) - Date.parse(attempts.at(-1).at)).toBeGreaterThanOrEqual(25_000)
    })

    it.each([
      ['state=queued', () => ({ state: 'queued' }), ['wallet.low']],
      ['state=delivered', () => ({ state: 'delivered' }), ['call.completed']],
      ['state=failed', () => ({ state: 'failed' }), ['call.routed']],
      ['event', () => ({ event: 'call.routed' }), ['call.routed']],
      ['event and state', () => ({ event: 'call.routed', state: 'delivered' }), []],
      ['from, included', () => ({ from: all[1].createdAt }), ['wallet.low', 'call.completed']],
      ['to, excluded', () => ({ to: all[1].createdAt }), ['call.routed']],
      ['from and to', () => ({ from: all[1].createdAt, to: all[0].createdAt }), ['call.completed']],
      ['an empty window', () => ({ from: all[1].createdAt, to: all[1].createdAt }), []],
    ] as const)('is filtered by %s', async (_what, filter, events) => {
      const { data, total } = await list(id, filter())
      expect([data.map(({ event }: Json) => event), total]).toEqual([events, events.length])
    })
  })

  it.each([
    ['state', { state: 'waiting' }],
    ['event', { event: 'call.gone' }],
    ['event', { event: '*' }],
    ['from', { from: 'yesterday' }],
    ['to', { to: 'tomorrow' }],
    ['from', { from: '2026-02-01', to: '2026-01-01' }],
    ['page', { page: 0 }],
    ['pageSize', { pageSize: 0 }],
  ])('%s: validation_error for %o', async (field, filter) => {
    const { id } = await open()
    const refused = await main.console(`${PATH}/${id}/deliveries${queryString(filter)}`)
    expect(statusCodeAndFields(refused)).toEqual([400, 'validation_error', [field]])
  })
})

describe('POST /api/tracking/webhook-deliveries/:id/replay', () => {
  it('sends a delivered event again under the same request id, as attempt 5 and then 6', async () => {
    const endpoint = await open()
    const { id, path } = endpoint
    const before = await delivered(endpoint)
    for (const n of [5, 6]) {
      const queued = await replayed(before.id)
      expect(queued).toMatchObject({ id: before.id, requestId: before.requestId, state: 'delivered' })
      await attempted(id, before.id, n)
    }
    const requests = await untilGot(path, 3)
    expect(requests.map(({ headers }) => headers['svc-attempt'])).toEqual(['1', '5', '6'])
    expect(requests.map((request) => envelopeOf(request).id)).toEqual(Array(3).fill(before.requestId))
    expect(requests.map((request) => envelopeOf(request).data)).toEqual(
      Array(3).fill(envelopeOf(requests[0] ?? expect.fail()).data),
    )
    expect(await entryOf(id, before.id)).toMatchObject({ state: 'delivered', createdAt: before.createdAt })
  })

  it('revives a failed event: attempt 5 is not retried, and attempt 6 delivers it', async () => {
    const endpoint = await open({}, 500)
    const { id, path } = endpoint
    const entry = await failed(endpoint)
    expect(numbersOf(entry)).toEqual([1, 2, 3, 4])
    modes.set(path, 'hold')
    expect(await replayed(entry.id)).toMatchObject({ state: 'queued', nextAttemptAt: expect.stringMatching(INSTANT) })
    release(path, 500)
    expect(await attempted(id, entry.id, 5)).toMatchObject({ state: 'failed', nextAttemptAt: null })
    modes.set(path, 200)
    await replayed(entry.id)
    const after = await attempted(id, entry.id, 6)
    expect([after.state, numbersOf(after)]).toEqual(['delivered', [1, 2, 3, 4, 5, 6]])
    expect(new Set(gotAt(path).map(({ headers }) => headers['svc-request-id']))).toEqual(new Set([entry.requestId]))
  })

  it('a replay of a delivered event that fails leaves it delivered', async () => {
    const endpoint = await open()
    const before = await delivered(endpoint)
    modes.set(endpoint.path, 500)
    await replayed(before.id)
    const after = await attempted(endpoint.id, before.id, 5)
    expect(after).toMatchObject({
      state: 'delivered',
      nextAttemptAt: null,
      attempts: [{ status: 200 }, { status: 500 }],
    })
  })

  it('makes an attempt that waits due at once, under its own number', async () => {
    const endpoint = await open({}, 500)
    const { id: deliveryId } = await webhooks.test(endpoint.id)
    await attempted(endpoint.id, deliveryId, 2)
    modes.set(endpoint.path, 'hold')
    expect(await replayed(deliveryId)).toMatchObject({ state: 'queued' })
    release(endpoint.path)
    expect(numbersOf(await attempted(endpoint.id, deliveryId, 3))).toEqual([1, 2, 3])
  })

  it('one that waits is returned and not stacked, however many are sent at once', async () => {
    const endpoint = await open()
    const { id, path } = endpoint
    const before = await delivered(endpoint)
    modes.set(path, 'hold')
    const answers = [
      ...(await Promise.all(Array.from({ length: 10 }, () => replay(before.id)))),
      await replay(before.id),
    ]
    for (const { status, text, body } of answers) {
      expect(status, text).toBe(202)
      expect(body.delivery).toMatchObject({ id: before.id, nextAttemptAt: answers[0]?.body.delivery.nextAttemptAt })
    }
    await untilGot(path, 2)
    release(path)
    expect(numbersOf(await attempted(id, before.id, 5))).toEqual([1, 5])
    const next = await delivered(endpoint)
    expect(gotAt(path).map(({ headers }) => headers['svc-attempt'])).toEqual(['1', '5', '1'])
    expect(next.id).not.toBe(before.id)
  })

  it('refuses a paused endpoint', async () => {
    const endpoint = await open()
    const { id: deliveryId } = await delivered(endpoint)
    await change(endpoint.id, { status: 'paused' })
    expect(refusalOf(await replay(deliveryId))).toMatchObject({ status: 409, code: 'conflict' })
    await change(endpoint.id, { status: 'active' })
    await replayed(deliveryId)
    await attempted(endpoint.id, deliveryId, 5)
  })

  it('of a deleted endpoint’s delivery is not found', async () => {
    const endpoint = await open()
    const { id: deliveryId } = await delivered(endpoint)
    await webhooks.remove(endpoint.id)
    expect((await replay(deliveryId)).status).toBe(404)
  })
})

describe('POST /api/tracking/webhooks/:id/replay-failures', () => {
  it('replays each event that never succeeded once, the newest first, and none that later did', async () => {
    const endpoint = await open({}, 500)
    const { id, path } = endpoint
    const oldest = await failed(endpoint)
    const middle = await failed(endpoint)
    const newest = await failed(endpoint)
    modes.set(path, 200)
    await replayed(middle.id)
    await attempted(id, middle.id, 5)
    modes.set(path, 500)
    const one = await replayFailures(id, { limit: 1 })
    expect([one.status, one.body]).toEqual([202, { queued: 1, skipped: 0 }])
    await attempted(id, newest.id, 5)
    expect(numbersOf(await entryOf(id, oldest.id))).toEqual([1, 2, 3, 4])
    modes.set(path, 200)
    expect((await replayFailures(id)).body).toEqual({ queued: 2, skipped: 0 })
    expect(numbersOf(await attempted(id, newest.id, 6))).toEqual([1, 2, 3, 4, 5, 6])
    expect(numbersOf(await attempted(id, oldest.id, 5))).toEqual([1, 2, 3, 4, 5])
    expect((await replayFailures(id)).body).toEqual({ queued: 0, skipped: 0 })
    expect(numbersOf(await entryOf(id, middle.id))).toEqual([1, 2, 3, 4, 5])
    expect((await log(id)).map(({ state }) => state)).toEqual(['delivered', 'delivered', 'delivered'])
  })

  it('sent at once many times, each event is replayed once', async () => {
    const endpoint = await open({}, 500)
    const { id, path } = endpoint
    const entries = [await failed(endpoint), await failed(endpoint)]
    modes.set(path, 'hold')
    const answers = await Promise.all(Array.from({ length: 8 }, () => replayFailures(id)))
    const queued = answers.map(({ body }) => body.queued)
    expect(queued.reduce((sum, count) => sum + count, 0)).toBe(2)
    release(path)
    for (const { id: deliveryId } of entries)
      expect(numbersOf(await attempted(id, deliveryId, 5))).toEqual([1, 2, 3, 4, 5])
  })

  it('does not mark a degraded endpoint healthy: a delivery does', async () => {
    const endpoint = await open({}, 500)
    const { id, path } = endpoint
    const { id: deliveryId } = await failed(endpoint)
    await waitUntil('The endpoint is degraded', async () => (await webhooks.read(id)).status === 'degraded')
    expect((await replayFailures(id)).body.queued).toBe(1)
    await attempted(id, deliveryId, 5)
    expect((await webhooks.read(id)).status).toBe('degraded')
    modes.set(path, 200)
    expect((await replayFailures(id)).body.queued).toBe(1)
    await waitUntil('The endpoint is active', async () => (await webhooks.read(id)).status === 'active')
  })

  it('leaves what waits for its retry to that', async () => {
    const endpoint = await open({}, 500)
    const { id: deliveryId } = await failedTimes(endpoint, 3)
    expect((await replayFailures(endpoint.id)).body.queued).toBe(0)
    expect(await entryOf(endpoint.id, deliveryId)).toMatchObject({ state: 'queued' })
  })

  it.each([1, 200, 500])('takes a limit of %i', async (limit) => {
    const { id } = await open()
    const { status, body } = await replayFailures(id, { limit })
    expect([status, body]).toEqual([202, { queued: 0, skipped: 0 }])
  })

  it.each([0, -1, 501, 1.5, '1', null])('refuses the limit %j', async (limit) => {
    const { id } = await open()
    expect(statusCodeAndFields(await replayFailures(id, { limit }))).toEqual([400, 'validation_error', ['limit']])
  })

  it('refuses a paused endpoint', async () => {
    const { id } = await open()
    await change(id, { status: 'paused' })
    expect(refusalOf(await replayFailures(id))).toMatchObject({ status: 409, code: 'conflict' })
  })
})
