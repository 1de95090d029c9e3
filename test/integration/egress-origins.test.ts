import { createServer } from 'node:http'
import { connect, type Socket } from 'node:net'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { exchange } from '../../src/adapters/egress/exchange.ts'
import { createOrigins } from '../../src/adapters/egress/origins.ts'
import { listen } from '../support/fixtures/egress-rig.ts'

const server = createServer((request, response) => {
  if (request.url === '/close') response.setHeader('connection', 'close')
  response.end('hello')
})
let port = 0
let connection = Promise.withResolvers<Socket>()
let closed = Promise.withResolvers<void>()

beforeAll(async () => {
  port = await listen(server)
})
afterAll(() => {
  server.closeAllConnections()
  server.close()
})
beforeEach(() => {
  connection = Promise.withResolvers()
  closed = Promise.withResolvers()
})

/** Pools whose connections wait for `allowed`, and requests through them. */
function openOrigins(allowed: Promise<unknown>, idle: { readonly idleMs?: number; readonly maxIdleMs?: number } = {}) {
  const origins = createOrigins({
    connections: 1,
    ...idle,
    connect: () => (options, callback) => {
      const open = () => {
        const socket = connect(Number(options.port), options.hostname)
        socket.once('error', (error) => callback(error, null))
        socket.once('connect', () => {
          callback(null, socket)
          connection.resolve(socket)
          // After the pool's own listener.
          socket.once('close', () => closed.resolve())
        })
      }
      allowed.then(open, (error: Error) => callback(error, null))
    },
  })
  const get = (path: string, more: { readonly headers?: Record<string, string>; readonly timeoutMs?: number } = {}) => {
    const url = new URL(`http://127.0.0.1:${port}${path}`)
    const request = { url: url.href, method: 'GET' as const, headers: {}, body: null, timeoutMs: 20_000, maxBytes: 100 }
    return origins.during(url.origin, (pool) => exchange(pool, url, { ...request, ...more }))
  }
  return { origins, get }
}

it('a pool is held while it has a connection', async () => {
  const { origins, get } = openOrigins(Promise.resolve())
  await get('/')
  await get('/')
  expect(origins.held()).toBe(1)
  const socket = await connection.promise
  socket.destroy()
  await closed.promise
  expect(origins.held()).toBe(0)
  await get('/')
  expect(origins.held()).toBe(1)
  await origins.close()
  expect(origins.held()).toBe(0)
})

it.each([
  ['by its server', '/close', {}],
  ['after it was idle', '/', { idleMs: 1, maxIdleMs: 1 }],
  ['after it was idle, whatever its server offers', '/', { idleMs: 60_000, maxIdleMs: 1 }],
])('a pool ends with its connection, which is closed %s', async (_how, path, idle) => {
  const { origins, get } = openOrigins(Promise.resolve(), idle)
  expect(await get(path)).toMatchObject({ body: 'hello' })
  await closed.promise
  expect(origins.held()).toBe(0)
  await origins.close()
})

it.each(['expect', 'transfer-encoding', 'not a name'])('a request with a header "%s" leaves no pool', async (name) => {
  const { origins, get } = openOrigins(Promise.resolve())
  await expect(get('/', { headers: { [name]: '100-continue' } })).rejects.toThrow()
  expect(origins.held()).toBe(0)
  await origins.close()
})

it('a connection that fails leaves no pool', async () => {
  const { origins, get } = openOrigins(Promise.reject(new Error('no way')))
  await expect(get('/')).rejects.toThrow('no way')
  expect(origins.held()).toBe(0)
  await origins.close()
})

it('a connection that comes after its request is kept for the next', async () => {
  const gate = Promise.withResolvers<void>()
  const { origins, get } = openOrigins(gate.promise)
  await expect(get('/', { timeoutMs: 20 })).rejects.toMatchObject({ failure: 'timeout' })
  expect(origins.held()).toBe(1)
  gate.resolve()
  expect(await get('/close')).toMatchObject({ body: 'hello' })
  await closed.promise
  expect(origins.held()).toBe(0)
  await origins.close()
})
