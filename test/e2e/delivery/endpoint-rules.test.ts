import { expect, test } from 'vitest'
import type { StreamWriter } from '../../../src/runtime/write/stream-writer.ts'
import {
  errorWithoutRequestId,
  type Json,
  statusAndCode,
  statusCodeAndFields,
  UNKNOWN_ID,
} from '../../support/e2e/api-client.ts'
import { openInProcessPlatform } from '../../support/e2e/in-process-platform.ts'
import { refusalOf } from '../../support/e2e/ranges.ts'
import { embeddedStores, freshEnvironment } from '../../support/e2e/server.ts'
import { OPERATOR_TOKEN, suite } from '../../support/e2e/suite.ts'
import { createTenantClient } from '../../support/e2e/tenant-client.ts'
import { createWebhookClient } from '../../support/e2e/webhook-client.ts'
import { createTenantWorkspace, type Tenant } from '../../support/e2e/world.ts'

const PATH = '/api/tracking/webhooks'
/** A URL at which nobody listens. */
const URL = 'http://127.0.0.1:9/in'
const PIXEL = { kind: 'pixel' }
const POST_PIXEL = { kind: 'pixel', method: 'POST' }
const FORM = { 'content-type': 'application/x-www-form-urlencoded' }

/** Settings that contradict each other, or the macros and events that there are, with the keys of `details`. */
const CONTRADICTIONS: readonly (readonly [what: string, fields: readonly string[], settings: Json, base?: Json])[] = [
  ['a webhook that is a GET', ['method'], { method: 'GET' }],
  ['a macro in the URL of a webhook', ['url'], { url: `${URL}?ref={{call.ref}}` }],
  ['a macro in a host', ['url'], { url: 'http://{{tag.host}}.example/in' }, PIXEL],
  ['a macro in a port', ['url'], { url: 'http://example.com:{{tag.port}}/in' }, PIXEL],
  ['a macro before the host', ['url'], { url: 'http://{{tag.user}}@example.com/in' }, PIXEL],
  ['an unknown macro in a URL', ['macros'], { url: `${URL}?x={{call.price}}` }, PIXEL],
  ['an unknown macro in a header', ['macros'], { headers: { 'x-a': '{{caller.name}}' } }],
  ['an unknown macro in a template', ['macros'], { bodyTemplate: '{"x":"{{buyer.phone}}"}' }, POST_PIXEL],
  ['a tag without a key', ['macros'], { url: `${URL}?x={{tag.}}` }, PIXEL],
  ['a template of a webhook', ['bodyTemplate'], { bodyTemplate: '{}' }],
  ['a template of a GET pixel', ['bodyTemplate'], { bodyTemplate: '{}' }, PIXEL],
  ['a template that is no JSON', ['bodyTemplate'], { bodyTemplate: 'ref={{call.ref}}' }, POST_PIXEL],
  ['a template whose macros make no JSON', ['bodyTemplate'], { bodyTemplate: '{"ref":{{call.ref}}}' }, POST_PIXEL],
  [
    'a template that is no JSON beside a header of JSON',
    ['bodyTemplate'],
    { bodyTemplate: 'x', headers: { 'Content-Type': 'application/vnd.api+json' } },
    POST_PIXEL,
  ],
  ['an unknown event', ['eventPattern'], { eventPattern: ['call.completed', 'call.gone'] }],
  ['a family of events', ['eventPattern'], { eventPattern: 'call.*' }],
  ['no event’s name', ['eventPattern'], { eventPattern: '' }],
  ...[
    ...['connection', 'Keep-Alive', 'proxy-authenticate', 'Proxy-Authorization', 'te', 'trailer', 'Transfer-Encoding'],
    ...['upgrade', 'host', 'content-length', 'svc-event', 'SVC-Signature', 'svc-anything'],
  ].map((name) => [`the header ${name}`, ['headers'], { headers: { [name]: 'v' } }] as const),
]

/** URLs that break a rule for addresses. */
const UNSAFE: readonly (readonly [rule: string, url: string])[] = [
  ['credentials', 'http://user:word@127.0.0.1:9/in'],
  ['credentials', 'http://user@127.0.0.1:9/in'],
  ['https', 'http://'],
  ['https', 'http://[::1/in'],
  ['port', 'http://8.8.8.8:22/in'],
  ['port', 'https://8.8.8.8:7999/in'],
  ['port', 'https://8.8.8.8:10000/in'],
  ['address', 'http://127.0.0.2/in'],
  ['address', 'http://10.1.2.3/in'],
  ['address', 'http://172.16.0.1/in'],
  ['address', 'http://192.168.1.1/in'],
  ['address', 'http://169.254.169.254/latest/meta-data'],
  ['address', 'http://100.64.0.1/in'],
  ['address', 'http://224.0.0.1/in'],
  ['address', 'http://0.0.0.0/in'],
  ['address', 'http://192.0.2.1/in'],
  ['address', 'http://198.18.0.1/in'],
  ['address', 'http://[::1]/in'],
  ['address', 'http://[::ffff:10.0.0.1]/in'],
  ['address', 'http://[64:ff9b::808:808]/in'],
  ['address', 'http://[2002:808:808::1]/in'],
  ['address', 'http://[2001::1]/in'],
  ['address', 'http://[fd00::1]/in'],
  ['address', 'http://[fe80::1]/in'],
  ['address', 'http://2852039166/latest/meta-data'],
  ['address', 'http://0x0a.1.2.3/in'],
  ['address', 'http://0251.0376.0251.0376/in'],
  ['unresolvable', 'http://nowhere.invalid/in'],
]

/** Settings that are ill-formed by themselves, with the field that `details` names. */
const ILL_FORMED: readonly (readonly [field: string, settings: Json])[] = [
  ['name', { name: ' ' }],
  ['name', { name: null }],
  ['name', { name: 7 }],
  ['url', { url: null }],
  ['url', { url: '' }],
  ['url', { url: 'ftp://127.0.0.1/in' }],
  ['url', { url: '127.0.0.1/in' }],
  ['url', { url: 'http://127.0.0.1/a b' }],
  ['url', { url: 'http://127.0.0.1/a\nb' }],
  ['eventPattern', { eventPattern: null }],
  ['eventPattern', { eventPattern: 7 }],
  ['eventPattern.0', { eventPattern: [7] }],
  ['method', { method: 'PUT' }],
  ['method', { method: null }],
  ['campaignId', { campaignId: 'x' }],
  ['publisherId', { publisherId: 7 }],
  ['headers', { headers: [] }],
  ['headers', { headers: 'x-a: v' }],
  ['headers.x-a', { headers: { 'x-a': 7 } }],
  ['headers.x-a', { headers: { 'x-a': 'one\r\nx-b: two' } }],
  ['headers.x-a', { headers: { 'x-a': '☎' } }],
  ['headers.x a', { headers: { 'x a': 'v' } }],
  ['bodyTemplate', { bodyTemplate: { ref: '{{call.ref}}' } }],
  ['note', { note: 7 }],
  ['id', { id: UNKNOWN_ID }],
  ['signed', { signed: false }],
  ['secret', { secret: 'whsec_mine' }],
  ['secretHint', { secretHint: 'whsec_mine' }],
  ['deliveredCount', { deliveredCount: 0 }],
]

async function world(writer: StreamWriter) {
  const [main, other, poor, shrunk, lapsed] = [
    await createTenantWorkspace(writer, { name: 'Main' }),
    await createTenantWorkspace(writer, { name: 'Other' }),
    await createTenantWorkspace(writer, { name: 'Poor', planId: 'starter' }),
    await createTenantWorkspace(writer, { name: 'Shrunk' }),
    await createTenantWorkspace(writer, { name: 'Lapsed' }),
  ]
  const abroad = await other.line({ name: 'Abroad' }, [await other.target(await other.buyer({ name: 'Far' }))])
  const stranger = await other.publisher({ name: 'Stranger' })
  return { main, other, poor, shrunk, lapsed, abroad, stranger }
}

const { it, describe, main, the, tenant, client } = suite('rules of webhooks and pixels', world, { stores: 'embedded' })
const clientOf = (client: typeof main) => ({ ...client, ...createWebhookClient(client) })
const other = clientOf(tenant((the) => the.other))
const poor = clientOf(tenant((the) => the.poor))
const shrunk = clientOf(tenant((the) => the.shrunk))
const lapsed = clientOf(tenant((the) => the.lapsed))
const webhooks = createWebhookClient(main)
const operator = client(OPERATOR_TOKEN)

const create = (more: Json = {}, client = webhooks) => client.create({ url: URL, ...more })
const created = async (more: Json = {}, client = webhooks) => (await client.created({ url: URL, ...more })).id
const patch = (id: string, body: Json, { console } = main) => console(`${PATH}/${id}`, { method: 'PATCH', body })
const post = (path: string, body: Json = {}, { console } = main) => console(path, { method: 'POST', body })
/** A change that an operator makes to a workspace. */
async function administer({ workspaceId }: Tenant, body: Json): Promise<void> {
  const answer = await operator(`/api/operator/workspaces/${workspaceId}`, { method: 'PATCH', body })
  expect(answer.status, answer.text).toBe(200)
}

describe('400 bad_request', () => {
  it.each(CONTRADICTIONS)(
    '%s is refused when an endpoint is created and when it is changed',
    async (_what, fields, settings, base = {}) => {
      expect(statusCodeAndFields(await create({ ...base, ...settings }))).toEqual([400, 'bad_request', fields])
      expect(statusCodeAndFields(await patch(await created(base), settings))).toEqual([400, 'bad_request', fields])
    },
  )

  it('names each unknown macro, and everything else that is wrong', async () => {
    const wrong = {
      method: 'GET',
      headers: { 'x-a': '{{one.two}}{{ three }}{{call.ref}}', te: 'v' },
      bodyTemplate: 'x',
    }
    const { body } = await create(wrong)
    expect(Object.keys(body.error.details).toSorted()).toEqual(['bodyTemplate', 'headers', 'macros', 'method'])
    expect(body.error.details.macros).toMatch(/\{\{one\.two\}\}.*\{\{three\}\}/)
    expect(body.error.details.macros).not.toMatch(/call\.ref/)
    expect(body.error.details.headers).toMatch(/te/)
  })

  it.each([
    ['any tag is known', PIXEL, { url: `${URL}/{{tag.a}}?x={{tag.utm-source_1.b}}` }],
    ['{{{ is text', PIXEL, { url: `${URL}?x={{{call.nothing}}` }],
    ['macros may stand in headers of a webhook', {}, { headers: { 'x-a': '{{call.ref}} {{caller.e164}}' } }],
    ['a template of another format', POST_PIXEL, { bodyTemplate: 'ref={{call.ref}}', headers: FORM }],
    ['numbers and texts of a template', POST_PIXEL, { bodyTemplate: '{"a":{{call.talk}},"b":"{{campaign.name}}"}' }],
    ['all ten events', {}, { eventPattern: ['call.incoming', 'wallet.low', 'target.down', 'target.capped'] }],
  ])('%s: accepted', async (_what, base, settings) => {
    const answer = await create({ ...base, ...settings })
    expect(answer.status, answer.text).toBe(201)
    expect((await patch(await created(base), settings)).status).toBe(200)
  })

  it('a change is judged with the settings that stay: a template needs its method and its format', async () => {
    const id = await created({ ...POST_PIXEL, headers: FORM, bodyTemplate: 'ref={{call.ref}}' })
    expect(statusCodeAndFields(await patch(id, { headers: null }))).toEqual([400, 'bad_request', ['bodyTemplate']])
    expect(statusCodeAndFields(await patch(id, { method: 'GET' }))).toEqual([400, 'bad_request', ['bodyTemplate']])
    expect((await patch(id, { method: 'GET', bodyTemplate: null })).status).toBe(200)
  })
})

describe('400 unsafe_url', () => {
  it.each(UNSAFE)('%s: %s is refused when an endpoint is created and when it is changed', async (rule, url) => {
    const id = await created()
    for (const answer of [await create({ url }), await create({ url, kind: 'pixel' }), await patch(id, { url })])
      expect(refusalOf(answer)).toEqual({ status: 400, code: 'unsafe_url', details: { rule } })
    expect((await webhooks.read(id)).url).toBe(URL)
  })

  it.each(['http://8.8.8.8/in', 'https://8.8.8.8/in', 'https://8.8.8.8:8000/in', 'http://8.8.8.8:9999/in'])(
    '%s is accepted',
    async (url) => {
      expect((await create({ url })).status).toBe(201)
    },
  )

  it('a pixel is judged by its template expanded with the sample', async () => {
    expect((await create({ ...PIXEL, url: `${URL}/{{call.ref}}?u=http://10.0.0.1/{{tag.x}}` })).status).toBe(201)
    const answer = await create({ ...PIXEL, url: 'http://10.0.0.1/{{call.ref}}' })
    expect(refusalOf(answer)).toMatchObject({ code: 'unsafe_url', details: { rule: 'address' } })
  })

  it('a refused endpoint is not created', async () => {
    const { total } = (await main.console(PATH)).body
    expect((await create({ url: 'http://10.0.0.1/in' })).status).toBe(400)
    expect((await main.console(PATH)).body.total).toBe(total)
  })
})

describe('400 validation_error', () => {
  it.each(ILL_FORMED)('%s: %o is refused when an endpoint is created and when it is changed', async (field, wrong) => {
    expect(statusCodeAndFields(await create(wrong))).toEqual([400, 'validation_error', [field]])
    expect(statusCodeAndFields(await patch(await created(), wrong))).toEqual([400, 'validation_error', [field]])
  })

  it.each([['name'], ['url'], ['eventPattern']])('%s must be there when an endpoint is created', async (field) => {
    expect(statusCodeAndFields(await create({ [field]: undefined }))).toEqual([400, 'validation_error', [field]])
  })

  it('a kind is webhook or pixel, and no change takes one', async () => {
    expect(statusCodeAndFields(await create({ kind: 'beacon' }))).toEqual([400, 'validation_error', ['kind']])
    const id = await created()
    for (const kind of ['pixel', 'webhook'])
      expect(statusCodeAndFields(await patch(id, { kind }))).toEqual([400, 'validation_error', ['kind']])
  })

  it.each(['degraded', 'deleted', null])('nobody sets the status %s by hand', async (status) => {
    const id = await created()
    expect(statusCodeAndFields(await patch(id, { status }))).toEqual([400, 'validation_error', ['status']])
    expect(statusCodeAndFields(await create({ status }))).toEqual([400, 'validation_error', ['status']])
    expect((await webhooks.read(id)).status).toBe('active')
  })

  it('every other write refuses fields that it does not have', async () => {
    const id = await created()
    const at = (path: string) => `${PATH}/${id}${path}`
    const wrong = [
      [await main.console(at(''), { method: 'DELETE', body: { force: true } }), 'force'],
      [await post(at('/test'), { event: 'call.gone' }), 'event'],
      [await post(at('/test'), { data: {} }), 'data'],
      [await post(at('/secret'), { graceMinutes: 5 }), 'graceMinutes'],
      [await post(at('/replay-failures'), { state: 'failed' }), 'state'],
    ] as const
    for (const [answer, field] of wrong) expect(statusCodeAndFields(answer)).toEqual([400, 'validation_error', [field]])
  })
})

describe('404 not_found', () => {
  it('campaigns and publishers of another workspace, and unknown ones, are not found', async () => {
    const id = await created()
    for (const [settings, message] of [
      [{ campaignId: the.abroad.campaignId }, 'Campaign not found.'],
      [{ campaignId: UNKNOWN_ID }, 'Campaign not found.'],
      [{ publisherId: the.stranger }, 'Publisher not found.'],
      [{ publisherId: UNKNOWN_ID }, 'Publisher not found.'],
    ] as const) {
      for (const { status, body } of [await create(settings), await patch(id, settings)])
        expect([status, body.error.code, body.error.message]).toEqual([404, 'not_found', message])
    }
  })

  it('a missing, a malformed and another workspace’s endpoint give the same 404 on every route', async () => {
    const foreign = await created({}, other)
    const routes: readonly (readonly [string, string, Json?])[] = [
      ['GET', ''],
      ['PATCH', '', { name: 'Mine' }],
      ['PATCH', '', { status: 'paused' }],
      ['DELETE', ''],
      ['POST', '/test'],
      ['POST', '/secret'],
      ['POST', '/replay-failures'],
      ['GET', '/deliveries'],
    ]
    for (const [method, path, body] of routes) {
      const send = (id: string) => main.console(`${PATH}/${id}${path}`, { method, body })
      const answers = await Promise.all([UNKNOWN_ID, 'x', foreign].map(send))
      expect(new Set(answers.map(errorWithoutRequestId)).size, `${method} ${path}`).toBe(1)
      expect(answers[0]?.body.error, `${method} ${path}`).toMatchObject({
        code: 'not_found',
        message: 'Webhook not found.',
      })
    }
    expect((await other.read(foreign)).name).toBe('Endpoint')
  })

  it('a missing, a malformed and another workspace’s delivery give the same 404', async () => {
    const { id } = await other.test(await created({}, other))
    const answers = await Promise.all([UNKNOWN_ID, 'x', id].map(webhooks.replay))
    expect(new Set(answers.map(errorWithoutRequestId)).size).toBe(1)
    expect(statusAndCode(answers[0] ?? expect.fail())).toEqual([404, 'not_found'])
  })

  it('an unknown path is told before an ill-formed body', async () => {
    expect((await patch(UNKNOWN_ID, { name: 7 })).status).toBe(404)
    expect((await post(`${PATH}/${UNKNOWN_ID}/test`, { event: 7 })).status).toBe(404)
  })
})

describe('402 plan_upgrade_required', () => {
  const refused = { status: 402, code: 'plan_upgrade_required', details: { feature: 'webhooks' } }

  it('a plan without webhooks creates none; the list and the vocabulary stay open', async () => {
    expect(refusalOf(await create({}, poor))).toEqual(refused)
    expect(refusalOf(await create({ name: 7 }, poor))).toEqual(refused)
    expect((await poor.console(PATH)).body.total).toBe(0)
    expect((await poor.console(`${PATH}/events`)).status).toBe(200)
  })

  it('a workspace whose plan no longer has webhooks reads, pauses and deletes its endpoints, and does nothing else', async () => {
    const [id, second] = [await created({}, shrunk), await created({}, shrunk)]
    const { id: deliveryId } = await shrunk.test(id)
    await administer(the.shrunk, { planId: 'starter' })
    const at = (path: string) => `${PATH}/${id}${path}`
    const writes = [
      create({}, shrunk),
      patch(id, { name: 'Renamed' }, shrunk),
      patch(id, { status: 'active' }, shrunk),
      patch(id, { status: 'paused', name: 'Renamed' }, shrunk),
      patch(id, {}, shrunk),
      post(at('/test'), {}, shrunk),
      post(at('/secret'), {}, shrunk),
      post(at('/replay-failures'), {}, shrunk),
      post(`/api/tracking/webhook-deliveries/${deliveryId}/replay`, {}, shrunk),
    ]
    for (const answer of await Promise.all(writes)) expect(refusalOf(answer)).toEqual(refused)
    expect((await patch(id, { status: 'paused' }, shrunk)).body.webhook.status).toBe('paused')
    expect((await shrunk.read(id)).name).toBe('Endpoint')
    expect((await shrunk.console(at('/deliveries'))).body.total).toBe(1)
    expect((await shrunk.remove(second)).body).toEqual({ deleted: second })
    expect((await shrunk.remove(id)).status).toBe(200)
  })
})

describe('402 subscription_inactive', () => {
  it('every write of a lapsed workspace is refused, pausing and deleting too; reads stay open', async () => {
    const id = await created({}, lapsed)
    const { id: deliveryId } = await lapsed.test(id)
    await administer(the.lapsed, { subscriptionStatus: 'canceled' })
    const at = (path: string) => `${PATH}/${id}${path}`
    const details = { status: 'canceled', planId: 'scale', agencyId: the.lapsed.workspaceId }
    const writes = [
      create({}, lapsed),
      patch(id, { name: 'Renamed' }, lapsed),
      patch(id, { status: 'paused' }, lapsed),
      lapsed.remove(id),
      post(at('/test'), {}, lapsed),
      post(at('/secret'), {}, lapsed),
      post(at('/replay-failures'), {}, lapsed),
      post(`/api/tracking/webhook-deliveries/${deliveryId}/replay`, {}, lapsed),
    ]
    for (const answer of await Promise.all(writes))
      expect(refusalOf(answer)).toEqual({ status: 402, code: 'subscription_inactive', details })
    for (const path of [PATH, at(''), at('/deliveries'), `${PATH}/events`])
      expect((await lapsed.console(path)).status).toBe(200)
  })
})

describe('the console’s credential', () => {
  it('no API key reaches an endpoint, and nobody without a session', async () => {
    const id = await created()
    for (const path of [PATH, `${PATH}/${id}`, `${PATH}/${id}/deliveries`]) {
      expect(statusAndCode(await main.console(path, { headers: { authorization: `Bearer ${the.main.key}` } }))).toEqual(
        [401, 'unauthorized'],
      )
    }
  })
})

const strict = suite('rules of an endpoint that was allowed', world, { stores: 'embedded', env: { SANDBOX_SEED: '0' } })

strict.describe('an endpoint whose URL is no longer allowed', () => {
  const SETTINGS = {
    url: `${URL}?ref={{call.ref}}`,
    kind: 'pixel',
    method: 'POST',
    headers: { 'x-a': 'v' },
    bodyTemplate: '{}',
  }
  let id: string
  strict.beforeAll(async () => {
    id = (await createWebhookClient(strict.main).created(SETTINGS)).id
    await strict.server.restart({ EGRESS_ALLOW: '' })
  })
  const judge = async (changes: Json) => refusalOf(await patch(id, changes, strict.main))

  strict.it.each([
    ['url', { url: `${URL}?ref={{call.id}}` }],
    ['headers', { headers: { 'x-a': 'w' } }],
    ['bodyTemplate', { bodyTemplate: '{"a":1}' }],
    ['method', { method: 'GET', bodyTemplate: null }],
  ])('is judged again when its %s changes', async (_field, changes) => {
    expect(await judge(changes)).toEqual({ status: 400, code: 'unsafe_url', details: { rule: 'address' } })
  })

  strict.it('is not judged when other settings change, or when what is judged is sent as it was', async () => {
    const { kind: _kind, ...same } = SETTINGS
    for (const changes of [{ name: 'Renamed' }, { eventPattern: 'call.routed' }, { status: 'paused' }, same])
      expect((await judge(changes)).status, JSON.stringify(changes)).toBe(200)
  })
})

test.each([
  ['https', 'http://8.8.8.8/in'],
  ['address', 'https://127.0.0.1/in'],
  ['address', 'https://169.254.169.254/in'],
  [null, 'https://8.8.8.8/in'],
])('in production the rule is %s for the URL %s', async (rule, url) => {
  const { baseUrl, createWorld, close } = await openInProcessPlatform({
    ...freshEnvironment(embeddedStores),
    NODE_ENV: 'production',
    MASTER_KEY: Buffer.alloc(32, 'endpoint-rules').toString('base64'),
    CARRIER_URL: 'simulator:',
  })
  try {
    const tenant = await createWorld((writer) => createTenantWorkspace(writer, { name: 'Main' }))
    const answer = await createWebhookClient(createTenantClient({ baseUrl }, tenant)).create({ url })
    if (rule === null) expect(answer.status, answer.text).toBe(201)
    else expect(refusalOf(answer)).toEqual({ status: 400, code: 'unsafe_url', details: { rule } })
  } finally {
    await close()
  }
})
