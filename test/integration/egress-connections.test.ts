import { createServer, type ServerResponse } from 'node:http'
import { createServer as createHttpsServer } from 'node:https'
import { createServer as createTcpServer, type Socket } from 'node:net'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest'
import { listen, lookUpIn, OPEN, openTestEgress } from '../support/fixtures/egress-rig.ts'
import { selfSigned } from '../support/fixtures/self-signed.ts'

describe('a connection of https', () => {
  const certificate = selfSigned('good.example')
  const names: string[] = []
  let asked = 0
  const server = createHttpsServer(
    {
      ...certificate,
      SNICallback(name, done) {
        names.push(name)
        done(null)
      },
    },
    (_request, response) => {
      asked += 1
      response.end('hello')
    },
  ).on('tlsClientError', () => undefined)
  const plain = createTcpServer((socket) => socket.on('error', () => undefined).end('nonsense\n'))
  const { egress, get } = openTestEgress(lookUpIn({ 'good.example': [OPEN], 'other.example': [OPEN] }))
  let [port, plainPort] = [0, 0]

  beforeAll(async () => {
    port = await listen(server)
    plainPort = await listen(plain)
  })
  afterAll(async () => {
    await egress.close()
    server.closeAllConnections()
    server.close()
    plain.close()
  })

  test.each(['whole', 'excerpt'] as const)('to a self-signed certificate is not made: %s', async (answer) => {
    expect(await get(`https://good.example:${port}/`, { answer })).toMatchObject({
      ok: false,
      failure: 'unreachable',
      sentence: 'The certificate of the server is not valid (DEPTH_ZERO_SELF_SIGNED_CERT).',
    })
    expect(asked).toBe(0)
  })

  it('asks for the certificate of the name, at the checked address', async () => {
    names.length = 0
    await get(`https://other.example:${port}/`)
    expect(names).toEqual(['other.example'])
  })

  it('is made to a certificate of the name alone', async () => {
    const before = getCACertificates('default')
    setDefaultCACertificates([...before, certificate.cert])
    try {
      expect(await get(`https://good.example:${port}/`)).toMatchObject({ ok: true, body: 'hello' })
      expect(await get(`https://other.example:${port}/`)).toMatchObject({
        ok: false,
        sentence: 'The certificate of the server is not valid (ERR_TLS_CERT_ALTNAME_INVALID).',
      })
      expect(asked).toBe(1)
    } finally {
      setDefaultCACertificates(before)
    }
  })

  it('is none to a server without it', async () => {
    expect(await get(`https://good.example:${plainPort}/`)).toMatchObject({
      ok: false,
      failure: 'unreachable',
      sentence: expect.stringMatching(/^The server made no secure connection \(/),
    })
  })
})

describe('the connections of an origin', () => {
  const held: ServerResponse[] = []
  const asked: string[] = []
  const sockets: Socket[] = []
  let arrived = Promise.withResolvers<void>()
  const server = createServer((request, response) => {
    asked.push(request.url ?? '')
    if (request.url !== '/held') return void response.end('hello')
    held.push(response)
    arrived.resolve()
  }).on('connection', (socket) => sockets.push(socket))
  let base = ''

  beforeAll(async () => {
    base = `http://127.0.0.1:${await listen(server)}`
  })
  afterAll(() => {
    server.closeAllConnections()
    server.close()
  })

  it('have a limit: a request that waits for one longer than its time is never sent', async () => {
    const { egress, get } = openTestEgress(lookUpIn({}), 1)
    const first = get(`${base}/held`)
    await arrived.promise
    expect(await get(`${base}/late`, { timeoutMs: 50 })).toMatchObject({ ok: false, failure: 'timeout' })
    expect(await get(`${base}/late`, { timeoutMs: 50, answer: 'excerpt', bodyMs: 20_000 })).toMatchObject({
      ok: false,
      failure: 'timeout',
    })
    const patient = get(`${base}/patient`)
    held[0]?.end('first')
    expect(await first).toMatchObject({ ok: true, body: 'first' })
    expect(await patient).toMatchObject({ ok: true, body: 'hello' })
    expect([asked, sockets.length]).toEqual([['/held', '/patient'], 1])
    await egress.close()
  })

  it('end with the platform, and so do the requests that wait for one', async () => {
    arrived = Promise.withResolvers()
    const { egress, get } = openTestEgress(lookUpIn({}), 1)
    const pending = [get(`${base}/held`), get(`${base}/waiting`)]
    await arrived.promise
    await egress.close()
    const stopped = { ok: false, failure: 'unreachable' }
    expect(await Promise.all(pending)).toMatchObject([stopped, stopped])
    expect(await get(`${base}/`)).toMatchObject({ ...stopped, sentence: 'The platform is stopping.' })
  })
})
