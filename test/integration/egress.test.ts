import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest'
import { brokenRule, isGlobal } from '../../src/adapters/egress/addresses.ts'
import { openEgress } from '../../src/adapters/egress/egress.ts'
import { type IpRange, parseIpRange } from '../../src/kernel/ip-address.ts'
import { systemClock as clock } from '../../src/main/system.ts'

const range = (text: string): IpRange => {
  const found = parseIpRange(text)
  if (!found) throw new Error(`${text} is no range.`)
  return found
}
const LOOPBACK = [range('127.0.0.1/32')]

describe('addresses of egress', () => {
  test.each([
    '0.0.0.0',
    '10.1.2.3',
    '100.64.0.1',
    '127.0.0.1',
    '127.255.255.254',
    '169.254.169.254',
    '172.16.0.1',
    '172.31.255.255',
    '192.0.0.8',
    '192.0.2.1',
    '192.88.99.1',
    '192.168.1.1',
    '198.18.0.1',
    '198.19.255.255',
    '198.51.100.7',
    '203.0.113.9',
    '224.0.0.1',
    '239.255.255.255',
    '240.0.0.1',
    '255.255.255.255',
    '::',
    '::1',
    '::ffff:127.0.0.1',
    '::ffff:8.8.8.8',
    '64:ff9b::808:808',
    '64:ff9b:1::1',
    '100::1',
    '2001::1',
    '2001:2::1',
    '2001:10::1',
    '2001:db8::1',
    '2002:808:808::1',
    '3fff::1',
    'fc00::1',
    'fd12:3456::1',
    'fe80::1',
    'fe80::1%eth0',
    'fec0::1',
    'ff02::1',
    'not-an-address',
    '8.8.8.8/8',
  ])('%s is not reachable', (address) => {
    expect(brokenRule(address, 443, [])).toBe('address')
  })

  test.each([
    '8.8.8.8',
    '1.1.1.1',
    '172.15.255.255',
    '172.32.0.1',
    '100.128.0.1',
    '223.255.255.255',
    '2606:4700::1111',
    '2a00:1450::1',
  ])('%s is reachable', (address) => {
    expect(brokenRule(address, 443, [])).toBeNull()
  })

  test.each([
    [80, true],
    [443, true],
    [8_000, true],
    [9_999, true],
    [79, false],
    [22, false],
    [6_379, false],
    [7_999, false],
    [10_000, false],
    [0, false],
  ])('port %i of a public address: %s', (port, reached) => {
    expect(brokenRule('8.8.8.8', port, [])).toBe(reached ? null : 'port')
  })

  it('allows a range on any port, and no address outside it', () => {
    expect(brokenRule('127.0.0.1', 1, LOOPBACK)).toBeNull()
    expect(brokenRule('127.0.0.2', 80, LOOPBACK)).toBe('address')
    expect(brokenRule('::1', 80, LOOPBACK)).toBe('address')
    expect(brokenRule('::ffff:127.0.0.1', 80, LOOPBACK)).toBe('address')
    expect(brokenRule('fd00::5', 7, [range('fd00::/8')])).toBeNull()
  })

  it('parses only ranges, and calls one public only if all of it is', () => {
    for (const text of [
      '',
      '1.2.3',
      '1.2.3.4/33',
      '::/129',
      '1.2.3.4/',
      '1.2.3.4/-1',
      '1.2.3.4/8/8',
      'localhost',
      '0x7f.1',
    ])
      expect(parseIpRange(text), text).toBeNull()
    expect(isGlobal(range('8.8.8.0/24'))).toBe(true)
    expect(isGlobal(range('8.0.0.0/6'))).toBe(false)
    expect(isGlobal(range('0.0.0.0/0'))).toBe(false)
    expect(isGlobal(range('2606:4700::/32'))).toBe(true)
  })
})

describe('requests of egress', () => {
  const requests: { path: string | undefined; headers: IncomingMessage['headers']; body: string }[] = []
  const answers: Record<string, (response: ServerResponse) => void> = {
    '/plain': (response) => response.writeHead(201, { 'x-a': 'b' }).end('hello'),
    '/away': (response) => response.writeHead(302, { location: 'http://10.0.0.1/' }).end(),
    '/never': () => {},
    '/slowly': (response) => void response.writeHead(200).write('a'),
    '/long': (response) => response.end('x'.repeat(101)),
    '/full': (response) => response.end('x'.repeat(100)),
    '/gone': (response) => response.destroy(),
  }
  let server: Server
  let base = ''
  let port = 0

  beforeAll(async () => {
    server = createServer((request, response) => {
      let body = ''
      request.on('data', (chunk) => {
        body += chunk
      })
      request.on('end', () => {
        requests.push({ path: request.url, headers: request.headers, body })
        answers[request.url ?? '']?.(response)
      })
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    port = (server.address() as AddressInfo).port
    base = `http://127.0.0.1:${port}`
  })
  afterAll(() => {
    server.closeAllConnections()
    server.close()
  })

  const names: Record<string, readonly { address: string; family: number }[]> = {
    'good.example': [{ address: '127.0.0.1', family: 4 }],
    'mixed.example': [
      { address: '127.0.0.1', family: 4 },
      { address: '10.0.0.1', family: 4 },
    ],
    'inside.example': [{ address: '169.254.169.254', family: 4 }],
    'empty.example': [],
  }
  let looked = 0
  const egress = openEgress({
    allowed: LOOPBACK,
    clock,
    async lookUp(host) {
      looked += 1
      const found = names[host]
      if (!found) throw Object.assign(new Error('no such name'), { code: 'ENOTFOUND' })
      return found
    },
  })
  afterAll(() => egress.close())
  const get = (url: string, more: object = {}) =>
    egress.send({ url, method: 'GET', headers: {}, body: null, timeoutMs: 5_000, maxBytes: 100, ...more })

  it('sends the request unchanged, and returns the response', async () => {
    const answer = await get(`${base}/plain`, { method: 'POST', headers: { 'x-key': 'k' }, body: '{"a":"é"}' })
    expect(answer).toMatchObject({ ok: true, status: 201, headers: { 'x-a': 'b' }, body: 'hello' })
    expect(requests.at(-1)).toMatchObject({ path: '/plain', headers: { 'x-key': 'k' }, body: '{"a":"é"}' })
  })

  it('connects to the checked addresses, and looks a name up once for each connection', async () => {
    const before = looked
    expect(await get(`http://good.example:${port}/plain`)).toMatchObject({ ok: true, status: 201 })
    expect(looked).toBe(before + 1)
    expect(requests.at(-1)?.headers.host).toBe(`good.example:${port}`)
  })

  test.each([
    ['a name with one address inside', () => `http://mixed.example:${port}/plain`],
    ['a name of an address inside', () => 'http://inside.example/latest/meta-data'],
    ['a literal', () => 'http://10.0.0.1/'],
    ['a literal in hexadecimal', () => `http://0x7f000002:${port}/plain`],
    ['a literal as one number', () => `http://2130706434:${port}/plain`],
    ['a literal in octal', () => `http://0177.0.0.2:${port}/plain`],
    ['a literal with parts left out', () => `http://127.2:${port}/plain`],
    ['a literal with a dot behind', () => `http://127.0.0.2.:${port}/plain`],
    ['a literal in wide digits', () => `http://１２７.0.0.2:${port}/plain`],
    ['a mapped form', () => `http://[::ffff:127.0.0.1]:${port}/plain`],
    ['loopback of the other family', () => `http://[::1]:${port}/plain`],
    ['a closed port', () => 'http://8.8.8.8:22/'],
    ['another protocol', () => 'ftp://good.example/'],
    ['a file', () => 'file:///etc/passwd'],
    ['no address at all', () => 'nonsense'],
    ['credentials before the host', () => `http://a:b@127.0.0.1:${port}/plain`],
  ])('refuses %s', async (_what, url) => {
    const sent = requests.length
    expect(await get(url())).toMatchObject({ ok: false, failure: 'refused', sentence: expect.any(String) })
    expect(requests).toHaveLength(sent)
  })

  it('does not follow a redirect', async () => {
    expect(await get(`${base}/away`)).toMatchObject({ ok: true, status: 302 })
  })

  test.each([
    ['a name without addresses', () => 'http://empty.example/'],
    ['a name that nobody knows', () => 'http://nobody.example/'],
    ['a port where nobody listens', () => 'http://127.0.0.1:1/'],
    ['a connection that breaks', () => `${base}/gone`],
  ])('tells that it did not reach %s', async (_what, url) => {
    expect(await get(url())).toMatchObject({ ok: false, failure: 'unreachable' })
  })

  it('reports headers that no request can carry', async () => {
    const headers = { 'x-a': 'b\r\nc: d' }
    expect(await get(`${base}/plain`, { headers })).toMatchObject({ ok: false, failure: 'unreachable' })
  })

  test.each(['/never', '/slowly'])('gives %s up when the time is over', async (path) => {
    expect(await get(`${base}${path}`, { timeoutMs: 150 })).toMatchObject({ ok: false, failure: 'timeout' })
  })

  it('reads a response up to its limit', async () => {
    expect(await get(`${base}/full`)).toMatchObject({ ok: true })
    expect(await get(`${base}/long`)).toMatchObject({ ok: false, failure: 'too_large' })
  })
})
