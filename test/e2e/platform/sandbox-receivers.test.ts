import { expect } from 'vitest'
import { SANDBOX_RECEIVER } from '../../../src/domain/shared/limits.ts'
import type { StreamWriter } from '../../../src/runtime/write/stream-writer.ts'
import { type Json, statusAndCode, statusCodeAndFields, UNKNOWN_ID } from '../../support/e2e/api-client.ts'
import { suite } from '../../support/e2e/suite.ts'
import { createTenantWorkspace } from '../../support/e2e/world.ts'

async function world(writer: StreamWriter) {
  const main = await createTenantWorkspace(writer, { name: 'Main' })
  const other = await createTenantWorkspace(writer, { name: 'Other' })
  const real = await createTenantWorkspace(writer, { name: 'Real', sandbox: false })
  return { main, other, real }
}

const { it, main, tenant } = suite('receivers of the sandbox', world)

const PATH = '/api/sandbox/receivers'
const make = (body: Json = {}, console = main.console) => console(PATH, { method: 'POST', body })

/** A receiver, by its id and address. */
async function receiver(settings: Json = {}): Promise<{ readonly id: string; readonly url: string }> {
  const made = await make(settings)
  expect(made.status, made.text).toBe(201)
  return made.body
}

/** What a receiver got. */
async function requestsOf({ id }: { readonly id: string }): Promise<readonly Json[]> {
  const read = await main.console(`${PATH}/${id}`)
  expect(read.status, read.text).toBe(200)
  return read.body.requests
}

const post = (url: string, body: string | Uint8Array<ArrayBuffer>, headers: Readonly<Record<string, string>> = {}) =>
  fetch(url, { method: 'POST', headers, body })

it('tells its settings, the usual ones where none are sent', async () => {
  const { id, url } = await receiver()
  expect(new URL(url).pathname).toBe(`/api/sandbox/in/${id}`)
  expect((await main.console(`${PATH}/${id}`)).body).toEqual({
    receiver: { id, url, status: 200, latencyMs: 0, failFirst: 0 },
    requests: [],
  })
})

it('takes GET and POST of any content type, and tells them newest first', async () => {
  const own = await receiver({ status: 202 })
  const path = new URL(own.url).pathname
  const got = await fetch(`${own.url}?call=CA%201&paid=%2B5&__proto__=x`)
  expect([got.status, await got.json()]).toEqual([202, { ok: true }])
  for (const [type, body] of [
    ['application/json', '{"not json'],
    ['text/xml', '<call/>'],
    ['application/x-www-form-urlencoded', 'a=1&a=2'],
  ])
    expect(
      (await post(own.url, body ?? '', { 'content-type': type ?? '', 'svc-event': 'call.completed' })).status,
    ).toBe(202)
  const requests = await requestsOf(own)
  expect(requests.map(({ method, path: sent, body }) => [method, sent, body])).toEqual([
    ['POST', path, 'a=1&a=2'],
    ['POST', path, '<call/>'],
    ['POST', path, '{"not json'],
    ['GET', `${path}?call=CA%201&paid=%2B5&__proto__=x`, ''],
  ])
  expect(requests[0].headers).toMatchObject({ 'svc-event': 'call.completed', 'user-agent': expect.any(String) })
  expect(Math.abs(Date.now() - Date.parse(requests[0].at))).toBeLessThan(60_000)
})

it('says that nothing is verified where there is no signature, or no endpoint leads to it', async () => {
  const own = await receiver()
  await post(own.url, '{}')
  await post(own.url, '{}', { 'svc-signature': `t=1,v1=${'0'.repeat(64)}` })
  expect((await requestsOf(own)).map(({ verified }) => verified)).toEqual([null, null])
})

it('answers 500 to the first requests, as many as it was told', async () => {
  const own = await receiver({ status: 204, failFirst: 2 })
  const statuses: number[] = []
  for (let n = 0; n < 3; n++) statuses.push((await post(own.url, String(n))).status)
  expect(statuses).toEqual([500, 500, 204])
  expect((await requestsOf(own)).map(({ body }) => body)).toEqual(['2', '1', '0'])
})

it('answers after its delay, and tells the request at once', async () => {
  const own = await receiver({ latencyMs: 1_500 })
  const begun = performance.now()
  const answer = post(own.url, 'slow')
  await expect.poll(() => requestsOf(own), { timeout: 10_000 }).toMatchObject([{ body: 'slow' }])
  expect((await answer).status).toBe(200)
  expect(performance.now() - begun).toBeGreaterThan(1_400)
})

it('keeps the beginning of a large body, and refuses one that is too large', async () => {
  const own = await receiver()
  expect((await post(own.url, 'x'.repeat(100_000))).status).toBe(200)
  expect((await post(own.url, 'x'.repeat(300_000))).status).toBe(413)
  expect((await requestsOf(own)).map(({ body }) => body.length)).toEqual([64 * 1024])
})

it('keeps bytes that are no text as such', async () => {
  const own = await receiver()
  await post(own.url, new Uint8Array([0xef, 0xbb, 0xbf, 0x61, 0xff, 0x00]))
  expect((await requestsOf(own)).map(({ body }) => body)).toEqual(['\ufeffa\ufffd\u0000'])
})

it('remembers the newest requests alone', async () => {
  const own = await receiver()
  const { requests: kept } = SANDBOX_RECEIVER
  const all = Array.from({ length: kept + 3 }, (_, n) => String(n))
  for (const body of all) await post(own.url, body)
  expect((await requestsOf(own)).map(({ body }) => body)).toEqual(all.slice(-kept).toReversed())
})

it('is of its workspace alone', async () => {
  const { id, url } = await receiver()
  const others = tenant(({ other }) => other).console
  for (const [console, path] of [
    [others, `${PATH}/${id}`],
    [main.console, `${PATH}/${UNKNOWN_ID}`],
    [main.console, `${PATH}/none`],
  ] as const)
    expect(statusAndCode(await console(path))).toEqual([404, 'not_found'])
  for (const unknown of [UNKNOWN_ID, 'none']) expect((await post(url.replace(id, unknown), '')).status).toBe(404)
  expect(statusAndCode(await make({}, tenant(({ real }) => real).console))[0]).not.toBe(201)
})

it('is refused with settings out of range', async () => {
  const wrong = {
    status: 199,
    latencyMs: SANDBOX_RECEIVER.latencyMs + 1,
    failFirst: SANDBOX_RECEIVER.failFirst + 1,
    colour: 'red',
  }
  const [status, code, fields] = statusCodeAndFields(await make(wrong))
  expect([status, code, fields.toSorted()]).toEqual([
    400,
    'validation_error',
    ['colour', 'failFirst', 'latencyMs', 'status'],
  ])
})
