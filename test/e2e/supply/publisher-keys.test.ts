import { expect } from 'vitest'
import type { StreamWriter } from '../../../src/runtime/write/stream-writer.ts'
import { errorWithoutRequestId, type Json, statusCodeAndFields, UNKNOWN_ID } from '../../support/e2e/api-client.ts'
import { documentLine } from '../../support/e2e/document-1.ts'
import { expectLengths, expectRanges, refusalOf } from '../../support/e2e/ranges.ts'
import { suite } from '../../support/e2e/suite.ts'
import { createTenantClient, type TenantClient } from '../../support/e2e/tenant-client.ts'
import { cancelSubscription, createTenantWorkspace } from '../../support/e2e/world.ts'

async function world(writer: StreamWriter) {
  const main = await createTenantWorkspace(writer, { name: 'Main' })
  const line = await main.line({ name: 'Solar' }, [await main.target(await main.buyer({ name: 'Acme' }))])
  const unpaid = async (name: string) => {
    const tenant = await createTenantWorkspace(writer, { name })
    const publisherId = await tenant.publisher({ name: 'Far' })
    const plan = [await tenant.target(await tenant.buyer({ name: 'Buyer' }))]
    return { tenant, publisherId, line: await tenant.line({ name: 'Line' }, plan, { publisherId }) }
  }
  const [other, lapsed] = [await unpaid('Other'), await unpaid('Lapsed')]
  await cancelSubscription(lapsed.tenant)
  return { main, line, other, lapsed }
}

const { it, describe, beforeAll, beforeEach, main, the, server } = suite('publisher keys', world)

let lapsed: TenantClient
let foreignKey: string
let unpaidKey: string
let publisherId: string
let keyId: string
let issued: string

const laneOf = (publisher: string, campaign: string) => `/api/tracking/campaigns/${campaign}/publishers/${publisher}`

beforeAll(async () => {
  lapsed = createTenantClient(server, the.lapsed.tenant)
  const keyOf = async ({ tenant, publisherId, line }: typeof the.other) =>
    (await createTenantClient(server, tenant).console(laneOf(publisherId, line.campaignId))).body.lane.key.id
  foreignKey = await keyOf(the.other)
  unpaidKey = await keyOf(the.lapsed)
})

/** Each test has a lane of its own. */
beforeEach(async () => {
  const created = await main.console('/api/tracking/publishers', { method: 'POST', body: { name: 'Blue Leads' } })
  publisherId = created.body.publisher.id
  const { body } = await main.console(lane(), { method: 'PUT', body: {} })
  keyId = body.lane.key.id
  issued = body.key
})

const lane = () => laneOf(publisherId, the.line.campaignId)
const at = (id = keyId) => `/api/publishers/keys/${id}`
const key = async () => (await main.console(at())).body.key
const patch = (body: Json, id = keyId, { console } = main) => console(at(id), { method: 'PATCH', body })
const post = (path: string, body: Json = {}, id = keyId, { console } = main) =>
  console(`${at(id)}/${path}`, { method: 'POST', body })
const compat = async (enabled: boolean) =>
  (await main.console(`${lane()}/compat`, { method: 'POST', body: { enabled } })).body.compat
const terminate = () =>
  main.console(`/api/tracking/publishers/${publisherId}/status`, { method: 'POST', body: { status: 'terminated' } })
/** Expects a write to refuse missing keys, revoked keys and lapsed workspaces. */
async function expectRefusals(send: (id: string, desk?: TenantClient) => ReturnType<TenantClient['console']>) {
  const answers = await Promise.all([UNKNOWN_ID, 'x', foreignKey].map((id) => send(id)))
  expect(new Set(answers.map(errorWithoutRequestId)).size).toBe(1)
  expect(answers[0]?.body.error).toMatchObject({ code: 'not_found', message: 'Publisher key not found.' })
  expect(refusalOf(await send(unpaidKey, lapsed))).toMatchObject({ status: 402, code: 'subscription_inactive' })
  await compat(true)
  await terminate()
  const dead = await send(keyId)
  expect(refusalOf(dead)).toEqual({ status: 409, code: 'conflict', details: { status: 'revoked' } })
}

it('a key can be read, with its settings and without any secret', async () => {
  const { status, body, text, headers } = await main.console(at())
  expect(status).toBe(200)
  expect(body.key).toEqual({
    id: keyId,
    campaignId: the.line.campaignId,
    publisherId,
    prefix: expect.stringMatching(/^rk_live_SOLA_/),
    state: 'active',
    protocol: 'rtb_v1',
    environment: 'production',
    requireSignature: false,
    label: null,
    ratePerMinute: 120,
    ratePerHour: 5_000,
    ratePerDay: 50_000,
    lastUsedAt: null,
    useCount: 0,
    issuedAt: expect.any(String),
    revokedAt: null,
    graceEndsAt: null,
    hasSigningSecret: false,
    compat: { enabled: false, url: null },
  })
  expect(text).not.toMatch(/hash|sealed|secrets"/)
  expect(headers.get('etag')).toMatch(/^"\d+"$/)
  const answers = await Promise.all([UNKNOWN_ID, 'x', foreignKey].map((id) => main.console(at(id))))
  expect(new Set(answers.map(errorWithoutRequestId)).size).toBe(1)
  expect(answers[0]?.status).toBe(404)
})

describe('a call with a routing key in its SIP headers', () => {
  const callWith = (routingKey: string, at: string, more: Json = {}) =>
    main.playCall({ to: the.line.e164, at, sipHeaders: { 'x-svc-routing-key': routingKey }, ...more })
  const usageOf = ({ lastUsedAt, useCount }: Json) => [useCount, lastUsedAt]

  /** The key's usage wherever the key is shown. */
  async function usages() {
    const lanes = (await main.console(`/api/tracking/campaigns/${the.line.campaignId}/publishers`)).body.lanes
    const publishers = await Promise.all([
      main.rest(`/api/v1/publishers/${publisherId}`),
      main.console(`/api/tracking/publishers/${publisherId}`),
    ])
    const list = (await main.rest('/api/v1/publishers?pageSize=200')).body.data
    return [
      await key(),
      (await main.console(lane())).body.lane.key,
      lanes.find((one: Json) => one.publisherId === publisherId).key,
      ...publishers.map(({ body }) => body.publisher.lanes[0].key),
      list.find(({ id }: Json) => id === publisherId).lanes[0].key,
    ].map(usageOf)
  }

  it('moves its useCount and lastUsedAt, wherever the key is shown', async () => {
    expect(new Set((await usages()).map(String))).toEqual(new Set([String([0, null])]))
    const first = await callWith(issued, '2026-01-06T12:00:00.000Z')
    expect(first.call).toMatchObject({ attribution: 'routing_key', publisher: { id: publisherId } })
    for (const usage of await usages()) expect(usage).toEqual([1, '2026-01-06T12:00:00.000Z'])
    await callWith(issued, '2026-01-07T12:00:00.000Z')
    await callWith(issued, '2026-01-05T12:00:00.000Z')
    for (const usage of await usages()) expect(usage).toEqual([3, '2026-01-07T12:00:00.000Z'])
  })

  it('counts a call that is refused, and both secrets of a key during the grace', async () => {
    const blocked = { callerNumber: '+13105550177' }
    await main.console('/api/tracking/blocked-callers', { method: 'POST', body: blocked })
    const refused = await callWith(issued, '2026-01-06T12:00:00.000Z', { from: blocked.callerNumber })
    expect(refused.call).toMatchObject({ reasonCode: 'caller_blocked', attribution: 'routing_key' })
    const { routingKey } = (await post('rotate')).body
    await callWith(issued, new Date(Date.now() - 120_000).toISOString())
    await callWith(routingKey, new Date(Date.now() - 120_000).toISOString())
    expect((await key()).useCount).toBe(3)
  })

  it('counts nothing for a key that does not work, nor for a call without one', async () => {
    const { routingKey } = (await post('rotate', { graceMinutes: 0 })).body
    for (const dead of [issued, `${routingKey}x`])
      expect((await callWith(dead, '2026-01-06T12:00:00.000Z')).call.attribution).toBe('tracking_number')
    await main.playCall({ to: the.line.e164, at: '2026-01-06T12:00:00.000Z' })
    expect(usageOf(await key())).toEqual([0, null])
  })

  it('writes no event of its own, so the tag of the key stays', async () => {
    const tag = (await main.console(at())).headers.get('etag')
    await callWith(issued, '2026-01-06T12:00:00.000Z')
    const read = await main.console(at())
    expect([read.body.key.useCount, read.headers.get('etag')]).toEqual([1, tag])
  })
})

describe(documentLine('PATCH /api/publishers/keys/:keyId'), () => {
  it('changes what is sent, on the lane as well', async () => {
    const sent = { requireSignature: true, environment: 'test', label: 'Main feed' }
    const { status, body } = await patch(sent)
    expect(status).toBe(200)
    expect(body).toEqual({ key: { ...(await key()), ...sent } })
    const { key: shown } = (await main.console(lane())).body.lane
    expect(shown).toMatchObject({ requireSignature: true, environment: 'test' })
    expect((await patch({ label: null })).body.key).toMatchObject({ ...sent, label: null })
  })

  it.each([
    ['requireSignature', { requireSignature: 'true' }],
    ['environment', { environment: 'staging' }],
    ['ratePerMinute', { ratePerMinute: null }],
    ['state', { state: 'revoked' }],
    ['protocol', { protocol: 'legacy' }],
    ['prefix', { prefix: 'rk_' }],
  ])('%s: validation_error for %o', async (field, wrong) => {
    expect(statusCodeAndFields(await patch(wrong))).toEqual([400, 'validation_error', [field]])
    expect(await key()).toMatchObject({ environment: 'production', state: 'active' })
  })

  it('an empty change is a bad_request; a change without effect is not', async () => {
    expect(statusCodeAndFields(await patch({}))).toEqual([400, 'bad_request', []])
    expect((await patch({ environment: 'production' })).status).toBe(200)
    await expectLengths([['label', 120]], patch)
  })

  it('refuses a missing key, a revoked key and a lapsed workspace', () =>
    expectRefusals((id, desk) => patch({ label: 'x' }, id, desk)))

  it('an outdated If-Match is refused', async () => {
    const tag = (await main.console(at())).headers.get('etag') ?? ''
    const send = (label: string) =>
      main.console(at(), { method: 'PATCH', body: { label }, headers: { 'if-match': tag } })
    const first = await send('one')
    expect([first.status, first.headers.get('etag') === tag]).toEqual([200, false])
    expect(statusCodeAndFields(await send('two')).slice(0, 2)).toEqual([412, 'conflict'])
  })
})

describe(documentLine('limit: Publisher key default rate'), () => {
  it('120 a minute, 5,000 an hour, 50,000 a day by default, with own rates for each key', async () => {
    expect(await key()).toMatchObject({ ratePerMinute: 120, ratePerHour: 5_000, ratePerDay: 50_000 })
    await expectRanges(
      [
        ['ratePerMinute', 1, 6_000],
        ['ratePerHour', 1, 360_000],
        ['ratePerDay', 1, 8_640_000],
      ],
      patch,
      (body) => body.key,
    )
  })
})

describe(documentLine('limit: Routing key rotation grace'), () => {
  const graceOf = ({ body }: Json) => Date.parse(body.key.graceEndsAt) - Date.now()

  it('an hour by default, 0 to revoke at once, up to seven days', async () => {
    const usual = await post('rotate')
    expect(usual.status).toBe(200)
    expect(usual.body.key).toMatchObject({ id: keyId, state: 'rotating' })
    expect(Math.round(graceOf(usual) / 60_000)).toBe(60)
    expect(Math.round(graceOf(await post('rotate', { graceMinutes: 10_080 })) / 60_000)).toBe(10_080)
    const atOnce = await post('rotate', { graceMinutes: 0 })
    expect(atOnce.body.key).toMatchObject({ state: 'active', graceEndsAt: null })
    for (const graceMinutes of [-1, 10_081, 1.5, '60', null])
      expect(statusCodeAndFields(await post('rotate', { graceMinutes }))).toEqual([
        400,
        'validation_error',
        ['graceMinutes'],
      ])
  })
})

describe('POST /api/publishers/keys/:keyId/rotate', () => {
  it('answers a new secret of the same key, in this response only', async () => {
    const before = await key()
    const { body } = await post('rotate')
    expect(Object.keys(body).toSorted()).toEqual(['key', 'routingKey'])
    expect(body.routingKey).toMatch(/^rk_live_SOLA_[A-Z0-9]+_[\w-]{43}$/)
    expect(body.routingKey).not.toBe(issued)
    expect(body.routingKey.startsWith(body.key.prefix)).toBe(true)
    expect(body.key).toMatchObject({ id: keyId, issuedAt: before.issuedAt })
    expect(body.key.prefix).not.toBe(before.prefix)
    const read = await main.console(lane())
    expect(read.body.lane.key).toMatchObject({ id: keyId, state: 'rotating', prefix: body.key.prefix })
    expect(read.text).not.toContain(body.routingKey)
  })

  it('an outdated If-Match is refused', async () => {
    const headers = { 'if-match': (await main.console(at())).headers.get('etag') ?? '' }
    const send = () => main.console(`${at()}/rotate`, { method: 'POST', body: {}, headers })
    expect((await send()).status).toBe(200)
    const { prefix } = await key()
    expect(statusCodeAndFields(await send()).slice(0, 2)).toEqual([412, 'conflict'])
    expect((await key()).prefix).toBe(prefix)
  })

  it('a repeat with the same Idempotency-Key answers the same secret, and rotates once', async () => {
    const send = () =>
      main.console(`${at()}/rotate`, {
        method: 'POST',
        body: { graceMinutes: 0 },
        headers: { 'idempotency-key': keyId },
      })
    const [first, second] = [await send(), await send()]
    expect(second.body).toEqual(first.body)
    expect((await key()).prefix).toBe(first.body.key.prefix)
  })

  it('refuses a missing key, a revoked key and a lapsed workspace', () =>
    expectRefusals((id, desk) => post('rotate', {}, id, desk)))
})

describe(documentLine('POST /api/publishers/keys/:keyId/compat-token/rotate'), () => {
  it('answers another URL, which the lane then shows', async () => {
    const before = await compat(true)
    const { status, body } = await post('compat-token/rotate')
    expect([status, body]).toEqual([200, { compat: { enabled: true, url: expect.any(String) } }])
    expect(body.compat.url).not.toBe(before.url)
    expect(body.compat.url).toMatch(new RegExp(`^${server.baseUrl}/api/rtb/compat/[\\w-]+\\.json$`))
    expect((await main.console(lane())).body.lane.compat).toEqual(body.compat)
  })

  it('answers a conflict while the single-step ping is off', async () => {
    const off = { status: 409, code: 'conflict', details: { compat: { enabled: false } } }
    expect(refusalOf(await post('compat-token/rotate'))).toEqual(off)
    await compat(true)
    await compat(false)
    expect(refusalOf(await post('compat-token/rotate'))).toEqual(off)
    expect(statusCodeAndFields(await post('compat-token/rotate', { token: 'mine' }))).toEqual([
      400,
      'validation_error',
      ['token'],
    ])
  })

  it('refuses a missing key, a revoked key and a lapsed workspace', () =>
    expectRefusals((id, desk) => post('compat-token/rotate', {}, id, desk)))
})

describe(documentLine('POST /api/publishers/keys/:keyId/signing-secret/rotate'), () => {
  it('answers the secret in this response only', async () => {
    const { status, body } = await post('signing-secret/rotate')
    expect([status, Object.keys(body).toSorted()]).toEqual([200, ['note', 'signingSecret']])
    expect(body.signingSecret).toMatch(/^rks_[\w-]{43}$/)
    const read = await main.console(at())
    expect(read.body.key.hasSigningSecret).toBe(true)
    expect(read.text).not.toContain(body.signingSecret)
    expect(statusCodeAndFields(await post('signing-secret/rotate', { secret: 'mine' }))).toEqual([
      400,
      'validation_error',
      ['secret'],
    ])
  })

  it('refuses a missing key, a revoked key and a lapsed workspace', () =>
    expectRefusals((id, desk) => post('signing-secret/rotate', {}, id, desk)))
})

describe(documentLine('limit: Signing secret rotation'), () => {
  it('has no grace: the response has none, and a request with one is refused', async () => {
    const first = (await post('signing-secret/rotate')).body
    const second = (await post('signing-secret/rotate')).body
    expect(second.signingSecret).not.toBe(first.signingSecret)
    expect(second.note).toMatch(/stopped working/)
    expect(statusCodeAndFields(await post('signing-secret/rotate', { graceMinutes: 5 }))).toEqual([
      400,
      'validation_error',
      ['graceMinutes'],
    ])
    expect(await key()).toMatchObject({ state: 'active', graceEndsAt: null })
  })
})

it('a terminated publisher keeps its keys, permanently revoked', async () => {
  await terminate()
  expect(await key()).toMatchObject({ state: 'revoked', revokedAt: expect.any(String), graceEndsAt: null })
})
