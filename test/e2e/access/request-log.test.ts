import { expect } from 'vitest'
import type { StreamWriter } from '../../../src/runtime/write/stream-writer.ts'
import { type ApiResponse, type Json, queryString } from '../../support/e2e/api-client.ts'
import { documentLine } from '../../support/e2e/document-1.ts'
import { type CreatedKey, createKeyClient } from '../../support/e2e/key-client.ts'
import { waitUntil } from '../../support/e2e/server.ts'
import { suite } from '../../support/e2e/suite.ts'
import { createTenantWorkspace } from '../../support/e2e/world.ts'

async function world(writer: StreamWriter) {
  const main = await createTenantWorkspace(writer, { name: 'Main', sandbox: false })
  await main.buyer({ name: 'Acme' })
  return { main }
}

const { it, describe, the, server } = suite('the request log of an API key', world)
const keys = createKeyClient(server, () => the.main.session)

const code = ({ status, body }: ApiResponse) => [status, body?.error?.code]
const log = async ({ id }: CreatedKey, filter: Json = {}) =>
  (await keys.send('GET', `/${id}/requests${queryString(filter)}`)).body
/** The log once it has `total` requests. */
const logged = (key: CreatedKey, total: number) =>
  waitUntil(`${total} requests in the log`, async () => {
    const page = await log(key)
    return page.total >= total && page
  })

it('the request log holds every request of a key, refused ones too, newest first', async () => {
  const key = await keys.create({ scopes: ['buyers:read'], rateLimitPerMinute: 5 })
  const requests = [
    ['/api/v1/buyers?page=1&pageSize=2', 200, null],
    ['/api/tracking/buyers', 200, null],
    ['/api/v1/buyers/nonsense', 404, 'not_found'],
    ['/api/v1/buyers?page=0', 400, 'validation_error'],
    ['/api/v1/campaigns', 403, 'insufficient_scope'],
    ['/api/v1/buyers?last=1', 200, null],
    ['/api/v1/buyers', 429, 'rate_limited'],
  ] as const
  const from = new Date().toISOString()
  for (const [path, status] of requests) {
    const answer = await key.ask(path, { headers: { 'user-agent': 'ledger-client/2' } })
    expect(answer.status, path).toBe(status)
  }
  const { data, ...page } = await logged(key, requests.length)
  expect(page).toEqual({ page: 1, pageSize: 50, total: 7, totalPages: 1, nextCursor: null })
  expect(data.map(({ path, query, status, errorCode }: Json) => [path, query, status, errorCode])).toEqual(
    requests
      .map(([path, status, errorCode]) => [...`${path}?`.split('?').slice(0, 2), status, errorCode])
      .map(([path, sent, ...rest]) => [path, sent === '' ? null : sent, ...rest])
      .toReversed(),
  )
  expect(data[0]).toEqual({
    id: expect.stringMatching(/^[0-9a-f-]{36}$/),
    at: expect.stringMatching(/^\d{4}-.*\.\d{3}Z$/),
    method: 'GET',
    path: '/api/v1/buyers',
    query: null,
    status: 429,
    ms: expect.any(Number),
    ip: '127.0.0.1',
    userAgent: 'ledger-client/2',
    errorCode: 'rate_limited',
  })
  expect((await keys.read(key.id)).lastUsedAt).toBe(data[0].at)

  const statuses = async (filter: Json) => (await log(key, filter)).data.map(({ status }: Json) => status)
  expect(await statuses({ status: 404 })).toEqual([404])
  expect(await statuses({ method: 'GET', status: 200 })).toEqual([200, 200, 200])
  expect(await statuses({ method: 'POST' })).toEqual([])
  expect(await statuses({ from })).toHaveLength(7)
  expect(await statuses({ to: from })).toEqual([])
  expect(await statuses({ from: data[0].at })).toContain(429)
  expect(await statuses({ to: data[6].at })).toEqual([])
  expect(await statuses({ pageSize: 2, page: 2 })).toEqual([403, 400])
  for (const filter of [
    { status: 99 },
    { status: 'ok' },
    { method: 'LOOK' },
    { from: 'soon' },
    { from, to: '2020-01-01' },
  ])
    expect(code(await keys.send('GET', `/${key.id}/requests${queryString(filter)}`))).toEqual([400, 'validation_error'])
})

it('the request log holds no body, no secret, and no request of an invalid key', async () => {
  const key = await keys.create({ name: 'Quiet', scopes: ['buyers:read'] })
  const body = { note: 'a body that must not be kept' }
  await key.ask('/api/v1/buyers', { method: 'POST', body })
  await key.ask(`/api/v1/buyers?q=${key.secret}&access_token=hunter22&page=1`)
  const { data } = await logged(key, 1)
  expect(data.map((row: Json) => row.query)).toEqual(['q=svc_live_•••&access_token=•••&page=1'])
  const rotated = await keys.send('POST', `/${key.id}/rotate`, { graceMinutes: 0 })
  expect((await key.ask('/api/v1/buyers')).status).toBe(401)
  const successor: CreatedKey = { ...key, secret: rotated.body.key }
  expect(await keys.statusAndCode(successor.secret, '/api/v1/buyers')).toEqual([200])
  const text = JSON.stringify(await logged(key, 2))
  expect(text).not.toMatch(/must not be kept|hunter22/)
  expect(text).not.toContain(key.secret)
  expect((await log(key)).total).toBe(2)
})

it(documentLine('limit: Request log query stored'), async () => {
  const key = await keys.create({ scopes: ['buyers:read'] })
  const sent = (bytes: number) => {
    const start = 'caller=%2B13125550100&q='
    return `${start}${'x'.repeat(bytes - start.length)}`
  }
  await key.ask(`/api/v1/buyers?${sent(4_096)}`)
  await key.ask(`/api/v1/buyers?${sent(4_097)}`)
  const { data } = await logged(key, 2)
  expect(data.map((row: Json) => row.query)).toEqual(['caller&q', sent(4_096)])
})

describe('pages', () => {
  const rows = 201
  let busy: CreatedKey

  it(documentLine('limit: Default page size'), async () => {
    busy = await keys.create({ name: 'Busy', scopes: ['buyers:read'], rateLimitPerMinute: 1_200 })
    for (let n = 0; n < rows; n += 40)
      await Promise.all(Array.from({ length: Math.min(40, rows - n) }, () => busy.ask('/api/v1/buyers')))
    const page = await logged(busy, rows)
    expect([page.pageSize, page.data.length, page.total, page.totalPages]).toEqual([50, 50, rows, 5])
    await Promise.all(Array.from({ length: 26 }, (_, n) => keys.create({ name: `Page ${n}` })))
    const { body } = await keys.send('GET', '')
    expect([body.pageSize, body.data.length]).toEqual([25, 25])
  })

  it(documentLine('limit: Largest page size'), async () => {
    for (const [pageSize, size] of [
      [199, 199],
      [200, 200],
      [201, 200],
      [1_000_000, 200],
    ]) {
      const page = await log(busy, { pageSize })
      expect([page.pageSize, page.data.length, page.total]).toEqual([size, size, rows])
    }
    expect((await log(busy, { pageSize: 200, page: 2 })).data).toHaveLength(1)
    for (const pageSize of [0, -1, 1.5, 'all'])
      expect(code(await keys.send('GET', `${queryString({ pageSize })}`))).toEqual([400, 'validation_error'])
    expect((await keys.send('GET', '?pageSize=201')).body.pageSize).toBe(200)
  })
})
