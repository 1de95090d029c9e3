import { gzipSync } from 'node:zlib'
import { expect } from 'vitest'
import type { StreamWriter } from '../../../src/runtime/write/stream-writer.ts'
import { type Json, statusAndCode, statusCodeAndFields } from '../../support/e2e/api-client.ts'
import { laneSuite } from '../../support/e2e/lane-suite.ts'
import { createPublisherClient } from '../../support/e2e/publisher-client.ts'
import { openPublisherLane, type PublisherLane } from '../../support/e2e/publisher-lane.ts'
import { sendRaw } from '../../support/e2e/raw-request.ts'
import { waitUntil } from '../../support/e2e/server.ts'
import { createTenantWorkspace } from '../../support/e2e/world.ts'

const CALLER = '+13105550123'
const PING = '/api/rtb/v1/ping'
const LIMIT = 32 * 1024

async function world(writer: StreamWriter) {
  const main = await createTenantWorkspace(writer, { name: 'Main' })
  const plan = [await main.target(await main.buyer({ name: 'Acme' }))]
  const lane = (name: string) => openPublisherLane(main, name, { plan })
  const lanes = {
    bodies: await lane('Bodies'),
    compat: await lane('Compat'),
    ratePerMinute: await lane('Minute'),
    ratePerHour: await lane('Hour'),
    ratePerDay: await lane('Day'),
    rows: await lane('Rows'),
    posts: await lane('Posts'),
  }
  return { main, lanes }
}

const { it, describe, beforeAll, main, the, server, desk, by, log } = laneSuite(
  'pings refused before they are judged',
  world,
)

beforeAll(async () => {
  await desk.changeKey(the.lanes.bodies, { ratePerMinute: 1_000 })
})

const rowsOf = async ({ keyId }: PublisherLane): Promise<readonly Json[]> =>
  (await log.all('PingRefused')).filter((row) => row.keyId === keyId)

/** The row that a request adds: as its event, which the ledger shows too. */
async function rowOf(lane: PublisherLane, send: () => Promise<unknown>): Promise<Json> {
  const before = (await rowsOf(lane)).length
  await send()
  const rows = await waitUntil('The refusal is recorded', async () => {
    const found = await rowsOf(lane)
    return found.length > before && found
  })
  expect(rows).toHaveLength(before + 1)
  const row = rows.at(-1)
  const { body } = await waitUntil('The ledger has the row', async () => {
    const read = await main.rest(`/api/v1/pings/${row.ref}`)
    return read.status === 200 && read
  })
  const { ref, outcome, statusCode, reason } = row
  expect(body.ping).toMatchObject({ direction: 'inbound', ref, outcome, statusCode, reason, callerNumber: null })
  return row
}

const UNREADABLE = { code: 1500, reason: 'internal', sentence: 'The body of the ping cannot be read.' }
const errorRow = (statusCode: number) => ({
  outcome: 'error',
  statusCode,
  reason: UNREADABLE,
  ref: expect.stringMatching(/^AU-\d{10}$/),
  protocol: 'rtb_v1',
  environment: 'production',
})

it.each<[string, number, string, Json]>([
  ['is no JSON', 400, 'validation_error', { body: '{"callerNumber":' }],
  ['is text that is no object', 400, 'validation_error', { body: '"+13105550123"' }],
  ['is a list', 400, 'validation_error', { body: '[]' }],
  ['is nested too deep', 400, 'validation_error', { body: `{"tags":${'{"a":'.repeat(40)}1${'}'.repeat(40)}}` }],
  ['has a wrong field', 400, 'validation_error', { body: '{"tmaxMs":1}' }],
  ['is of another type', 415, 'unsupported_media_type', { body: '{}', headers: { 'content-type': 'text/plain' } }],
  [
    'is a form',
    415,
    'unsupported_media_type',
    { body: 'callerNumber=1', headers: { 'content-type': 'application/x-www-form-urlencoded' } },
  ],
])('a body that %s is answered with %i and adds an error row', async (_what, status, code, sent) => {
  const row = await rowOf(the.lanes.bodies, async () => {
    expect(statusAndCode(await by('bodies').send(PING, { method: 'POST', ...sent }))).toEqual([status, code])
  })
  expect(row).toMatchObject(errorRow(status))
})

/** A request over a connection of its own, since fetch cannot send it. */
async function rawPing(headers: readonly string[], parts: readonly (string | Uint8Array)[]) {
  const { routingKey } = the.lanes.bodies
  const head = [
    `POST ${PING} HTTP/1.1`,
    `host: ${new URL(server.baseUrl).host}`,
    `authorization: Bearer ${routingKey}`,
    'content-type: application/json',
    'connection: close',
    ...headers,
  ]
  const { status, text } = await sendRaw(server.baseUrl, [`${head.join('\r\n')}\r\n\r\n`, ...parts])
  const code = /"code":"(\w+)"/.exec(text)?.[1]
  return [status, code]
}

const chunk = (body: string) => `${body.length.toString(16)}\r\n${body}\r\n`
const large = (bytes: number) => `{"callerNumber":"${CALLER}"}`.padEnd(bytes, ' ')

describe('the limit of 32 KB', () => {
  it('lets a body of 32 KB through, with its length or in chunks', async () => {
    const body = large(LIMIT)
    expect((await rawPing([`content-length: ${body.length}`], [body]))[0]).toBe(200)
    expect(
      (await rawPing(['transfer-encoding: chunked'], [chunk(body.slice(0, 9)), chunk(body.slice(9)), '0\r\n\r\n']))[0],
    ).toBe(200)
  })

  it('refuses a byte more by its content-length, before the body comes', async () => {
    const row = await rowOf(the.lanes.bodies, async () => {
      expect(await rawPing([`content-length: ${LIMIT + 1}`], [])).toEqual([413, 'payload_too_large'])
    })
    expect(row).toMatchObject(errorRow(413))
  })

  it('refuses a byte more in chunks', async () => {
    const body = large(LIMIT + 1)
    const row = await rowOf(the.lanes.bodies, async () => {
      const parts = [chunk(body.slice(0, LIMIT)), chunk(body.slice(LIMIT)), '0\r\n\r\n']
      expect(await rawPing(['transfer-encoding: chunked'], parts)).toEqual([413, 'payload_too_large'])
    })
    expect(row).toMatchObject(errorRow(413))
  })

  it('counts the bytes as they came: a compressed body is never opened', async () => {
    const bomb = gzipSync(Buffer.alloc(1_000_000, ' '))
    expect(bomb.length).toBeLessThan(LIMIT)
    const row = await rowOf(the.lanes.bodies, async () => {
      const headers = [`content-length: ${bomb.length}`, 'content-encoding: gzip']
      expect(await rawPing(headers, [bomb])).toEqual([415, 'unsupported_media_type'])
    })
    expect(row).toMatchObject(errorRow(415))
  })
})

it('bytes that are no UTF-8 are answered with 400 and add an error row', async () => {
  const body = Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d])
  const row = await rowOf(the.lanes.bodies, async () => {
    expect(await rawPing([`content-length: ${body.length}`], [body])).toEqual([400, 'validation_error'])
  })
  expect(row).toMatchObject(errorRow(400))
})

it('a wrong credential adds no row, whatever its body', async () => {
  const before = (await log.all('PingRefused')).length
  const ask = createPublisherClient(server, () => 'rk_live_unknown').send
  for (const body of ['{}', '{', large(LIMIT + 1)])
    expect([401, 413]).toContain((await ask(PING, { method: 'POST', body })).status)
  await by('bodies').won({ callerNumber: CALLER })
  expect(await log.all('PingRefused')).toHaveLength(before)
})

it('a single-step ping that cannot be read adds a row of its protocol', async () => {
  const url = (await desk.compat(the.lanes.compat)).slice(server.baseUrl.length)
  const headers = { 'content-type': 'text/plain' }
  const row = await rowOf(the.lanes.compat, async () => {
    const sent = { method: 'POST', body: 'CID=1', headers }
    expect((await by('compat').send(url, sent)).status).toBe(415)
  })
  expect(row).toMatchObject({ ...errorRow(415), protocol: 'rtb_v1_compat' })
  const tooLarge = await rowOf(the.lanes.compat, async () => {
    expect((await by('compat').send(url, { method: 'POST', body: large(LIMIT + 1) })).status).toBe(413)
  })
  expect(tooLarge).toMatchObject({ ...errorRow(413), protocol: 'rtb_v1_compat' })
})

describe.each(['ratePerMinute', 'ratePerHour', 'ratePerDay'] as const)('the limit %s of a key', (field) => {
  it('answers 429 with Retry-After past it, counts no refused request, and adds rate_limited rows', async () => {
    const lane = the.lanes[field]
    await desk.changeKey(lane, { [field]: 3 })
    for (let n = 0; n < 3; n += 1) await by(field).won({ callerNumber: CALLER })
    const row = await rowOf(lane, async () => {
      const answer = await by(field).ping({ callerNumber: CALLER })
      expect(statusAndCode(answer)).toEqual([429, 'rate_limited'])
      const longest = { ratePerMinute: 60, ratePerHour: 3_600, ratePerDay: 86_400 }[field]
      expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(field === 'ratePerMinute' ? 0 : 60)
      expect(Number(answer.headers.get('retry-after'))).toBeLessThanOrEqual(longest)
    })
    const reason = { code: 1024, reason: 'rate_limited', sentence: 'The key has used up its rate.' }
    expect(row).toMatchObject({ outcome: 'rate_limited', statusCode: 429, reason })
    await by(field).ping({ callerNumber: CALLER })
    // Had the two refused requests been counted, the new limit would be used up.
    await desk.changeKey(lane, { [field]: 5 })
    for (let n = 0; n < 2; n += 1) await by(field).won({ callerNumber: CALLER })
    expect((await by(field).ping()).status).toBe(429)
  })
})

it('a flood over the rate adds at most as many rows as the rate allows pings in a minute', async () => {
  const lane = the.lanes.rows
  await desk.changeKey(lane, { ratePerMinute: 2 })
  const answers = await Promise.all(Array.from({ length: 12 }, () => by('rows').ping({ callerNumber: CALLER })))
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(2)
  expect(answers.filter(({ status }) => status === 429)).toHaveLength(10)
  expect(await rowsOf(lane)).toHaveLength(2)
})

it('a post that cannot be read is answered by its fields', async () => {
  const post = (body: Json) => by('posts').send('/api/rtb/v1/post', { method: 'POST', body })
  const { auctionId } = await by('posts').won({ callerNumber: CALLER })
  const named = async (body: Json) => statusCodeAndFields(await post(body))
  const refused = (...fields: readonly string[]) => [400, 'validation_error', fields]
  expect(await named({})).toEqual(refused('auctionId', 'callerNumber'))
  expect(await named({ auctionId: 'x', callerNumber: CALLER })).toEqual(refused('auctionId'))
  expect(await named({ auctionId, callerNumber: null })).toEqual(refused('callerNumber'))
  for (const callerNumber of ['', 'anonymous', '12', '+1310555012345678'])
    expect(await named({ auctionId, callerNumber })).toEqual(refused('callerNumber'))
  expect(await named('{')).toEqual(refused('body'))
  expect((await post(large(LIMIT + 1))).status).toBe(413)
})
