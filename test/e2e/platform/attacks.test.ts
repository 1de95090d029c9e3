import { once } from 'node:events'
import { request as httpRequest } from 'node:http'
import { connect } from 'node:net'
import { text as textOf } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import type { StreamWriter } from '../../../src/runtime/write/stream-writer.ts'
import {
  type ApiResponse,
  createApiClient,
  type Json,
  statusAndCode,
  UNKNOWN_ID,
} from '../../support/e2e/api-client.ts'
import { openInProcessPlatform } from '../../support/e2e/in-process-platform.ts'
import { embeddedStores, freshEnvironment, waitUntil } from '../../support/e2e/server.ts'
import { OPERATOR_TOKEN, suite } from '../../support/e2e/suite.ts'
import { createTenantWorkspace } from '../../support/e2e/world.ts'

const METRICS_TOKEN = 'metrics-token-of-the-attacks-suite'

async function world(writer: StreamWriter) {
  const main = await createTenantWorkspace(writer, { name: 'Main' })
  const buyerId = await main.buyer({ name: 'Acme' })
  const targetId = await main.target(buyerId)
  const real = await createTenantWorkspace(writer, { name: 'Real', sandbox: false })
  return {
    main,
    buyerId,
    targetId,
    line: await main.line({ name: 'Open' }, [targetId]),
    real,
    realLine: await real.line({ name: 'Open' }, [await real.target(await real.buyer({ name: 'Acme' }))]),
  }
}

const { it, describe, the, main, tenant, server, client } = suite('attacks', world, {
  stores: 'embedded',
  env: { OPERATOR_TOKEN, TRUST_PROXY: 'true', LOG_LEVEL: 'info' },
})

describe('guesses of the operator token', () => {
  const WORKSPACES = '/api/operator/workspaces'
  const guess = (from: string, token = `guess-${from}`) =>
    client(token)(WORKSPACES, { headers: { 'x-forwarded-for': from } })

  it('300 at once from one source are answered 401 at most 20 times, then 429', async () => {
    const answers = await Promise.all(Array.from({ length: 300 }, () => guess('198.51.100.1')))
    const statuses = answers.map(({ status }) => status)
    expect(statuses.filter((status) => status === 401)).toHaveLength(20)
    expect(statuses.filter((status) => status === 429)).toHaveLength(280)
    const refused = answers.find(({ status }) => status === 429)
    expect(refused?.body.error.code).toBe('rate_limited')
    const seconds = Number(refused?.headers.get('retry-after'))
    expect(seconds).toBeGreaterThan(0)
    expect(seconds).toBeLessThanOrEqual(60)
  })

  it('the right token is refused to such a source too, and to no other', async () => {
    await Promise.all(Array.from({ length: 20 }, () => guess('198.51.100.2')))
    expect(statusAndCode(await guess('198.51.100.2', OPERATOR_TOKEN))).toEqual([429, 'rate_limited'])
    expect((await guess('198.51.100.3', OPERATOR_TOKEN)).status).toBe(200)
  })

  it('a network of IPv6 addresses is one source', async () => {
    const answers = await Promise.all(Array.from({ length: 30 }, (_, n) => guess(`2001:db8::${n.toString(16)}`)))
    expect(answers.filter(({ status }) => status === 401)).toHaveLength(20)
    expect((await guess('2001:db8:0:1::1')).status).toBe(401)
  })

  it('another token than the operator’s opens nothing', async () => {
    const wrong = [null, 'wrong', `${OPERATOR_TOKEN} `.repeat(2), the.main.session, the.main.key]
    for (const [n, token] of wrong.entries()) {
      // Wrong tokens are limited by source, so each is sent from its own.
      const headers = { 'x-forwarded-for': `192.0.2.${n}` }
      for (const [method, path] of [
        ['GET', WORKSPACES],
        ['POST', WORKSPACES],
        ['PATCH', `${WORKSPACES}/x`],
        ['POST', `${WORKSPACES}/${UNKNOWN_ID}/credits`],
        ['POST', '/api/operator/keys'],
        ['GET', '/api/operator/projections'],
        ['POST', '/api/operator/projections/nothing/rebuild'],
      ] as const) {
        const answer = await client(token)(path, {
          method,
          headers,
          ...(method === 'GET' ? {} : { body: { nonsense: true } }),
        })
        expect(statusAndCode(answer)).toEqual([401, 'unauthorized'])
      }
    }
    expect(statusAndCode(await client(OPERATOR_TOKEN)('/api/tracking/workspace'))).toEqual([401, 'unauthorized'])
    expect(statusAndCode(await client(OPERATOR_TOKEN)('/api/v1/buyers'))).toEqual([401, 'invalid_key'])
  })

  it('the right token is not limited', async () => {
    const answers = await Promise.all(Array.from({ length: 50 }, () => guess('198.51.100.4', OPERATOR_TOKEN)))
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
  })
})

/** Sends bytes over a connection of its own, which is broken off once they are written. */
async function breakOff(baseUrl: string, bytes: string): Promise<void> {
  const socket = connect(Number(new URL(baseUrl).port), '127.0.0.1')
  await once(socket, 'connect')
  await new Promise((resolve) => socket.write(bytes, resolve))
  socket.resetAndDestroy()
  await once(socket, 'close')
}

/** Sends a GET whose path is not normalized first; resolves to the status and the body. */
async function getUnchanged(baseUrl: string, path: string, headers: Readonly<Record<string, string>> = {}) {
  const request = httpRequest(`${baseUrl}/`, { path, headers })
  request.end()
  const [response] = await once(request, 'response')
  return { status: response.statusCode, text: await textOf(response) }
}

describe('requests that no file or route can answer', () => {
  it.each([
    '/docs/static/..%2f..%2fetc/passwd',
    '/docs/static/%2e%2e/%2e%2e/package.json',
    '/docs/static/../../package.json',
    '/docs/static/%5c..%5c..%5cpackage.json',
    '/docs/static//etc/passwd',
    '/docs/static/%00',
    '/docs/static/index.css%00.html',
    '/docs/%00',
    '/%00',
    '/api/v1/calls/%00',
    '/api/v1/calls/..%2f..%2fetc',
    '/docs/static/%zz',
  ])('%s is 404 in the envelope', async (path) => {
    const { status, text } = await getUnchanged(server.baseUrl, path, { authorization: `Bearer ${the.main.key}` })
    expect([status, JSON.parse(text).error.code]).toEqual([404, 'not_found'])
  })

  it('a name longer than any file’s is 404 in the envelope', async () => {
    const { status, text } = await getUnchanged(server.baseUrl, `/docs/static/${'a'.repeat(5_000)}`)
    expect([status, JSON.parse(text).error.code]).toEqual([404, 'not_found'])
  })

  it('a file asked for with another If-Match is refused in the envelope, and is sent whole whatever the Range', async () => {
    const ask = (headers: Record<string, string>) => getUnchanged(server.baseUrl, '/docs/style.css', headers)
    const refused = await ask({ 'if-match': '"other"' })
    expect([refused.status, JSON.parse(refused.text).error.code]).toEqual([412, 'conflict'])
    const whole = await ask({ range: 'bytes=99999999-' })
    expect(whole).toEqual(await ask({}))
    expect(whole.status).toBe(200)
  })

  it.each(['content-length: 1000\r\n\r\n{"email":', 'transfer-encoding: chunked\r\n\r\n9\r\n{"email":\r\n'])(
    'an upload that is broken off (%j) is answered to nobody',
    async (rest) => {
      const head = 'POST /api/auth/sign-in HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n'
      await breakOff(server.baseUrl, `${head}${rest}`)
      expect((await client(null)('/healthz')).status).toBe(200)
    },
  )

  it('none of them is logged as an error', async () => {
    // The log is written in order: once this request is in it, so are those before.
    await client(null)('/openapi.json', { headers: { 'svc-request-id': 'after-all-others' } })
    const lines = await waitUntil('The last request is logged', async () => {
      const logged = server.stdout().split('\n')
      return logged.some((line) => line.includes('after-all-others')) && logged
    })
    expect(lines.filter((line) => /"level":[56]0/.test(line))).toEqual([])
  })
})

it('a simulated call earns no money in a workspace that is no sandbox', async () => {
  const { placeCall, console } = tenant(({ real }) => real)
  const wallet = async () => (await console('/api/tracking/wallet')).body
  const before = await wallet()
  for (const mode of ['instant', 'live'])
    expect(statusAndCode(await placeCall({ to: the.realLine.e164, mode }))).toEqual([404, 'not_found'])
  // The refusal precedes the body: it is that of a route which is not there.
  expect(statusAndCode(await placeCall({ nonsense: true }))).toEqual([404, 'not_found'])
  expect((await console('/api/tracking/calls')).body.total).toBe(0)
  expect(await wallet()).toEqual(before)
})

describe('positions of the log', () => {
  const positionIn = ({ headers }: ApiResponse) => headers.get('svc-position')

  it('are shown to a credential alone', async () => {
    expect(positionIn(await main.rest('/api/v1/calls'))).not.toBeNull()
    expect(positionIn(await main.rest('/api/v1/calls?page=0'))).not.toBeNull()
    for (const path of ['/healthz', '/readyz', '/openapi.json', '/docs/', '/nowhere', '/api/v1/calls'])
      expect(positionIn(await client(null)(path)), path).toBeNull()
    expect(positionIn(await client('svc_live_wrong')('/api/v1/calls'))).toBeNull()
    const stranger = { method: 'POST', body: { email: 'nobody@attacks.example', password: 'a wrong one' } }
    expect(positionIn(await client(null)('/api/auth/sign-in', stranger))).toBeNull()
  })

  it('are opaque, and cannot be made up', async () => {
    const { headers } = await main.console('/api/tracking/workspace', { method: 'PATCH', body: { name: 'Main' } })
    const position = headers.get('svc-position') ?? ''
    expect(Buffer.from(position, 'base64url').toString()).not.toMatch(/^\d+$/)
    const reading = (sent: string) => main.rest('/api/v1/calls', { headers: { 'svc-min-position': sent } })
    expect((await reading(position)).status).toBe(200)
    const first = position.startsWith('A') ? 'B' : 'A'
    for (const forged of ['MzA1Mw', Buffer.from('1').toString('base64url'), `${first}${position.slice(1)}`]) {
      const refused = await reading(forged)
      expect(statusAndCode(refused)).toEqual([400, 'validation_error'])
      expect(Object.keys(refused.body.error.details)).toEqual(['svc-min-position'])
    }
  })
})

/** Names that every object inherits. */
const INHERITED = ['constructor', 'toString', 'valueOf', 'hasOwnProperty', 'isPrototypeOf', '__defineGetter__']

describe('names that every object inherits', () => {
  const TARGETS = '/api/tracking/targets'

  it.each(INHERITED)('the header %s of a bidder is stored, changed and shown like any other', async (name) => {
    const sent = (value: string) => ({ rtb: { bidUrl: 'https://bids.example/ask', bidHeaders: { [name]: value } } })
    const created = await main.console(TARGETS, {
      method: 'POST',
      body: { name: `Target ${name}`, buyerId: the.buyerId, type: 'rtb', ...sent('first') },
    })
    expect(created.status, created.text).toBe(201)
    const path = `${TARGETS}/${created.body.target.id}`
    const changed = await main.console(path, { method: 'PATCH', body: sent('second') })
    expect(changed.status, changed.text).toBe(200)
    expect((await main.console(path)).body.target.rtb.bidHeaders).toEqual({ [name]: 'second' })
  })

  it('__proto__ is refused by name wherever a body holds it', async () => {
    const body = '{"name":"Target","type":"rtb","rtb":{"bidHeaders":{"__proto__":"v"}}}'
    const refused = await main.console(TARGETS, { method: 'POST', body })
    expect(statusAndCode(refused)).toEqual([400, 'validation_error'])
    expect(Object.keys(refused.body.error.details)).toEqual(['rtb.bidHeaders.__proto__'])
  })

  /** Places that take one of a set of names: what each answers to a name of no meaning. */
  const CHOICES: readonly (readonly [string, string, (name: string) => Json, number, string])[] = [
    ['campaigns', 'verticalId', (name) => ({ name: 'C', verticalId: name }), 400, 'bad_request'],
    ['campaigns', 'timezone', (name) => ({ name: 'C', verticalId: 'roofing', timezone: name }), 400, 'bad_request'],
    ['campaigns', 'states', (name) => ({ name: 'C', verticalId: 'roofing', states: [name] }), 400, 'bad_request'],
    ['buyers', 'timezone', (name) => ({ name: 'Acme', timezone: name }), 400, 'validation_error'],
    ['api-keys', 'scopes', (name) => ({ name: 'K', scopes: [name] }), 400, 'validation_error'],
    ['users', 'role', (name) => ({ email: 'a@b.example', name: 'A', role: name }), 400, 'validation_error'],
    ['targets', 'type', (name) => ({ name: 'T1', buyerId: the.buyerId, type: name }), 400, 'validation_error'],
    ['numbers/search', 'type', (name) => ({ type: name }), 400, 'validation_error'],
    ['wallet/credits', 'a field', (name) => ({ amountCents: 1, reference: 'r', [name]: 1 }), 400, 'validation_error'],
  ]

  it.each(CHOICES.map(([path, field, bodyOf, ...answer]) => [path, field, bodyOf, answer] as const))(
    'are no choice in %s, %s',
    async (path, _field, bodyOf, answer) => {
      for (const name of [...INHERITED, '__proto__']) {
        const text = JSON.stringify(bodyOf('MARK')).replaceAll('MARK', name)
        const refused = await main.console(`/api/tracking/${path}`, { method: 'POST', body: text })
        expect(statusAndCode(refused), refused.text).toEqual(answer)
      }
    },
  )

  it('are no day of a schedule and no key of a script', async () => {
    for (const name of [...INHERITED, '__proto__']) {
      const schedule = `{"hoursSchedule":{"tz":"UTC","days":{"mon":[],"${name}":[["09:00","17:00"]]}}}`
      const refused = await main.rest(`/api/v1/targets/${the.targetId}`, { method: 'PATCH', body: schedule })
      expect([refused.status, Object.keys(refused.body.error.details)], refused.text).toEqual([
        400,
        [name === '__proto__' ? 'hoursSchedule.days.__proto__' : 'hoursSchedule'],
      ])
      const script = `{"to":"${the.line.e164}","mode":"instant","script":{"${name}":[{"result":"busy"}]}}`
      const unplaced = await main.console('/api/sandbox/calls', { method: 'POST', body: script })
      expect(statusAndCode(unplaced), name).toEqual([400, 'validation_error'])
    }
  })

  it('are parameters, ids and headers of no meaning', async () => {
    for (const name of [...INHERITED, '__proto__']) {
      const list = await main.rest(`/api/v1/calls?${name}=1&sort=${name}&dir=${name}`)
      expect([list.status, list.headers.get('svc-ignored-parameters')]).toEqual([200, name])
      for (const field of ['status', 'outcome', 'campaignId'])
        expect((await main.rest(`/api/v1/calls?${field}=${name}`)).status).toBe(400)
      expect((await main.rest(`/api/v1/calls?tagKey=${name}&tagValue=${name}`)).body.total).toBe(0)
      expect(statusAndCode(await main.rest(`/api/v1/calls/${name}`))).toEqual([404, 'not_found'])
      expect(statusAndCode(await client(null)(`/api/${name}`))).toEqual([404, 'not_found'])
      expect((await client(null)(`/openapi.json?surface=${name}`)).status).toBe(400)
      const rebuild = await client(OPERATOR_TOKEN)(`/api/operator/projections/${name}/rebuild`, { method: 'POST' })
      expect(statusAndCode(rebuild)).toEqual([404, 'not_found'])
      const once = { 'idempotency-key': name, 'svc-request-id': name }
      const credit = () =>
        main.console('/api/tracking/wallet/credits', {
          method: 'POST',
          body: { amountCents: 1, reference: name },
          headers: once,
        })
      const [first, second] = [await credit(), await credit()]
      expect([first.status, first.headers.get('svc-request-id'), second.body]).toEqual([200, name, first.body])
    }
  })

  it.each(INHERITED)('the key %s of tags and SIP headers is a key like any other', async (name) => {
    const { call } = await main.playCall({ to: the.line.e164, from: '+13105550199', sipHeaders: { [name]: 'v' } })
    const tagged = await main.console(`/api/tracking/calls/${call.id}/tags`, {
      method: 'POST',
      body: { tags: { [name]: 'v' } },
    })
    expect(tagged.status, tagged.text).toBe(200)
    const found = await main.rest(`/api/v1/calls?tagKey=${name}&tagValue=v`)
    expect(found.body.data.map(({ id }: Json) => id)).toEqual([call.id])
    expect((await main.rest(`/api/v1/calls?tagKey=${name}`)).body.total).toBe(1)
  })
})

test.each([
  ['are not there without a METRICS_TOKEN', {}, [404, 404]],
  ['take the METRICS_TOKEN', { METRICS_TOKEN }, [401, 200]],
])('in production the metrics %s', async (_name, more, statuses) => {
  const { baseUrl, close } = await openInProcessPlatform({
    ...freshEnvironment(embeddedStores),
    NODE_ENV: 'production',
    MASTER_KEY: Buffer.alloc(32, 'attacks').toString('base64'),
    CARRIER_URL: 'simulator:',
    ...more,
  })
  try {
    const ask = (token: string | null) => createApiClient(() => baseUrl, token)('/metrics')
    expect([(await ask(null)).status, (await ask(METRICS_TOKEN)).status]).toEqual(statuses)
  } finally {
    await close()
  }
})

it('the platform’s own sandbox is none of the other sandbox workspaces, however old they are', () => {
  // The world of a suite with an environment is there before the first start.
  expect([the.main.workspaceId, the.real.workspaceId]).not.toContain(server.sandbox.agencyId)
})
