import { createServer as createHttpServer } from 'node:http'
import { createServer, type Socket } from 'node:net'
import { afterAll, beforeAll, beforeEach, describe, expect, it, test } from 'vitest'
import { withOwnSandbox } from '../../src/main/sandbox-egress.ts'
import type { AddressRule } from '../../src/ports/egress.ts'
import { listen, lookUpIn, OPEN, openTestEgress, REFUSED } from '../support/fixtures/egress-rig.ts'

const intruders: Socket[] = []
let asked = 0
const server = createHttpServer((_request, response) => {
  asked += 1
  response.writeHead(200, { connection: 'close' }).end('hello')
})
/** The same port on an address that is refused. */
const canary = createServer((socket) => {
  intruders.push(socket)
  socket.destroy()
})
let port = 0

const NAMES: Readonly<Record<string, readonly string[]>> = {
  'good.example': ['8.8.8.8', '2606:4700::1111'],
  'open.example': [OPEN],
  'mixed.example': ['8.8.8.8', '10.0.0.1'],
  'inside.example': ['169.254.169.254'],
  'inside6.example': ['8.8.8.8', 'fd00::1'],
  'empty.example': [],
}
const { egress, get } = openTestEgress(lookUpIn(NAMES))
const vet = (url: string, more: object = {}) => egress.vet({ url, timeoutMs: 20_000, ...more })

beforeAll(async () => {
  port = await listen(server)
  await listen(canary, REFUSED, port)
})
afterAll(async () => {
  await egress.close()
  server.closeAllConnections()
  server.close()
  canary.close()
})
beforeEach(() => {
  intruders.length = 0
  asked = 0
})

/** URLs that break a rule; both ways of asking name it. */
const REFUSALS: readonly (readonly [url: string, rule: AddressRule])[] = [
  ['ftp://good.example/', 'https'],
  ['javascript:alert(1)', 'https'],
  ['nonsense', 'https'],
  ['http://', 'https'],
  ['https://[::1', 'https'],
  ['https://a:b@good.example/', 'credentials'],
  ['https://:b@inside.example/', 'credentials'],
  ['https://good.example:22/', 'port'],
  ['https://good.example:7999/', 'port'],
  ['https://good.example:10000/', 'port'],
  ['https://8.8.8.8:0/', 'port'],
  ['https://10.0.0.1/', 'address'],
  ['https://10.0.0.1:22/', 'address'],
  ['https://0x7f000002/', 'address'],
  ['https://[::1]/', 'address'],
  ['https://[::ffff:8.8.8.8]/', 'address'],
  ['https://mixed.example/', 'address'],
  ['https://inside.example/', 'address'],
  ['https://inside6.example/', 'address'],
]

describe('a URL', () => {
  test.each(REFUSALS)('%s is refused by the rule "%s"', async (url, rule) => {
    const refusal = await vet(url)
    expect(refusal).toEqual({ rule, sentence: expect.stringMatching(/^The .*\.$/) })
    expect(await get(url)).toMatchObject({ ok: false, failure: 'refused', ...refusal })
  })

  test.each(['https://empty.example/', 'http://nobody.example/', 'https://nobody.example:22/'])(
    '%s does not resolve: a refusal of what is vetted, a failure of what is sent',
    async (url) => {
      expect(await vet(url)).toEqual({ rule: 'unresolvable', sentence: expect.stringMatching(/^The host name .*\.$/) })
      const answer = await get(url)
      expect(answer).toMatchObject({ failure: 'unreachable', sentence: expect.stringMatching(/^The host name .*\.$/) })
      expect(answer).not.toHaveProperty('rule')
    },
  )

  test.each([
    'https://good.example',
    'http://good.example/a?b#c',
    'https://GOOD.example:443/',
    'http://good.example:80/',
    'https://good.example:8000/',
    'https://good.example:9999/',
    'https://8.8.8.8/',
    'https://[2606:4700::1111]:8443/',
    // Opened by its range, on any port.
    'http://127.0.0.1:1/',
    'https://open.example:22/',
  ])('%s is allowed', async (url) => {
    expect(await vet(url)).toBeNull()
  })

  it('is judged by its scheme before its credentials, and by these before its address', async () => {
    expect(await vet('ftp://a:b@10.0.0.1:22/')).toMatchObject({ rule: 'https' })
    expect(await vet('http://a:b@10.0.0.1/', { httpsOnly: true })).toMatchObject({ rule: 'https' })
    expect(await vet('http://a:b@10.0.0.1:22/')).toMatchObject({ rule: 'credentials' })
  })

  it('must be of https where that is required', async () => {
    const refusal = { rule: 'https', sentence: 'The URL must be valid and begin with https://.' }
    expect(await vet('http://good.example/', { httpsOnly: true })).toEqual(refusal)
    expect(await vet('https://good.example/', { httpsOnly: true })).toBeNull()
    expect(await get(`http://127.0.0.1:${port}/`, { httpsOnly: true })).toMatchObject({
      failure: 'refused',
      ...refusal,
    })
    expect(await get(`http://127.0.0.1:${port}/`)).toMatchObject({ ok: true })
    expect(asked).toBe(1)
  })

  it('is not waited for longer than its time, and its look-up ends', async () => {
    const signals: AbortSignal[] = []
    const silent = openTestEgress((_host, signal) => {
      signals.push(signal)
      return new Promise(() => undefined)
    })
    const refusal = await silent.egress.vet({ url: 'https://silent.example/', timeoutMs: 20 })
    expect(refusal).toEqual({ rule: 'unresolvable', sentence: 'The host name was not resolved in time.' })
    expect(signals.map(({ aborted }) => aborted)).toEqual([true])
    await silent.egress.close()
  })

  it('is vetted without a connection', async () => {
    expect(await vet(`http://127.0.0.1:${port}/`)).toBeNull()
    expect(await vet(`http://${REFUSED}:${port}/`)).toMatchObject({ rule: 'address' })
    expect([asked, intruders.length]).toEqual([0, 0])
  })
})

describe('a name that changes its address', () => {
  /** An egress whose name has these addresses at each look-up, in turn. */
  function changing(...turns: readonly (readonly string[])[]) {
    const left = [...turns]
    return openTestEgress(async () => (left.shift() ?? []).map((address) => ({ address, family: 4 })))
  }
  const url = () => `http://turns.example:${port}/`

  test.each([
    ['to a refused one', [REFUSED]],
    ['to a refused one among others', [OPEN, REFUSED]],
  ])('after it was vetted, %s, is not reached', async (_what, later) => {
    const turns = changing([OPEN], later)
    expect(await turns.egress.vet({ url: url(), timeoutMs: 20_000 })).toBeNull()
    expect(await turns.get(url())).toMatchObject({ ok: false, failure: 'refused', rule: 'address' })
    expect([asked, intruders.length]).toEqual([0, 0])
    await turns.egress.close()
  })

  it('between two requests is reached at the first address alone', async () => {
    const turns = changing([OPEN], [OPEN], [REFUSED])
    expect(await turns.egress.vet({ url: url(), timeoutMs: 20_000 })).toBeNull()
    expect(await turns.get(url())).toMatchObject({ ok: true, body: 'hello' })
    expect(await turns.get(url())).toMatchObject({ ok: false, failure: 'refused', rule: 'address' })
    expect([asked, intruders.length]).toEqual([1, 0])
    await turns.egress.close()
  })

  it('would be heard by the canary', async () => {
    await fetch(`http://${REFUSED}:${port}/`).catch(() => undefined)
    expect(intruders).toHaveLength(1)
  })
})

describe('the own sandbox', () => {
  const own = () => `http://127.0.0.1:${port}`
  const guarded = openTestEgress(lookUpIn({})).egress
  const sandbox = withOwnSandbox(
    {
      ...guarded,
      send: () => Promise.reject(new Error('guarded')),
      vet: async () => ({ rule: 'address', sentence: '' }),
    },
    guarded,
    own,
  )
  afterAll(() => sandbox.close())
  const vetOwn = (path: string, more: object = {}) =>
    sandbox.vet({ url: own() + path, ownSandbox: true, timeoutMs: 20_000, ...more })

  it('is allowed, whatever its address and its scheme, to those who may reach it', async () => {
    expect(await vetOwn('/api/sandbox/in/x')).toBeNull()
    expect(await vetOwn('/api/sandbox/in/x', { httpsOnly: true })).toBeNull()
    expect(await vetOwn('/api/sandbox/in/x', { ownSandbox: false })).toMatchObject({ rule: 'address' })
    expect(await vetOwn('/api/sandbox/../v1/calls')).toMatchObject({ rule: 'address' })
    const request = { method: 'GET' as const, headers: {}, body: null, timeoutMs: 20_000, maxBytes: 100 }
    const url = `${own()}/api/sandbox/in/x`
    expect(await sandbox.send({ ...request, url, ownSandbox: true, httpsOnly: true })).toMatchObject({ ok: true })
  })
})
