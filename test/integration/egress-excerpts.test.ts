import { createServer, type Socket } from 'node:net'
import { afterAll, beforeAll, beforeEach, describe, expect, it, test } from 'vitest'
import { listen, openTestEgress } from '../support/fixtures/egress-rig.ts'

const MB = 1024 * 1024
const ENDLESS = 1024 * MB
const head = (length: number, more = '') => `HTTP/1.1 200 OK\r\nx-a: b\r\ncontent-length: ${length}\r\n${more}\r\n`
const chunk = (text: string) => `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`
const CHUNKED = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n'

let written = 0
let poured = Promise.withResolvers<void>()

/** Writes up to 1 GB as fast as it is read, until the connection ends. */
function pour(socket: Socket): void {
  socket.once('close', () => poured.resolve())
  const block = Buffer.alloc(64 * 1024, 'x')
  const more = () => {
    while (written < ENDLESS && !socket.destroyed) {
      written += block.length
      if (!socket.write(block)) return void socket.once('drain', more)
    }
  }
  more()
}

/** What the server does with its connection when it is asked for a path. */
const ways: Readonly<Record<string, (socket: Socket) => void>> = {
  '/short': (socket) => socket.write(`${head(5)}hello`),
  '/full': (socket) => socket.write(head(100) + 'x'.repeat(100)),
  '/long': (socket) => socket.write(head(101) + 'x'.repeat(101)),
  '/pieces': (socket) => socket.write(CHUNKED + ['ab', 'cd', 'ef'].map(chunk).join('') + chunk('')),
  // The limit of 100 bytes falls into the last character.
  '/wide': (socket) => socket.write(`${head(101)}${'x'.repeat(98)}€`),
  '/binary': (socket) => socket.write(Buffer.concat([Buffer.from(head(3)), Buffer.from([0xff, 0x41, 0xe2])])),
  '/zipped': (socket) => socket.write(`${head(5, 'content-encoding: gzip\r\n')}hello`),
  '/endless': (socket) => void socket.write(head(ENDLESS), () => pour(socket)),
  '/drip': (socket) => socket.write(`${head(50)}drip`),
  '/header-drip': (socket) => socket.write('HTTP/1.1 200 OK\r\nx-a'),
  '/early': (socket) => socket.write('HTTP/1.1 103 Early Hints\r\n\r\n'),
  '/reset-late': (socket) => void socket.write(`${head(50)}part`, () => socket.resetAndDestroy()),
  '/end-late': (socket) => socket.end(`${head(50)}part`),
  '/nonsense-late': (socket) => socket.write(`${CHUNKED}${chunk('part')}zz\r\n`),
  '/reset-early': (socket) => void socket.resetAndDestroy(),
  '/end-early': (socket) => socket.end('HTTP/1.1 200 OK\r\nx-a'),
  '/nonsense': (socket) => socket.write('nonsense\r\n\r\n'),
  '/away': (socket) => socket.write('HTTP/1.1 307 Away\r\nlocation: /short\r\ncontent-length: 4\r\n\r\naway'),
}

const asked: string[] = []
const sockets: Socket[] = []
const server = createServer((socket) => {
  sockets.push(socket)
  socket.on('error', () => undefined)
  socket.on('data', (data) => {
    const path = String(data).split(' ')[1] ?? ''
    asked.push(path)
    ways[path]?.(socket)
  })
})
const { egress, get } = openTestEgress()
let base = ''

beforeAll(async () => {
  base = `http://127.0.0.1:${await listen(server)}`
})
afterAll(async () => {
  await egress.close()
  for (const socket of sockets) socket.destroy()
  server.close()
})
beforeEach(() => {
  asked.length = 0
  written = 0
  poured = Promise.withResolvers()
})

const excerpt = (path: string, more: object = {}) => get(`${base}${path}`, { answer: 'excerpt', ...more })
const whole = (path: string, more: object = {}) => get(`${base}${path}`, more)

describe('an excerpt of a response', () => {
  test.each([
    ['/short', 'hello'],
    ['/full', 'x'.repeat(100)],
    ['/long', 'x'.repeat(100)],
    ['/pieces', 'abcdef'],
    ['/wide', 'x'.repeat(98)],
    ['/binary', '\ufffdA\ufffd'],
    ['/zipped', 'hello'],
    ['/reset-late', 'part'],
    ['/end-late', 'part'],
    ['/nonsense-late', 'part'],
  ])('of %s', async (path, body) => {
    expect(await excerpt(path)).toMatchObject({ ok: true, status: 200, body })
  })

  it('has the headers', async () => {
    expect(await excerpt('/long')).toMatchObject({ headers: { 'x-a': 'b', 'content-length': '101' } })
  })

  it('is cut when its body drips', async () => {
    expect(await excerpt('/drip', { bodyMs: 100 })).toMatchObject({ ok: true, status: 200, body: 'drip' })
    expect(await excerpt('/drip', { timeoutMs: 200 })).toMatchObject({ ok: true, status: 200, body: 'drip' })
  })

  it('of nothing keeps the status', async () => {
    expect(await excerpt('/short', { maxBytes: 0 })).toMatchObject({ ok: true, status: 200, body: '' })
  })

  it('reads no more of an endless body than it keeps', async () => {
    expect(await excerpt('/endless', { maxBytes: 2_048 })).toMatchObject({ ok: true, body: 'x'.repeat(2_048) })
    await poured.promise
    expect(written).toBeLessThan(64 * MB)
  })

  test.each(['/header-drip', '/early', '/never'])('needs the headers in time: %s', async (path) => {
    expect(await excerpt(path, { timeoutMs: 100, bodyMs: 20_000 })).toMatchObject({ ok: false, failure: 'timeout' })
  })

  test.each(['/reset-early', '/end-early', '/nonsense'])('needs the headers: %s', async (path) => {
    expect(await excerpt(path)).toMatchObject({ ok: false, failure: 'unreachable', sentence: expect.any(String) })
  })

  it('is that of a redirect, which is not followed', async () => {
    expect(await excerpt('/away')).toMatchObject({ ok: true, status: 307, body: 'away' })
    expect(asked).toEqual(['/away'])
  })

  it('leaves the connection open for the next request, unless it was cut', async () => {
    await excerpt('/long')
    const before = sockets.length
    for (const path of ['/short', '/full', '/pieces']) await excerpt(path)
    expect(sockets.length - before).toBe(1)
    await excerpt('/long')
    await excerpt('/short')
    expect(sockets.length - before).toBe(2)
  })
})

describe('a whole response', () => {
  test.each(['/short', '/full', '/pieces'])('of %s comes', async (path) => {
    expect(await whole(path)).toMatchObject({ ok: true, status: 200 })
  })

  test.each([
    ['/long', 'too_large'],
    ['/endless', 'too_large'],
    ['/reset-late', 'unreachable'],
    ['/end-late', 'unreachable'],
    ['/reset-early', 'unreachable'],
    ['/nonsense-late', 'unreachable'],
  ])('of %s fails: %s', async (path, failure) => {
    expect(await whole(path)).toMatchObject({ ok: false, failure })
  })

  it('of a body that drips times out', async () => {
    expect(await whole('/drip', { timeoutMs: 100, bodyMs: 20_000 })).toMatchObject({ ok: false, failure: 'timeout' })
  })
})
