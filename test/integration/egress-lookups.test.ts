import { createHook } from 'node:async_hooks'
import { pbkdf2 } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest'
import { openEgress } from '../../src/adapters/egress/egress.ts'
import { createHostLookup, type HostLookup } from '../../src/adapters/egress/host-lookup.ts'
import { parseIpRange } from '../../src/kernel/ip-address.ts'
import { systemClock as clock } from '../../src/main/system.ts'
import { type NameAnswer, startNameServer } from '../support/fixtures/name-server.ts'

/** More than the threads of libuv's pool. */
const MANY = 16

const LOOPBACK = [127, 0, 0, 1]
const V6 = [0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]
const NAMES: Readonly<Record<string, readonly [a: NameAnswer, aaaa: NameAnswer]>> = {
  'both.example': [[LOOPBACK, [192, 0, 2, 7]], [V6]],
  'four.example': [[LOOPBACK], []],
  'six.example': [[], [V6]],
  'broken.example': [[LOOPBACK], 'failure'],
  'failing.example': ['failure', 'failure'],
  'empty.example': [[], []],
  'mixed.example': [[LOOPBACK], [V6]],
}

let names: Awaited<ReturnType<typeof startNameServer>>
let directory = ''
let lookUp: HostLookup
let server: Server
let port = 0

beforeAll(async () => {
  names = await startNameServer((type, name) => {
    if (name.endsWith('silent.example')) return null
    return NAMES[name]?.[type === 'A' ? 0 : 1] ?? 'none'
  })
  directory = await mkdtemp(join(tmpdir(), 'ringledger-hosts-'))
  const hostsFile = join(directory, 'hosts')
  await writeFile(
    hostsFile,
    '# comment\n127.0.0.1\tlocalhost\n::1 localhost\n10.0.0.5  Desk.Example desk # here\nfd00::5 desk\nnonsense x\n',
  )
  lookUp = createHostLookup({ servers: [names.address], hostsFile })
  server = createServer((_request, response) => response.end('hello'))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  port = (server.address() as AddressInfo).port
})
afterAll(async () => {
  server.closeAllConnections()
  server.close()
  await names.close()
  await rm(directory, { recursive: true, force: true })
})

const looked = async (host: string) =>
  (await lookUp(host, new AbortController().signal)).map(({ address, family }) => `${family} ${address}`)

describe('a look-up of a host name', () => {
  test.each([
    ['both.example', ['4 127.0.0.1', '4 192.0.2.7', '6 2001:db8::1']],
    ['BOTH.example.', ['4 127.0.0.1', '4 192.0.2.7', '6 2001:db8::1']],
    ['four.example', ['4 127.0.0.1']],
    ['six.example', ['6 2001:db8::1']],
    ['broken.example', ['4 127.0.0.1']],
    ['desk.example', ['4 10.0.0.5']],
    ['DESK', ['4 10.0.0.5', '6 fd00::5']],
    ['localhost', ['4 127.0.0.1']],
    ['bids.localhost.', ['4 127.0.0.1']],
  ])('of %s finds %j', async (host, found) => {
    expect(await looked(host)).toEqual(found)
  })

  test.each([
    ['nobody.example', 'ENOTFOUND'],
    ['empty.example', 'ENODATA'],
    ['failing.example', 'ESERVFAIL'],
    ['x', 'ENOTFOUND'],
  ])('of %s fails with %s', async (host, code) => {
    await expect(looked(host)).rejects.toMatchObject({ code })
  })

  it('asks no name server for what the machine itself knows', async () => {
    const before = names.asked.length
    for (const host of ['localhost', 'a.localhost', 'desk']) await looked(host)
    expect(names.asked).toHaveLength(before)
  })

  it('ends when its signal aborts, and does not begin after that', async () => {
    const controller = new AbortController()
    const pending = lookUp('a.silent.example', controller.signal)
    await names.nextQuery()
    controller.abort()
    await expect(pending).rejects.toMatchObject({ code: 'ECANCELLED' })
    const before = names.asked.length
    await expect(lookUp('four.example', controller.signal)).rejects.toThrow()
    expect(names.asked).toHaveLength(before)
  })

  it('holds no thread that files and hashes wait for', async () => {
    const controller = new AbortController()
    const ended: number[] = []
    const pending = Array.from({ length: MANY }, (_, n) =>
      lookUp(`${n}.silent.example`, controller.signal).catch(() => ended.push(n)),
    )
    await names.nextQuery()
    await promisify(pbkdf2)('a', 'b', 1, 32, 'sha256')
    expect(ended).toEqual([])
    controller.abort()
    await Promise.all(pending)
    expect(ended).toHaveLength(MANY)
  })
})

/** An egress whose look-ups wait, with the signals that they were given. */
function waitingEgress() {
  const signals: AbortSignal[] = []
  const found = Promise.withResolvers<readonly { readonly address: string; readonly family: number }[]>()
  let begun = () => {}
  const egress = openEgress({
    allowed: [parseIpRange('127.0.0.1/32')].flatMap((range) => range ?? []),
    clock,
    lookUp(_host, signal) {
      signals.push(signal)
      begun()
      const { promise, reject } = Promise.withResolvers<never>()
      signal.addEventListener('abort', () => reject(Object.assign(new Error('cancelled'), { code: 'ECANCELLED' })))
      return Promise.race([promise, found.promise])
    },
  })
  const get = (host: string, timeoutMs: number) =>
    egress.send({
      url: `http://${host}:${port}/`,
      method: 'GET',
      headers: {},
      body: null,
      timeoutMs,
      maxBytes: 100,
    })
  const nextLookup = () =>
    new Promise<void>((resolve) => {
      begun = resolve
    })
  return { egress, signals, get, nextLookup, find: () => found.resolve([{ address: '127.0.0.1', family: 4 }]) }
}

describe('the look-up of a request', () => {
  it('is no look-up of the system, which would hold a thread', async () => {
    const begun: string[] = []
    const hook = createHook({ init: (_id, type) => void begun.push(type) }).enable()
    const egress = openEgress({ allowed: [parseIpRange('127.0.0.1/32')].flatMap((range) => range ?? []), clock })
    const answer = await egress.send({
      url: `http://localhost:${port}/`,
      method: 'GET',
      headers: {},
      body: null,
      timeoutMs: 10_000,
      maxBytes: 100,
    })
    hook.disable()
    expect([answer.ok, begun.filter((type) => type.startsWith('GETADDRINFO'))]).toEqual([true, []])
    expect(begun).toContain('TCPCONNECTWRAP')
    await egress.close()
  })

  it('is cancelled when the time of the request is over', async () => {
    const { egress, signals, get } = waitingEgress()
    expect(await get('a.example', 50)).toMatchObject({ ok: false, failure: 'timeout' })
    expect(signals.map(({ aborted }) => aborted)).toEqual([true])
    await egress.close()
  })

  it('goes on while another request waits for it', async () => {
    const { egress, signals, get, find, nextLookup } = waitingEgress()
    const begun = nextLookup()
    const patient = get('a.example', 10_000)
    await begun
    expect(await get('a.example', 50)).toMatchObject({ ok: false, failure: 'timeout' })
    expect(signals[0]?.aborted).toBe(false)
    find()
    expect(await patient).toMatchObject({ ok: true, body: 'hello' })
    await egress.close()
  })

  it('is one of its own for a request that comes while another is being cancelled', async () => {
    const { egress, signals, get, find, nextLookup } = waitingEgress()
    const begun = nextLookup()
    const late = get('a.example', 50)
    await begun
    const again = Promise.withResolvers<ReturnType<typeof get>>()
    signals[0]?.addEventListener('abort', () => again.resolve(get('a.example', 10_000)))
    expect(await late).toMatchObject({ ok: false, failure: 'timeout' })
    find()
    expect(await again.promise).toMatchObject({ ok: true, body: 'hello' })
    expect(signals.length).toBeGreaterThanOrEqual(2)
    await egress.close()
  })

  it('ends with the platform', async () => {
    const { egress, signals, get, nextLookup } = waitingEgress()
    const begun = nextLookup()
    const pending = get('a.example', 10_000)
    await begun
    await egress.close()
    expect(signals[0]?.aborted).toBe(true)
    expect(await pending).toMatchObject({ ok: false, failure: 'unreachable' })
  })

  it('judges every address, of both families, and connects to these alone', async () => {
    const allowed = [parseIpRange('127.0.0.1/32')].flatMap((range) => range ?? [])
    const egress = openEgress({ allowed, clock, lookUp })
    const get = (host: string) =>
      egress.send({
        url: `http://${host}:${port}/`,
        method: 'GET',
        headers: {},
        body: null,
        timeoutMs: 10_000,
        maxBytes: 100,
      })
    expect(await get('four.example')).toMatchObject({ ok: true, body: 'hello' })
    expect(await get('localhost')).toMatchObject({ ok: true, body: 'hello' })
    for (const host of ['mixed.example', 'both.example', 'desk.example'])
      expect(await get(host), host).toMatchObject({ ok: false, failure: 'refused' })
    expect(await get('nobody.example')).toMatchObject({ ok: false, failure: 'unreachable' })
    await egress.close()
  })
})
