import { expect } from 'vitest'
import type { StreamWriter } from '../../../src/runtime/write/stream-writer.ts'
import {
  errorWithoutRequestId,
  type Json,
  queryString,
  statusCodeAndFields,
  UNKNOWN_ID,
} from '../../support/e2e/api-client.ts'
import { documentLine } from '../../support/e2e/document-1.ts'
import { expectLengths, expectRanges, refusalOf } from '../../support/e2e/ranges.ts'
import { suite } from '../../support/e2e/suite.ts'
import { archiveCampaign, cancelSubscription, createTenantWorkspace } from '../../support/e2e/world.ts'

const PATH = '/api/tracking/pools'
const AS_CREATED = {
  publisherId: null,
  status: 'active',
  ttlSeconds: 1_800,
  params: [],
  domains: [],
  fallbackNumberId: null,
  display: 'formatted',
  counts: { numbers: 0, leased: 0 },
}
const params = (count: number) => Array.from({ length: count }, (_, n) => ({ key: `k${n}` }))
/** Bodies refused as `validation_error`, with the field in `details`. */
const ILL_FORMED: readonly (readonly [string, Json])[] = [
  ['name', { name: ' ' }],
  ['status', { status: 'archived' }],
  ['params', { params: [{ key: 'gclid' }, { key: 'GCLID' }] }],
  ['params.0.key', { params: [{ key: 'a b' }] }],
  ['params.0.key', { params: [{ key: 'x'.repeat(65) }] }],
  ['params.0.prefix', { params: [{ key: 'utm_', prefix: 1 }] }],
  ['params.0.value', { params: [{ key: 'utm_', value: 1 }] }],
  ['domains.0', { domains: ['https://example.com'] }],
  ['domains.0', { domains: ['example.com:8080'] }],
  ['domains.0', { domains: ['*'] }],
  ['domains.0', { domains: ['bücher.example'] }],
  ['domains', { domains: 'example.com' }],
  ['fallbackNumberId', { fallbackNumberId: '+13105550100' }],
  ['publisherId', { publisherId: 7 }],
  ['display', { display: 'dots' }],
  ['publicKey', { publicKey: `pk_${'0'.repeat(24)}` }],
  ['counts', { counts: { numbers: 5 } }],
]

async function world(writer: StreamWriter) {
  const main = await createTenantWorkspace(writer, { name: 'Main' })
  const target = await main.target(await main.buyer({ name: 'Acme' }))
  const [north, south, laneless] = [
    await main.publisher({ name: 'North' }),
    await main.publisher({ name: 'South' }),
    await main.publisher({ name: 'Laneless' }),
  ]
  const line = await main.line({ name: 'Solar' }, [target], { publisherId: north })
  const elsewhere = await main.line({ name: 'Elsewhere' }, [target])
  const shelved = await main.line({ name: 'Shelved' }, [target])
  await archiveCampaign(main, shelved)
  const free: string[] = []
  while (free.length < 8) free.push((await main.number()).numberId)
  const other = await createTenantWorkspace(writer, { name: 'Other' })
  const abroad = await other.line({ name: 'Abroad' }, [await other.target(await other.buyer({ name: 'Far' }))])
  const lapsed = await createTenantWorkspace(writer, { name: 'Lapsed' })
  await cancelSubscription(lapsed)
  return { main, free, north, south, laneless, line, elsewhere, shelved, other, abroad, lapsed }
}

const { it, describe, beforeAll, beforeEach, main, the, tenant } = suite('number pools', world)
const other = tenant((the) => the.other)
const lapsed = tenant((the) => the.lapsed)

let campaignId: string

beforeAll(async () => {
  campaignId = the.line.campaignId
  const lane = `/api/tracking/campaigns/${campaignId}/publishers/${the.south}`
  expect((await main.console(lane, { method: 'PUT', body: {} })).status).toBe(201)
})

const create = (more: Json = {}, { console } = main) =>
  console(PATH, { method: 'POST', body: { name: 'Site', campaignId, ...more } })
const created = async (more: Json = {}) => {
  const answer = await create(more)
  expect(answer.status, answer.text).toBe(201)
  return answer.body.pool
}
const patch = (id: string, body: Json) => main.console(`${PATH}/${id}`, { method: 'PATCH', body })
const remove = (id: string) => main.console(`${PATH}/${id}`, { method: 'DELETE' })
const read = async (id: string) => (await main.console(`${PATH}/${id}`)).body.pool
const numberOf = async (id: string) =>
  (await main.console('/api/tracking/numbers?pageSize=200')).body.data.find((row: Json) => row.id === id)
const assign = (id: string, body: Json) => main.console(`/api/tracking/numbers/${id}`, { method: 'PATCH', body })

describe('POST /api/tracking/pools', () => {
  it('creates an active pool with every default and a public key of its own', async () => {
    const [pool, another] = [await created(), await created()]
    expect(pool).toMatchObject({ ...AS_CREATED, name: 'Site', campaignId })
    expect(Object.keys(pool).toSorted()).toEqual(
      [...Object.keys(AS_CREATED), 'id', 'name', 'campaignId', 'publicKey', 'createdAt', 'updatedAt'].toSorted(),
    )
    expect(pool.publicKey).toMatch(/^pk_[0-9a-f]{24}$/)
    expect(another.publicKey).not.toBe(pool.publicKey)
    expect(await read(pool.id)).toEqual(pool)
  })

  it('keeps every setting that is sent: keys and hosts in lower case, each host once', async () => {
    const pool = await created({
      publisherId: the.north,
      fallbackNumberId: the.line.numberId,
      status: 'paused',
      params: [{ key: 'GCLID' }, { key: 'utm_', prefix: true }],
      domains: ['Example.com', '*.example.com', 'example.COM', 'localhost'],
      display: 'e164',
    })
    expect(pool).toMatchObject({
      publisherId: the.north,
      fallbackNumberId: the.line.numberId,
      status: 'paused',
      params: [
        { key: 'gclid', prefix: false },
        { key: 'utm_', prefix: true },
      ],
      domains: ['example.com', '*.example.com', 'localhost'],
      display: 'e164',
    })
  })

  it.each(ILL_FORMED)('%s: validation_error for %o', async (field, wrong) => {
    expect(statusCodeAndFields(await create(wrong))).toEqual([400, 'validation_error', [field]])
  })

  it('accepts names and times to live within their ranges and none outside', async () => {
    await expectLengths([['name', 120]], create)
    await expectRanges([['ttlSeconds', 60, 86_400]], create, (body) => body.pool)
    const hosts = Array.from({ length: 51 }, (_, n) => `h${n}.example.com`)
    expect((await create({ domains: hosts.slice(0, 50) })).status).toBe(201)
    expect(statusCodeAndFields(await create({ domains: hosts }))).toEqual([400, 'validation_error', ['domains']])
    expect(statusCodeAndFields(await create({ campaignId: undefined }))).toEqual([
      400,
      'validation_error',
      ['campaignId'],
    ])
  })

  it('answers 404 for records of another workspace, 409 for a conflict, 402 on a lapsed subscription', async () => {
    const foreign = the.abroad.numberId
    expect((await create({ campaignId: the.abroad.campaignId })).body.error.message).toBe('Campaign not found.')
    expect((await create({ publisherId: UNKNOWN_ID })).body.error.message).toBe('Publisher not found.')
    expect((await create({ fallbackNumberId: foreign })).body.error.message).toBe('Number not found.')
    expect(refusalOf(await create({ campaignId: the.shelved.campaignId }))).toMatchObject({
      status: 409,
      code: 'conflict',
      details: { status: 'archived' },
    })
    expect(refusalOf(await create({ publisherId: the.laneless }))).toEqual({
      status: 409,
      code: 'publisher_not_on_campaign',
      details: { publisherId: the.laneless, campaignId },
    })
    expect(statusCodeAndFields(await create({ fallbackNumberId: the.elsewhere.numberId }))).toEqual([
      409,
      'conflict',
      ['fallbackNumberId'],
    ])
    expect(refusalOf(await create({}, lapsed))).toMatchObject({ status: 402, code: 'subscription_inactive' })
  })
})

describe(documentLine('limit: Pool parameters kept'), () => {
  it('a pool lists 20 keys, and no 21st', async () => {
    expect((await created({ params: params(20) })).params).toHaveLength(20)
    expect(statusCodeAndFields(await create({ params: params(21) }))).toEqual([400, 'validation_error', ['params']])
  })
})

describe('PATCH /api/tracking/pools/:id', () => {
  it('changes what is sent and keeps the rest', async () => {
    const pool = await created({ domains: ['example.com'] })
    const { status, body } = await patch(pool.id, { status: 'paused', ttlSeconds: 60 })
    expect(status).toBe(200)
    const { updatedAt, ...rest } = { ...pool, status: 'paused', ttlSeconds: 60 }
    expect(body.pool).toMatchObject(rest)
    expect(body.pool.updatedAt > updatedAt).toBe(true)
    expect((await patch(pool.id, { domains: [] })).body.pool.domains).toEqual([])
  })

  it.each([...ILL_FORMED, ['campaignId', { campaignId: UNKNOWN_ID }] as const])(
    '%s: validation_error for %o',
    async (field, wrong) => {
      expect(statusCodeAndFields(await patch((await created()).id, wrong))).toEqual([400, 'validation_error', [field]])
    },
  )

  it('refuses an empty change and conflicting settings', async () => {
    const { id, updatedAt } = await created()
    expect(statusCodeAndFields(await patch(id, {}))).toEqual([400, 'bad_request', []])
    expect((await patch(id, { status: 'active' })).body.pool.updatedAt).toBe(updatedAt)
    expect(statusCodeAndFields(await patch(id, { publisherId: the.laneless }))[1]).toBe('publisher_not_on_campaign')
    expect(statusCodeAndFields(await patch(id, { fallbackNumberId: the.elsewhere.numberId }))[1]).toBe('conflict')
  })

  it('a missing, a malformed and another workspace’s pool give the same 404 on every route', async () => {
    const foreign = (await create({ campaignId: the.abroad.campaignId }, other)).body.pool.id
    for (const send of [
      (id: string) => patch(id, { name: 'Mine' }),
      (id: string) => main.console(`${PATH}/${id}`),
      (id: string) => main.console(`${PATH}/${id}/key/rotate`, { method: 'POST', body: {} }),
      remove,
    ]) {
      const answers = await Promise.all([UNKNOWN_ID, 'x', foreign].map(send))
      expect(new Set(answers.map(errorWithoutRequestId)).size).toBe(1)
      expect(answers[0]?.body.error).toMatchObject({ code: 'not_found', message: 'Pool not found.' })
    }
  })
})

describe('a pool with numbers', () => {
  let numberId: string
  let pool: Json
  const unused = () => the.free.pop() ?? expect.fail('no number is left')

  beforeEach(async () => {
    numberId = unused()
    pool = await created({ publisherId: the.north })
    const joined = await assign(numberId, { poolId: pool.id })
    expect(joined.status, joined.text).toBe(200)
  })

  it('counts its numbers, and refuses a number of its rotation as fallback', async () => {
    expect(await read(pool.id)).toMatchObject({ counts: { numbers: 1, leased: 0 } })
    expect(refusalOf(await patch(pool.id, { fallbackNumberId: numberId }))).toMatchObject({
      status: 409,
      code: 'conflict',
      details: { poolId: pool.id },
    })
  })

  it('moves its numbers to its new publisher', async () => {
    expect((await patch(pool.id, { publisherId: the.south })).status).toBe(200)
    expect(await numberOf(numberId)).toMatchObject({ publisher: { id: the.south }, pool: { id: pool.id } })
    expect((await patch(pool.id, { publisherId: null })).body.pool.publisherId).toBeNull()
    expect(await numberOf(numberId)).toMatchObject({ publisher: null, campaign: { id: campaignId } })
  })

  it('releases its numbers when deleted: they keep campaign and publisher', async () => {
    const { status, body } = await remove(pool.id)
    expect([status, body]).toEqual([200, { deleted: pool.id, numbersFreed: 1 }])
    expect(await numberOf(numberId)).toMatchObject({
      pool: null,
      campaign: { id: campaignId },
      publisher: { id: the.north },
    })
    expect((await remove(pool.id)).status).toBe(404)
  })

  it('loses a fallback that leaves the campaign, and refuses its fallback in a rotation', async () => {
    const spare = unused()
    await assign(spare, { campaignId })
    expect((await patch(pool.id, { fallbackNumberId: spare })).status).toBe(200)
    expect(refusalOf(await assign(spare, { poolId: pool.id }))).toEqual({
      status: 409,
      code: 'number_is_fallback',
      details: { poolId: pool.id },
    })
    const moved = await assign(spare, { campaignId: the.elsewhere.campaignId })
    expect(moved.body.warnings).toEqual(expect.arrayContaining([expect.stringMatching(/fallback/)]))
    expect((await read(pool.id)).fallbackNumberId).toBeNull()
  })
})

describe('POST /api/tracking/pools/:id/key/rotate', () => {
  it('replaces the public key', async () => {
    const pool = await created()
    const { status, body } = await main.console(`${PATH}/${pool.id}/key/rotate`, { method: 'POST', body: {} })
    expect(status).toBe(200)
    expect(body.pool.publicKey).toMatch(/^pk_[0-9a-f]{24}$/)
    expect(body.pool.publicKey).not.toBe(pool.publicKey)
    expect(await read(pool.id)).toEqual(body.pool)
  })
})

describe('GET /api/tracking/pools', () => {
  const list = async (filter: Json) => (await main.console(`${PATH}${queryString(filter)}`)).body

  it('lists pools by page, newest first, and by every filter', async () => {
    const campaign = the.elsewhere.campaignId
    const one = await created({ campaignId: campaign, name: 'Alpha' })
    const two = await created({ campaignId: campaign, name: 'Beta', status: 'paused' })
    const names = async (filter: Json) =>
      (await list({ campaignId: campaign, ...filter })).data.map(({ name }: Json) => name)
    expect(await list({ campaignId: campaign })).toEqual({
      data: [two, one],
      page: 1,
      pageSize: 25,
      total: 2,
      totalPages: 1,
      nextCursor: null,
    })
    expect(await names({ q: 'ALPH' })).toEqual(['Alpha'])
    expect(await names({ q: two.publicKey })).toEqual(['Beta'])
    expect(await names({ status: 'paused' })).toEqual(['Beta'])
    expect(await names({ publisherId: the.north })).toEqual([])
    expect(await names({ sort: 'name', dir: 'asc', pageSize: 1, page: 2 })).toEqual(['Beta'])
    expect((await lapsed.console(PATH)).body.total).toBe(0)
  })

  it.each([
    ['status', { status: 'archived' }],
    ['campaignId', { campaignId: 'x' }],
    ['q', { q: 'x'.repeat(121) }],
    ['page', { page: 0 }],
  ])('%s: validation_error for %o', async (field, filter) => {
    expect(statusCodeAndFields(await main.console(`${PATH}${queryString(filter)}`))).toEqual([
      400,
      'validation_error',
      [field],
    ])
  })
})
