import { createServer, type Server as HttpServer } from 'node:http'
import { expect } from 'vitest'
import type { StreamWriter } from '../../../src/runtime/write/stream-writer.ts'
import { errorWithoutRequestId, type Json, UNKNOWN_ID } from '../../support/e2e/api-client.ts'
import { documentLine } from '../../support/e2e/document-1.ts'
import { listenLocally } from '../../support/e2e/listen.ts'
import { refusalOf } from '../../support/e2e/ranges.ts'
import { suite } from '../../support/e2e/suite.ts'
import { createTenantWorkspace } from '../../support/e2e/world.ts'
import { storeUncheckedRtb } from '../../support/fixtures/store-target.ts'

const PATH = '/api/tracking/targets'

async function world(writer: StreamWriter) {
  const main = await createTenantWorkspace(writer, { name: 'Main' })
  const buyer = await main.buyer({ name: 'Buyer' })
  const other = await createTenantWorkspace(writer, { name: 'Other' })
  const foreign = await other.target(await other.buyer({ name: 'Foreign' }))
  const earlier = await main.target(buyer, { type: 'rtb', revenueCents: null, status: 'draft' })
  await main.act(storeUncheckedRtb, { targetId: earlier, rtb: { bidPath: '$[0,0][0,0]', acceptPath: '$..ok' } })
  return { main, buyer, foreign, earlier }
}

const { it, describe, beforeAll, afterAll, main, the } = suite('trying targets out', world)

let n = 0
const created = async (body: Json): Promise<Json> => {
  n += 1
  const sent = { name: `Target ${n}`, buyerId: the.buyer, ...body }
  const answer = await main.console(PATH, { method: 'POST', body: sent })
  expect(answer.status, answer.text).toBe(201)
  return answer.body.target
}
const tryOut = (id: string) => main.console(`${PATH}/${id}/test`, { method: 'POST', body: {} })
const read = async (id: string) => (await main.console(`${PATH}/${id}`)).body.target

describe(documentLine('POST /api/tracking/targets/:id/test'), () => {
  const requests: { readonly headers: Json; readonly body: string }[] = []
  let answer: Json = {}
  let status = 200
  let bidder: HttpServer
  let bidUrl = ''
  beforeAll(async () => {
    bidder = createServer((request, response) => {
      let body = ''
      request.on('data', (chunk) => {
        body += chunk
      })
      request.on('end', () => {
        requests.push({ headers: request.headers, body })
        if (status !== 0) response.writeHead(status).end(typeof answer === 'string' ? answer : JSON.stringify(answer))
      })
    })
    bidUrl = `http://127.0.0.1:${await listenLocally(bidder)}/ask`
  })
  afterAll(() => {
    bidder.closeAllConnections()
    bidder.close()
  })

  it.each([
    ['+13125550001', 'answered', 3_000, null],
    ['+15005550486', 'busy', 3_000, expect.stringContaining('486')],
    ['+15005550503', 'failed', 3_000, expect.stringContaining('503')],
    ['+15005550603', 'rejected', 3_000, expect.stringContaining('603')],
    ['+15005550480', 'no_answer', 25_000, expect.any(String)],
  ])('dials %s once: %s', async (destinationE164, result, latencyMs, error) => {
    const { id } = await created({ type: 'number', endpoint: { destinationE164 } })
    const before = await read(id)
    const { body } = await tryOut(id)
    expect(body).toEqual({ ok: result === 'answered', latencyMs, result, parsed: null, error })
    const lastHealthCheckAt = expect.stringMatching(/Z$/)
    expect(await read(id)).toEqual({ ...before, endpoint: { ...before.endpoint, lastHealthCheckAt } })
  })

  it('sends a bidder one request, marked as a test, and reads the answer by its paths', async () => {
    const rtb = { bidUrl, bidHeaders: { 'x-key': 's3' }, bidPath: '$.price', bidUnit: 'dollars', acceptPath: '$.ok' }
    const { id } = await created({ type: 'rtb', rtb })
    const calls = (await main.rest('/api/v1/calls')).body.total
    requests.length = 0
    answer = { ok: true, price: 12.5, destination: '+13125550002' }
    expect((await tryOut(id)).body).toEqual({
      ok: true,
      latencyMs: expect.any(Number),
      result: 'bid',
      parsed: {
        accepted: true,
        amountCents: 1_250,
        destination: '+13125550002',
        durationSeconds: null,
        expiresInSeconds: null,
        rejectReason: null,
      },
      error: null,
    })
    expect(requests).toHaveLength(1)
    expect(requests[0]?.headers).toMatchObject({ 'svc-test': '1', 'x-key': 's3', 'content-type': 'application/json' })
    expect(JSON.parse(requests[0]?.body ?? '')).toMatchObject({ test: true })
    answer = { ok: false, reason: 'No budget' }
    expect((await tryOut(id)).body).toMatchObject({
      ok: true,
      result: 'rejected',
      parsed: { rejectReason: 'No budget' },
    })
    expect((await main.rest('/api/v1/calls')).body.total).toBe(calls)
    expect(await read(id)).toMatchObject({ health: 'unknown', usage: { total: 0 } })
  })

  it('shows no header value that a bidder repeats in its reason', async () => {
    const secret = 'bidder-secret-4f9c'
    const { id } = await created({ type: 'rtb', rtb: { bidUrl, bidHeaders: { 'x-key': `Token ${secret}` } } })
    requests.length = 0
    answer = { accept: false, reason: `No such key: ${secret}` }
    const { text, body } = await tryOut(id)
    expect(requests.map(({ headers }) => headers['x-key'])).toEqual([`Token ${secret}`])
    expect(body).toMatchObject({ result: 'rejected', parsed: { rejectReason: 'No such key: •••' } })
    expect(text).not.toContain(secret)
  })

  it('does not ask a bidder whose stored path is refused now, and the target can be read, changed and mended', async () => {
    const id = the.earlier
    const change = (body: Json) => main.console(`${PATH}/${id}`, { method: 'PATCH', body })
    expect((await change({ dailyCap: 3, rtb: { bidUrl } })).body.target).toMatchObject({
      dailyCap: 3,
      rtb: { bidUrl, bidPath: '$[0,0][0,0]', acceptPath: '$..ok' },
    })
    const listed = (await main.console(`${PATH}?type=rtb`)).body.data
    expect(listed.find((row: Json) => row.id === id)).toMatchObject({ dailyCap: 3 })
    requests.length = 0
    answer = [[5]]
    expect(await tryOut(id)).toMatchObject({
      status: 200,
      body: {
        ok: false,
        latencyMs: 0,
        result: 'error',
        parsed: null,
        error: expect.stringMatching(/^The target's rtb\.bidPath is no longer accepted\. Must be a singular query/),
      },
    })
    expect(requests).toEqual([])
    const again = await change({ rtb: { bidPath: '$[0,0][0,0]' } })
    expect(refusalOf(again)).toEqual({
      status: 400,
      code: 'bad_request',
      details: { 'rtb.bidPath': expect.stringContaining('singular query') },
    })
    expect((await change({ rtb: { bidPath: '$[0][0]' } })).status).toBe(200)
    const { error } = (await tryOut(id)).body
    expect([error, requests]).toEqual([expect.stringContaining('rtb.acceptPath is no longer accepted'), []])
    expect((await change({ rtb: { acceptPath: null } })).status).toBe(200)
    expect((await tryOut(id)).body).toMatchObject({ ok: true, result: 'bid', parsed: { amountCents: 5 } })
  })

  it('reports what failed at a bidder', async () => {
    const { id } = await created({ type: 'rtb', rtb: { bidUrl, timeoutMs: 200 } })
    const outcome = async (code: number, said: Json) => {
      status = code
      answer = said
      const { body } = await tryOut(id)
      return [body.ok, body.result, body.error]
    }
    const sentence = expect.any(String)
    expect(await outcome(204, '')).toEqual([true, 'no_bid', null])
    expect(await outcome(200, {})).toEqual([true, 'no_bid', null])
    expect(await outcome(500, {})).toEqual([false, 'error', expect.stringContaining('500')])
    expect(await outcome(302, {})).toEqual([false, 'error', expect.stringContaining('302')])
    expect(await outcome(200, '<bid/>')).toEqual([false, 'error', sentence])
    expect(await outcome(200, 'x'.repeat(65_537))).toEqual([false, 'error', sentence])
    expect(await outcome(0, '')).toEqual([false, 'timeout', sentence])
    status = 200
  })

  it.each([
    'http://169.254.169.254/',
    'http://127.0.0.2/',
    'http://[::1]/',
    'http://2130706434/',
    'http://8.8.8.8:22/',
  ])('reaches no address inside, such as %s', async (url) => {
    const { id } = await created({ type: 'rtb', rtb: { bidUrl: url } })
    expect((await tryOut(id)).body).toMatchObject({
      ok: false,
      result: 'error',
      parsed: null,
      error: expect.any(String),
    })
  })

  it('needs a destination, and an existing target that is not archived', async () => {
    const { id } = await created({ type: 'number' })
    const conflict = { status: 409, code: 'conflict' }
    expect(refusalOf(await tryOut(id))).toEqual({ ...conflict, details: { destination: expect.any(String) } })
    await main.console(`${PATH}/${id}/status`, { method: 'POST', body: { status: 'archived' } })
    expect(refusalOf(await tryOut(id))).toEqual({ ...conflict, details: { status: 'archived' } })
    const absent = await Promise.all(['nope', UNKNOWN_ID, the.foreign].map(tryOut))
    expect(absent[0]).toMatchObject({ status: 404 })
    expect(new Set(absent.map(errorWithoutRequestId)).size).toBe(1)
  })
})
