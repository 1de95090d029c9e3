import { expect } from 'vitest'
import type { StreamWriter } from '../../../src/runtime/write/stream-writer.ts'
import { type Json, queryString, statusCodeAndFields, UNKNOWN_ID } from '../../support/e2e/api-client.ts'
import { documentLine } from '../../support/e2e/document-1.ts'
import { expectLengths, refusalOf } from '../../support/e2e/ranges.ts'
import { waitUntil } from '../../support/e2e/server.ts'
import { suite } from '../../support/e2e/suite.ts'
import type { TenantClient } from '../../support/e2e/tenant-client.ts'
import { createWebhookClient } from '../../support/e2e/webhook-client.ts'
import { answerWith, startWebhookReceiver, type WebhookReceiver } from '../../support/e2e/webhook-receiver.ts'
import { createTenantWorkspace } from '../../support/e2e/world.ts'

const PATH = '/api/tracking/webhooks'
/** A URL at which nobody listens. Nothing is sent to it here. */
const URL = 'http://127.0.0.1:9/in'
/** The endpoints that the plan `growth` has. */
const MAX_WEBHOOKS = 20

const NO_STATS = {
  window: '24h',
  attempts: 0,
  delivered: 0,
  failed: 0,
  p50: null,
  p95: null,
  lastStatus: null,
  lastOk: null,
  lastAt: null,
}
const AS_CREATED = {
  name: 'Endpoint',
  kind: 'webhook',
  url: URL,
  method: 'POST',
  eventPattern: ['*'],
  status: 'active',
  campaignId: null,
  campaignName: null,
  publisherId: null,
  publisherName: null,
  headers: {},
  bodyTemplate: null,
  note: null,
  signed: true,
  deliveredCount: 0,
  failedCount: 0,
  stats: NO_STATS,
}
const headers = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, n) => [`x-${n}`, 'v']))
/** A JSON text of a length. */
const jsonText = (length: number) => JSON.stringify('x'.repeat(length - 2))

async function world(writer: StreamWriter) {
  const main = await createTenantWorkspace(writer, { name: 'Main' })
  const target = await main.target(await main.buyer({ name: 'Acme' }))
  const north = await main.publisher({ name: 'North' })
  const south = await main.publisher({ name: 'South' })
  const solar = await main.line({ name: 'Solar' }, [target], { publisherId: north })
  const other = await createTenantWorkspace(writer, { name: 'Other' })
  const grown = await createTenantWorkspace(writer, { name: 'Grown', planId: 'growth' })
  const listed = await createTenantWorkspace(writer, { name: 'Listed' })
  const idle = await listed.target(await listed.buyer({ name: 'Acme' }))
  const east = await listed.publisher({ name: 'East' })
  const roofing = await listed.line({ name: 'Roofing' }, [idle], { publisherId: east })
  return { main, north, south, campaignId: solar.campaignId, other, grown, listed, east, roofing }
}

const { it, describe, beforeAll, afterAll, main, the, tenant } = suite('webhooks and pixels', world)
const other = tenant((the) => the.other)
const grown = tenant((the) => the.grown)
const listed = tenant((the) => the.listed)
const webhooks = createWebhookClient(main)
const { change, read, remove } = webhooks

let receiver: WebhookReceiver
beforeAll(async () => {
  receiver = await startWebhookReceiver({ failing: answerWith(500), moody: answerWith(500) })
})
afterAll(() => receiver.close())

const create = (more: Json = {}) => webhooks.create({ url: URL, ...more })
const created = async (more: Json = {}): Promise<Json> => {
  const answer = await create(more)
  expect(answer.status, answer.text).toBe(201)
  return answer.body.webhook
}
const pixel = (more: Json = {}) => created({ kind: 'pixel', ...more })
const untilStatus = (client: TenantClient, id: string, status: string) =>
  waitUntil(`The endpoint is ${status}`, async () => (await createWebhookClient(client).read(id)).status === status)
const patch = (id: string, body: Json, sent: Readonly<Record<string, string>> = {}) =>
  main.console(`${PATH}/${id}`, { method: 'PATCH', body, headers: sent })

describe('POST /api/tracking/webhooks', () => {
  it('creates an active webhook with every default, and answers its secret and notes', async () => {
    const { status, body } = await create()
    expect(status).toBe(201)
    expect(Object.keys(body).toSorted()).toEqual(['note', 'notes', 'signingSecret', 'webhook'])
    const { id, secretHint, createdBy, createdAt, updatedAt, ...settings } = body.webhook
    expect(settings).toEqual(AS_CREATED)
    expect(updatedAt).toBe(createdAt)
    expect([id, createdBy]).toEqual([
      expect.stringMatching(/^[0-9a-f-]{36}$/),
      expect.stringMatching(/^[0-9a-f-]{36}$/),
    ])
    expect(body.signingSecret).toMatch(/^whsec_[\w-]{43}$/)
    expect(secretHint).toMatch(/^whsec_.*\S$/)
    expect([body.note, body.notes]).toEqual([expect.stringMatching(/\S/), []])
    expect(await read(id)).toEqual(body.webhook)
  })

  it('a pixel is a GET unless POST is named; a webhook may name POST', async () => {
    expect(await pixel()).toMatchObject({ kind: 'pixel', method: 'GET', signed: false, secretHint: null })
    expect(await pixel({ method: 'GET' })).toMatchObject({ method: 'GET', signed: false })
    expect(await pixel({ method: 'POST' })).toMatchObject({ method: 'POST', signed: true })
    expect(await created({ method: 'POST' })).toMatchObject({ kind: 'webhook', method: 'POST' })
  })

  it('keeps every setting that is sent', async () => {
    const settings = {
      name: 'Conversions',
      kind: 'pixel',
      method: 'POST',
      url: `${URL}?ref={{call.ref}}&source={{tag.utm_source}}`,
      eventPattern: ['call.completed', 'call.converted'],
      campaignId: the.campaignId,
      publisherId: the.north,
      headers: { 'X-Key': 'secret {{call.id}}', 'content-type': 'text/plain' },
      bodyTemplate: 'ref={{call.ref}} {{{literal}}',
      note: 'For the partner.',
    }
    const webhook = await created(settings)
    expect(webhook).toMatchObject({ ...settings, campaignName: 'Solar', publisherName: 'North' })
    expect(await read(webhook.id)).toEqual(webhook)
  })

  it.each([
    ['call.completed', ['call.completed']],
    ['*', ['*']],
    [['*'], ['*']],
    [
      ['call.routed', 'wallet.low'],
      ['call.routed', 'wallet.low'],
    ],
    [['call.routed', 'call.routed'], ['call.routed']],
  ])('takes %j as its pattern of events', async (eventPattern, kept) => {
    expect((await created({ eventPattern })).eventPattern).toEqual(kept)
  })

  it('takes null for what is not set', async () => {
    const nothing = { campaignId: null, publisherId: null, headers: null, bodyTemplate: null, note: null }
    expect(await created(nothing)).toMatchObject({ ...nothing, headers: {} })
    expect((await created({ headers: { 'x-kept': 'v', 'x-gone': null } })).headers).toEqual({ 'x-kept': 'v' })
  })

  it('says that caller numbers in the URL of a pixel are sent hashed', async () => {
    const { body } = await create({ kind: 'pixel', url: `${URL}?c={{caller.e164}}` })
    expect(body.notes).toEqual([expect.stringMatching(/hash/)])
    expect((await create({ kind: 'pixel', url: `${URL}?c={{call.ref}}` })).body.notes).toEqual([])
  })

  it('sends nothing', async () => {
    const webhook = await created({ url: receiver.url('quiet') })
    const tested = await created({ url: receiver.url('loud') })
    await webhooks.test(tested.id)
    await receiver.until('loud', 1)
    expect(receiver.got('quiet')).toEqual([])
    expect(await webhooks.log(webhook.id)).toEqual([])
    expect(await read(webhook.id)).toMatchObject({ deliveredCount: 0, failedCount: 0, stats: NO_STATS })
  })
})

/** Settings at their largest, each with one that is too large, and the field that is named. */
const LIMITS: readonly (readonly [what: string, field: string, largest: () => Json, tooLarge: () => Json])[] = [
  ['20 names of events', 'eventPattern', () => named(20), () => named(21)],
  ['a URL of 2,000 characters', 'url', () => long(2_000), () => long(2_001)],
  ['20 headers', 'headers', () => ({ headers: headers(20) }), () => ({ headers: headers(21) })],
  [
    'header values of 1,000 characters',
    'headers.x-a',
    () => header('v'.repeat(1_000)),
    () => header('v'.repeat(1_001)),
  ],
  ['body templates of 10,000 characters', 'bodyTemplate', () => template(10_000), () => template(10_001)],
]
const named = (count: number) => ({ eventPattern: Array.from({ length: count }, () => 'call.completed') })
const long = (length: number) => ({ url: URL.padEnd(length, 'x') })
const header = (value: string) => ({ headers: { 'x-a': value } })
const template = (length: number) => ({ bodyTemplate: jsonText(length) })

describe(documentLine('limit: Webhook delivery'), () => {
  it.each(LIMITS)(
    'takes %s, and no more, when it is created and when it is changed',
    async (_what, field, largest, more) => {
      const base = { kind: 'pixel', method: 'POST' }
      const webhook = await created({ ...base, ...largest() })
      expect(statusCodeAndFields(await create({ ...base, ...more() }))).toEqual([400, 'validation_error', [field]])
      expect((await patch(webhook.id, largest())).status).toBe(200)
      expect(statusCodeAndFields(await patch(webhook.id, more()))).toEqual([400, 'validation_error', [field]])
    },
  )

  it('takes one name of an event at least', async () => {
    const { id } = await created(named(1))
    for (const answer of [await create(named(0)), await patch(id, named(0))])
      expect(statusCodeAndFields(answer)).toEqual([400, 'validation_error', ['eventPattern']])
  })

  it('takes names of 120 characters and notes of 500, and no longer ones', async () => {
    const lengths = [
      ['name', 120],
      ['note', 500],
    ] as const
    await expectLengths(lengths, create)
    const { id } = await created()
    await expectLengths(lengths, (body) => patch(id, body))
  })
})

describe('GET /api/tracking/webhooks', () => {
  const path = (filter: Json) => `${PATH}${queryString(filter)}`
  const namesOf = async (filter: Json) => (await listed.console(path(filter))).body.data.map(({ name }: Json) => name)

  beforeAll(async () => {
    const { created } = createWebhookClient(listed)
    const { campaignId } = the.roofing
    await created({ name: 'One', url: `${URL}/alpha`, campaignId })
    await created({ name: 'Two', url: `${URL}/beta`, kind: 'pixel', publisherId: the.east })
    const { id } = await created({ name: 'Three', url: `${URL}/gamma`, note: 'Call 50% of (them)', campaignId })
    await createWebhookClient(listed).change(id, { status: 'paused' })
    await created({ name: 'Four', url: receiver.url('failing') })
  })

  it('lists endpoints newest first, by page, each with its statistics', async () => {
    expect(await namesOf({})).toEqual(['Four', 'Three', 'Two', 'One'])
    const { body } = await listed.console(path({ pageSize: 3, page: 2 }))
    expect(body).toMatchObject({
      page: 2,
      pageSize: 3,
      total: 4,
      totalPages: 2,
      data: [{ name: 'One', stats: NO_STATS }],
    })
    expect((await listed.console(path({}))).body).toMatchObject({ page: 1, pageSize: 25, total: 4, totalPages: 1 })
    expect((await listed.console(path({ pageSize: 1_000 }))).body.pageSize).toBe(200)
    expect(await namesOf({ page: 9 })).toEqual([])
    const [four] = (await listed.console(path({}))).body.data
    expect(four).toEqual((await listed.console(`${PATH}/${four.id}`)).body.webhook)
  })

  it.each([
    ['kind', () => ({ kind: 'pixel' }), ['Two']],
    ['kind', () => ({ kind: 'webhook' }), ['Four', 'Three', 'One']],
    ['status', () => ({ status: 'paused' }), ['Three']],
    ['campaign', () => ({ campaignId: the.roofing.campaignId }), ['Three', 'One']],
    ['campaign', () => ({ campaignId: UNKNOWN_ID }), []],
    ['publisher', () => ({ publisherId: the.east }), ['Two']],
    ['text of their names', () => ({ q: 'tHR' }), ['Three']],
    ['text of their URLs', () => ({ q: '/BETA' }), ['Two']],
    ['text of their notes', () => ({ q: '50% of (' }), ['Three']],
    ['text that is no pattern', () => ({ q: '.*' }), []],
    ['text of 200 characters', () => ({ q: 'x'.repeat(200) }), []],
    ['several filters together', () => ({ kind: 'webhook', campaignId: the.roofing.campaignId, q: 'one' }), ['One']],
  ] as const)('finds endpoints by %s (%#)', async (_what, filter, names) => {
    expect(await namesOf(filter())).toEqual(names)
  })

  it('finds the endpoints that are degraded and those that are active', async () => {
    const [four] = (await listed.console(path({ q: 'Four' }))).body.data
    await createWebhookClient(listed).test(four.id)
    await untilStatus(listed, four.id, 'degraded')
    expect(await namesOf({ status: 'degraded' })).toEqual(['Four'])
    expect(await namesOf({ status: 'active' })).toEqual(['Two', 'One'])
  })

  it.each([
    ['kind', { kind: 'beacon' }],
    ['status', { status: 'deleted' }],
    ['campaignId', { campaignId: 'x' }],
    ['publisherId', { publisherId: 'x' }],
    ['q', { q: 'x'.repeat(201) }],
    ['page', { page: 0 }],
    ['pageSize', { pageSize: 0 }],
    ['pageSize', { pageSize: 1.5 }],
  ])('%s: validation_error for %o', async (field, filter) => {
    expect(statusCodeAndFields(await main.console(path(filter)))).toEqual([400, 'validation_error', [field]])
  })
})

describe('PATCH /api/tracking/webhooks/:id', () => {
  it('changes each setting and keeps the rest', async () => {
    const before = await pixel({ method: 'POST', eventPattern: ['call.routed', 'call.connected'] })
    const changes: readonly Json[] = [
      { name: 'Renamed' },
      { url: `${URL}?ref={{call.ref}}` },
      { eventPattern: ['call.completed'] },
      { campaignId: the.campaignId },
      { publisherId: the.north },
      { headers: { 'x-one': '1', 'x-two': '{{call.ref}}' } },
      { headers: { 'x-two': '2' } },
      { bodyTemplate: '{"ref":"{{call.ref}}"}' },
      { note: 'Changed' },
      { bodyTemplate: null, method: 'GET' },
    ]
    let expected = before
    for (const sent of changes) {
      const { status, body } = await patch(before.id, sent)
      expect([status, Object.keys(body)], JSON.stringify(sent)).toEqual([200, ['webhook', 'notes']])
      expected = { ...expected, ...sent, updatedAt: body.webhook.updatedAt }
      if (sent.campaignId) expected.campaignName = 'Solar'
      if (sent.publisherId) expected.publisherName = 'North'
      if (sent.method) Object.assign(expected, { signed: false, secretHint: null })
      expect(body.webhook).toEqual(expected)
      expect(await read(before.id)).toEqual(expected)
    }
    expect(expected.updatedAt > before.updatedAt).toBe(true)
  })

  it('null clears a narrowing, the headers, the template and the note', async () => {
    const narrowed = { campaignId: the.campaignId, publisherId: the.north }
    const { id } = await pixel({ ...narrowed, method: 'POST', headers: headers(2), bodyTemplate: '{}', note: 'Soon' })
    const cleared = { campaignId: null, publisherId: null, headers: null, bodyTemplate: null, note: null }
    const expected = { ...cleared, headers: {}, campaignName: null, publisherName: null }
    expect(await change(id, cleared)).toMatchObject(expected)
    expect(await read(id)).toMatchObject(expected)
  })

  it('replaces the pattern of events, and takes a name alone', async () => {
    const { id } = await created({ eventPattern: ['call.routed', 'call.connected'] })
    expect((await change(id, { eventPattern: 'wallet.low' })).eventPattern).toEqual(['wallet.low'])
    expect((await change(id, { eventPattern: '*' })).eventPattern).toEqual(['*'])
  })

  it('a change to what is already so changes nothing, and one without a field is refused', async () => {
    const { id, updatedAt } = await created({ headers: headers(1), note: 'Here' })
    const sent = { name: 'Endpoint', url: URL, headers: headers(1), note: 'Here', status: 'active' }
    expect((await change(id, sent)).updatedAt).toBe(updatedAt)
    expect(statusCodeAndFields(await patch(id, {}))).toEqual([400, 'bad_request', []])
  })

  it('notes tell of a URL that now names the caller', async () => {
    const { id } = await pixel()
    expect((await patch(id, { note: 'Still plain' })).body.notes).toEqual([])
    const { body } = await patch(id, { url: `${URL}?c={{caller.digits}}` })
    expect(body.notes).toEqual([expect.stringMatching(/hash/)])
  })

  it('takes its entity tag in If-Match, and refuses one that is outdated', async () => {
    const { id } = await created()
    const tagOf = async () => (await main.console(`${PATH}/${id}`)).headers.get('etag') ?? 'none'
    const first = await tagOf()
    const done = await patch(id, { note: 'First' }, { 'if-match': first })
    expect([done.status, done.headers.get('etag')]).toEqual([200, await tagOf()])
    expect(done.headers.get('etag')).not.toBe(first)
    const late = await patch(id, { note: 'Second' }, { 'if-match': first })
    expect([late.status, late.body.error.code]).toEqual([412, 'conflict'])
    expect((await read(id)).note).toBe('First')
    expect((await patch(id, { note: 'Third' }, { 'if-match': await tagOf() })).status).toBe(200)
  })

  it('of ten changes at once with the same If-Match one is made', async () => {
    const { id } = await created()
    const tag = (await main.console(`${PATH}/${id}`)).headers.get('etag') ?? 'none'
    const notes = Array.from({ length: 10 }, (_, n) => `Note ${n}`)
    const answers = await Promise.all(notes.map((note) => patch(id, { note }, { 'if-match': tag })))
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, ...Array.from({ length: 9 }, () => 412)])
    const won = answers.findIndex(({ status }) => status === 200)
    expect((await read(id)).note).toBe(notes[won])
  })
})

describe('the status of an endpoint', () => {
  it('is paused and resumed by PATCH, as often as one likes', async () => {
    const { id } = await created()
    for (const status of ['paused', 'paused', 'active', 'active', 'paused'])
      expect((await change(id, { status })).status).toBe(status)
    expect(await change(id, { status: 'active', note: 'Back' })).toMatchObject({ status: 'active', note: 'Back' })
  })

  it('degrades after two failed requests, stays paused once it is paused, and is active when it is resumed', async () => {
    const { id } = await created({ url: receiver.url('failing') })
    await webhooks.test(id)
    await untilStatus(main, id, 'degraded')
    expect((await change(id, { status: 'active' })).status).toBe('active')
    await webhooks.test(id)
    await untilStatus(main, id, 'degraded')
    expect((await change(id, { status: 'paused' })).status).toBe('paused')
    expect((await change(id, { status: 'active' })).status).toBe('active')
  })
})

describe('DELETE /api/tracking/webhooks/:id', () => {
  it('removes the endpoint, what it waits for and its log', async () => {
    const { id } = await created({ url: receiver.url('moody') })
    const { id: deliveryId } = await webhooks.test(id)
    await webhooks.logged(id, 'A request failed', ({ attempts }) => attempts.length > 0)
    const gone = await remove(id)
    expect([gone.status, gone.body]).toEqual([200, { deleted: id }])
    const message = 'Webhook not found.'
    const again = await Promise.all([
      remove(id),
      main.console(`${PATH}/${id}`),
      main.console(`${PATH}/${id}/deliveries`),
    ])
    for (const { status, body } of again) expect([status, body.error.message]).toEqual([404, message])
    expect((await webhooks.replay(deliveryId)).status).toBe(404)
    const { data } = (await main.console(`${PATH}?pageSize=200`)).body
    expect(data.map((row: Json) => row.id)).not.toContain(id)
  })
})

describe('the ceiling of a plan', () => {
  it('counts webhooks and pixels together: of ten creates at once only those below it succeed', async () => {
    const { create, created, remove } = createWebhookClient(grown)
    const first = await created({ url: URL, kind: 'pixel' })
    for (let n = 2; n <= MAX_WEBHOOKS - 2; n += 1) await created({ url: URL, kind: n % 2 ? 'pixel' : 'webhook' })
    const answers = await Promise.all(Array.from({ length: 10 }, (_, n) => create({ url: URL, name: `At once ${n}` })))
    const refused = answers.filter(({ status }) => status !== 201)
    expect(answers.length - refused.length).toBe(2)
    for (const answer of refused)
      expect(refusalOf(answer)).toEqual({
        status: 402,
        code: 'plan_upgrade_required',
        details: { feature: 'maxWebhooks', limit: MAX_WEBHOOKS, current: MAX_WEBHOOKS },
      })
    expect((await grown.console(PATH)).body.total).toBe(MAX_WEBHOOKS)
    expect((await remove(first.id)).status).toBe(200)
    expect((await create({ url: URL })).status).toBe(201)
    expect((await create({ url: URL })).status).toBe(402)
  })

  it('is none on the plan scale', async () => {
    const { created } = createWebhookClient(other)
    for (let n = 0; n <= MAX_WEBHOOKS; n += 1) await created({ url: URL })
    expect((await other.console(PATH)).body.total).toBe(MAX_WEBHOOKS + 1)
  })
})
