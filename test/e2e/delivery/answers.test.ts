import { createServer, type Socket } from 'node:net'
import { v7 } from 'uuid'
import { expect } from 'vitest'
import { createWebhook } from '../../../commands/delivery/create-webhook.ts'
import type { StreamWriter } from '../../../src/runtime/write/stream-writer.ts'
import type { Json } from '../../support/e2e/api-client.ts'
import { listenLocally } from '../../support/e2e/listen.ts'
import { waitUntil } from '../../support/e2e/server.ts'
import { suite } from '../../support/e2e/suite.ts'
import { answerScript, minutesAgo } from '../../support/e2e/tenant-client.ts'
import { createWebhookClient, expectWaits, isDelivered, isTried, WAITS_MS } from '../../support/e2e/webhook-client.ts'
import {
  answerInTurn,
  answerWith,
  envelopeOf,
  type ReceiverAnswer,
  startWebhookReceiver,
  type WebhookReceiver,
} from '../../support/e2e/webhook-receiver.ts'
import { createTenantWorkspace, type Tenant } from '../../support/e2e/world.ts'

/** Four attempts, and what a busy machine needs. */
const FOUR_ATTEMPTS_MS = 90_000
/** Four attempts of a receiver that does not answer: each is set aside until the next tick. */
const FOUR_SILENT_MS = 170_000
/** Events that wait for a receiver that never answers. */
const HELD = 12
/** What the log says of a request without an answer. */
const TIMED_OUT = /^(No answer within 10 seconds|The request timed out)\.$/
/** Statuses that accept a delivery, and statuses that do not. */
const ACCEPTED = [200, 201, 202, 204, 299]
const REDIRECTS = [301, 302, 303, 307, 308]
const REFUSED = [400, 401, 404, 410, 422, 429, 500, 502, 503]

/** An endpoint whose address is not vetted, as one that was vetted and leads elsewhere since. */
async function unvettedEndpoint({ act }: Tenant, url: string): Promise<string> {
  const webhookId = v7()
  const settings = {
    ...{ name: url, url, method: 'POST', eventPattern: ['call.completed'], headers: {}, note: null },
    ...{ campaignId: null, publisherId: null, bodyTemplate: null },
  }
  const secret = { version: 1, hash: '0'.repeat(64), hint: 'whsec_…' }
  await act(createWebhook, { webhookId, kind: 'webhook', settings, secret })
  return webhookId
}

/** What connects to an address that no receiver may have. */
const intruders: Socket[] = []
const canary = createServer((socket) => {
  intruders.push(socket)
  socket.destroy()
})
canary.unref()
const canaryPort = new Promise<number>((resolve) => {
  canary.listen(0, '127.0.0.2', () => {
    const address = canary.address()
    resolve(typeof address === 'object' && address ? address.port : 0)
  })
})

async function world(writer: StreamWriter) {
  const main = await createTenantWorkspace(writer, { name: 'Main' })
  const desk = await main.target(await main.buyer({ name: 'Acme' }), { name: 'Desk' })
  const line = await main.line({ name: 'Roofing' }, [desk])
  const unvetted = {
    unresolved: await unvettedEndpoint(main, 'http://receiver.invalid/hook'),
    disallowed: await unvettedEndpoint(main, `http://127.0.0.2:${await canaryPort}/hook`),
    metadata: await unvettedEndpoint(main, 'http://169.254.169.254/latest/meta-data'),
  }
  const other = await createTenantWorkspace(writer, { name: 'Other' })
  const otherDesk = await other.target(await other.buyer({ name: 'Acme' }))
  const otherLine = await other.line({ name: 'Roofing' }, [otherDesk])
  return { main, desk, line, unvetted, other, otherDesk, otherLine }
}

const { it, describe, beforeAll, afterAll, main, tenant, the } = suite('answers to deliveries', world)

const webhooks = createWebhookClient(main)
let receiver: WebhookReceiver
/** A port on which nobody listens. */
let closedPort = 0
beforeAll(async () => {
  receiver = await startWebhookReceiver({
    ...Object.fromEntries([...ACCEPTED, ...REFUSED].map((status) => [`${status}`, answerWith(status)])),
    ...Object.fromEntries(
      REDIRECTS.map((status): [string, ReceiverAnswer] => [
        `${status}`,
        (response) => response.writeHead(status, { location: receiver.url('elsewhere') }).end(),
      ]),
    ),
    replayed: answerInTurn(500, 500, 500, 500, 500, 200),
    hangs: () => undefined,
    'hangs in its first line': (response) => response.socket?.write('HTTP/1.1 200 O'),
    resets: (response) => response.socket?.destroy(),
    garbles: (response) => response.socket?.end('SSH-2.0-OpenSSH_9.6\r\n'),
    dead: () => undefined,
  })
  const closed = createServer()
  closedPort = await listenLocally(closed)
  await new Promise((resolve) => closed.close(resolve))
})
afterAll(() => receiver.close())

/** A webhook on the receiver's path of a name, which hears `call.completed`. */
const endpoint = async (name: string, url = receiver.url(name), client = webhooks): Promise<string> =>
  (await client.created({ name, url, eventPattern: 'call.completed' })).id

/** The endpoints of this workspace, which get one event, by name. */
const ids: Record<string, string> = {}
const entry = (name: string, what: string, condition: (entry: Json) => boolean, boundMs?: number) =>
  webhooks.entry(ids[name] ?? '', what, condition, boundMs)

beforeAll(async () => {
  const names = [...ACCEPTED, ...REDIRECTS, ...REFUSED].map(String)
  for (const name of [...names, 'resets', 'garbles', 'hangs', 'hangs in its first line', 'replayed'])
    ids[name] = await endpoint(name)
  ids.refused = await endpoint('refused', `http://127.0.0.1:${closedPort}/`)
  Object.assign(ids, the.unvetted)
  await main.playCall({ to: the.line.e164, at: minutesAgo(10), script: { [the.desk]: answerScript(1) } })
})

describe('Answering a delivery', () => {
  /** Rows that fail without an answer: what the log says, and whether a request came. */
  const SILENT = [
    ['a refused connection', 'refused', /ECONNREFUSED/],
    ['a host that does not resolve', 'unresolved', /could not be resolved/],
    ['a host that is not allowed', 'disallowed', /^The address is not allowed/],
    ['the metadata of a cloud', 'metadata', /^The address is not allowed/],
    ['a connection that is reset', 'resets', /^The request failed \(\w+\)\.$/],
    ['an answer that is not HTTP', 'garbles', /^The request failed \(\w+\)\.$/],
    ['no answer in 10 seconds', 'hangs', TIMED_OUT],
    ['an answer that does not come past its first line', 'hangs in its first line', TIMED_OUT],
  ] as const

  it.each(ACCEPTED)('2xx: the status %i is Delivered, at the first attempt', async (status) => {
    const { state, attempts, nextAttemptAt } = await entry(`${status}`, 'It has been tried', isTried(1))
    expect({ state, nextAttemptAt }).toEqual({ state: 'delivered', nextAttemptAt: null })
    expect(attempts).toMatchObject([{ n: 1, status, error: null }])
    expect(receiver.got(`${status}`)).toHaveLength(1)
  })

  it.each(SILENT)(
    '%s is Failed, status 0, with the reason logged, and waits for a retry',
    async (_what, name, error) => {
      const { state, attempts, nextAttemptAt } = await entry(name, 'It has been tried', isTried(1), 60_000)
      expect(state).toBe('queued')
      const [first] = attempts
      expect(first).toMatchObject({ n: 1, status: 0, error: expect.stringMatching(error) })
      expect(first).toMatchObject({ responseHeaders: null, responseBody: null })
      if (attempts.length === 1)
        expect(Date.parse(nextAttemptAt) - Date.parse(first.at) - first.ms).toBeGreaterThanOrEqual(WAITS_MS[0] ?? 0)
    },
  )

  it.each([...REDIRECTS, ...REFUSED])(
    'the status %i is Failed and retried: four attempts, after 1, 5 and 25 seconds at least',
    async (status) => {
      const name = `${status}`
      const { state, attempts, nextAttemptAt } = await entry(name, 'It has failed', isTried(4), FOUR_ATTEMPTS_MS)
      expect({ state, nextAttemptAt }).toEqual({ state: 'failed', nextAttemptAt: null })
      expect(attempts.map((one: Json) => [one.n, one.status])).toEqual([1, 2, 3, 4].map((n) => [n, status]))
      expectWaits(attempts)
      for (const { error } of attempts) expect(error).toContain(`${status}`)
      expect(receiver.got(name).map(({ headers }) => headers['svc-attempt'])).toEqual(['1', '2', '3', '4'])
    },
  )

  it('3xx: redirects are never followed', async () => {
    for (const status of REDIRECTS) await entry(`${status}`, 'It has been tried', isTried(1))
    expect(receiver.got('elsewhere')).toEqual([])
  })

  it('Refused connection: four attempts, after 1, 5 and 25 seconds at least', async () => {
    const tried = await entry('refused', 'It has failed', isTried(4), FOUR_SILENT_MS)
    expect(tried).toMatchObject({ state: 'failed', nextAttemptAt: null })
    expect(tried.attempts.map(({ status }: Json) => status)).toEqual([0, 0, 0, 0])
    expectWaits(tried.attempts)
    expect((await webhooks.read(ids.refused ?? '')).stats).toMatchObject({
      ...{ attempts: 4, delivered: 0, failed: 4, lastStatus: 0, lastOk: false },
    })
  })

  it('Disallowed host: the host is never connected to', async () => {
    await entry('disallowed', 'It has been tried', isTried(2), 60_000)
    expect(intruders).toEqual([])
  })
})

it('a delivery that has failed is revived by a replay alone: same request id, from attempt 5 on, without further retries', async () => {
  const failed = await entry('replayed', 'It has failed', isTried(4), FOUR_ATTEMPTS_MS)
  expect(failed.state).toBe('failed')
  for (const [n, state, status] of [
    [5, 'failed', 'degraded'],
    [6, 'delivered', 'active'],
  ] as const) {
    const replayed = await webhooks.replay(failed.id)
    expect(replayed.status, replayed.text).toBe(202)
    expect(replayed.body.delivery).toMatchObject({ id: failed.id, requestId: failed.requestId })
    const tried = await entry('replayed', 'It has been replayed', isTried(n))
    expect(tried).toMatchObject({ state, nextAttemptAt: null })
    expect(tried.attempts.at(-1)).toMatchObject({ n })
    await webhooks.untilStatus(ids.replayed ?? '', status)
  }
  const requests = receiver.got('replayed')
  expect(requests.map(({ headers }) => headers['svc-attempt'])).toEqual(['1', '2', '3', '4', '5', '6'])
  expect(new Set(requests.map((request) => envelopeOf(request).id))).toEqual(new Set([failed.requestId]))
})

it('a receiver that never answers holds nothing of another endpoint', async () => {
  const client = tenant(({ other }) => other)
  const others = createWebhookClient(client)
  const dead = await endpoint('dead', undefined, others)
  const live = await endpoint('live', undefined, others)
  for (let n = 0; n < HELD; n += 1)
    await client.playCall({
      to: the.otherLine.e164,
      at: minutesAgo(10 + n),
      script: { [the.otherDesk]: answerScript(1) },
    })
  await waitUntil('The other endpoint has got everything', async () => {
    const entries = await others.log(live)
    return entries.length === HELD && entries.every(isDelivered)
  })
  const waiting = await others.log(dead)
  expect(waiting.map(({ state }) => state)).toEqual(waiting.map(() => 'queued'))
  expect(waiting).toHaveLength(HELD)
  // It is asked one thing at a time.
  expect(receiver.got('dead').length).toBeLessThan(HELD)
  await others.remove(dead)
})
