import { hkdfSync } from 'node:crypto'
import { once } from 'node:events'
import { connect } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { createPeerClient } from '../../../../src/adapters/peers/peer-client.ts'
import { openPeerServer, type PeerServerOptions } from '../../../../src/adapters/peers/peer-server.ts'
import {
  HEADERS,
  type KeyBetween,
  MESSAGES,
  PATH,
  SEAL_BYTES,
  sealMessage,
} from '../../../../src/adapters/peers/sealed-messages.ts'
import { createSeenNumbers, WINDOW } from '../../../../src/adapters/peers/seen-numbers.ts'

const HOST = '127.0.0.1'
const MAX_BYTES = 10_000
const SIGNAL = new AbortController().signal

/** The keys of the platforms with this root. */
const keysOf =
  (root: string): KeyBetween =>
  (from, to) =>
    Buffer.from(hkdfSync('sha256', root, '', `${from} ${to}`, 32))
const keyBetween = keysOf('root')

const closing: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close()
})

/** A listener and what it was asked; it answers with the message in brackets. */
async function listener(options: Partial<PeerServerOptions> = {}) {
  const messages: string[] = []
  const answer = async (message: string) => {
    messages.push(message)
    return `[${message}]`
  }
  const server = await openPeerServer({
    owner: 'owner',
    host: HOST,
    port: 0,
    keyBetween,
    maxBytes: MAX_BYTES,
    answer,
    ...options,
  })
  closing.push(server.close)
  return { messages, port: server.port, peer: { owner: 'owner', url: `http://${HOST}:${server.port}` }, server }
}

function clientOf(owner = 'sender', keys = keyBetween, maxBytes = MAX_BYTES) {
  const client = createPeerClient({ owner, keyBetween: keys, maxBytes })
  closing.push(client.close)
  return client
}

/** A request as it goes over the wire, with changes. */
function requestOf(message = 'hello', { number = 1, from = 'sender', to = 'owner', keys = keyBetween } = {}) {
  const body = sealMessage(keys(from, to), MESSAGES.commands(number), message)
  const proof = sealMessage(keys(from, to), MESSAGES.proof(number, body.length), '').toString('base64url')
  return {
    path: PATH,
    method: 'POST',
    headers: { [HEADERS.from]: from, [HEADERS.number]: String(number), [HEADERS.proof]: proof },
    body: body as Uint8Array<ArrayBuffer>,
  }
}

type Request = ReturnType<typeof requestOf>

async function statusOf(port: number, { path, method, headers, body }: Request): Promise<number> {
  const hasBody = method !== 'GET'
  const response = await fetch(`http://${HOST}:${port}${path}`, { method, headers, ...(hasBody && { body }) })
  expect(response.status === 200 || (await response.text()) === '').toBe(true)
  return response.status
}

describe('a message to a peer', () => {
  it('is answered, as are others over the same connections', async () => {
    const { peer, messages } = await listener()
    const { send } = clientOf()
    const answers = await Promise.all(['a', 'b', 'ü'].map((message) => send(peer, message, SIGNAL)))
    expect(answers).toEqual(['[a]', '[b]', '[ü]'])
    expect(messages.toSorted()).toEqual(['a', 'b', 'ü'])
    expect(await send(peer, 'again', SIGNAL)).toBe('[again]')
  })

  it('may have the largest size, and no byte more', async () => {
    const { peer, messages } = await listener({ answer: async () => 'short' })
    const { send } = clientOf()
    expect(await send(peer, 'x'.repeat(MAX_BYTES), SIGNAL)).toBe('short')
    await expect(send(peer, 'x'.repeat(MAX_BYTES + 1), SIGNAL)).rejects.toThrow('413')
    expect(messages).toEqual([])
  })

  it('has no answer that is larger than the client takes', async () => {
    const { peer } = await listener({ answer: async (message) => 'x'.repeat(Number(message)), maxBytes: MAX_BYTES * 2 })
    const { send } = clientOf()
    expect(await send(peer, String(MAX_BYTES), SIGNAL)).toHaveLength(MAX_BYTES)
    await expect(send(peer, String(MAX_BYTES + 1), SIGNAL)).rejects.toThrow()
    await expect(send(peer, String(MAX_BYTES * 2 + 1), SIGNAL)).rejects.toThrow('500')
  })

  it('fails when nobody listens, the listener throws, or the signal aborts', async () => {
    const failing = await listener({
      answer: async () => {
        throw new Error('broken')
      },
    })
    const { send } = clientOf()
    await expect(send(failing.peer, 'a', SIGNAL)).rejects.toThrow('500')
    const silent = await listener({ answer: () => new Promise(() => undefined) })
    closing.pop()
    const abort = new AbortController()
    const answer = send(silent.peer, 'a', abort.signal)
    abort.abort()
    await expect(answer).rejects.toThrow()
    await expect(send({ owner: 'owner', url: `http://${HOST}:9` }, 'a', SIGNAL)).rejects.toThrow()
  })

  it('is answered by a listener that stops meanwhile', async () => {
    const asked = Promise.withResolvers<void>()
    const answer = Promise.withResolvers<string>()
    const { peer, server } = await listener({
      answer: () => {
        asked.resolve()
        return answer.promise
      },
    })
    const { send } = clientOf()
    const sent = send(peer, 'a', SIGNAL)
    await asked.promise
    const closed = server.close()
    await expect(send(peer, 'b', SIGNAL)).rejects.toThrow()
    answer.resolve('late')
    expect(await sent).toBe('late')
    await closed
    closing.splice(0, 1)
  })
})

describe('a stranger', () => {
  it.each<[string, Request, number]>([
    ['asks with another root', requestOf('a', { keys: keysOf('another root') }), 401],
    ['asks with a key for another process', requestOf('a', { to: 'another' }), 401],
    ['names another sender', { ...requestOf(), headers: { ...requestOf().headers, [HEADERS.from]: 'other' } }, 401],
    ['changes the number', { ...requestOf(), headers: { ...requestOf().headers, [HEADERS.number]: '2' } }, 401],
    ['names no number', { ...requestOf(), headers: { ...requestOf().headers, [HEADERS.number]: 'x' } }, 401],
    ['changes the length', { ...requestOf(), body: Buffer.concat([requestOf().body, Buffer.alloc(1)]) }, 401],
    ['changes the body', { ...requestOf(), body: Buffer.alloc(requestOf().body.length) }, 401],
    ['proves nothing', { ...requestOf(), headers: { ...requestOf().headers, [HEADERS.proof]: '' } }, 401],
    ['sends a long name', requestOf('a', { from: 'x'.repeat(301) }), 401],
    ['sends too much', { ...requestOf(), body: Buffer.alloc(MAX_BYTES + SEAL_BYTES + 1) }, 413],
    ['asks for another path', { ...requestOf(), path: '/' }, 404],
    ['asks by another method', { ...requestOf(), method: 'GET' }, 404],
  ])('is refused: %s', async (_what, request, status) => {
    const { port, messages } = await listener()
    expect(await statusOf(port, request)).toBe(status)
    expect(messages).toEqual([])
  })

  it('is refused before a byte of its body is read', async () => {
    const { port } = await listener()
    const socket = connect(port, HOST)
    const { headers } = requestOf('a', { keys: keysOf('another root') })
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`)
    socket.write([`POST ${PATH} HTTP/1.1`, 'host: x', 'content-length: 5000', ...lines, '', ''].join('\r\n'))
    const [answer] = await once(socket, 'data')
    expect(String(answer)).toMatch(/^HTTP\/1.1 401 /)
    socket.destroy()
  })

  it('is refused when it sends what it has recorded, and the sender still answered', async () => {
    const { port, peer, messages } = await listener()
    const recorded = requestOf('hello', { number: 7 })
    expect(await statusOf(port, recorded)).toBe(200)
    expect(await statusOf(port, recorded)).toBe(409)
    expect(messages).toEqual(['hello'])
    expect(await clientOf('another sender').send(peer, 'a', SIGNAL)).toBe('[a]')
  })

  it('cannot answer for a peer', async () => {
    const { peer } = await listener({
      keyBetween: (from, to) => (from === 'owner' ? Buffer.alloc(32) : keyBetween(from, to)),
    })
    await expect(clientOf().send(peer, 'a', SIGNAL)).rejects.toThrow()
  })
})

describe('the numbers of a sender', () => {
  it('are taken once each, in any order within the window', () => {
    const take = createSeenNumbers()
    expect([5, 3, 4, 5, 3].map((number) => take('a', number))).toEqual([true, true, true, false, false])
    expect(take('b', 5)).toBe(true)
    expect(take('a', WINDOW + 5)).toBe(true)
    expect([take('a', 5), take('a', 6), take('a', 6)]).toEqual([false, true, false])
  })

  it('are forgotten below the window', () => {
    const take = createSeenNumbers()
    const numbers = Array.from({ length: WINDOW * 5 }, (_, n) => n + 1)
    expect(numbers.every((number) => take('a', number))).toBe(true)
    expect(numbers.some((number) => take('a', number))).toBe(false)
  })
})
