import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { roles } from '../../../src/main/config.ts'
import { type ApiClient, createApiClient, statusAndCode } from '../../support/e2e/api-client.ts'
import { embeddedStores, freshEnvironment, startServer, storeSetups, waitUntil } from '../../support/e2e/server.ts'
import { createTenantWorkspace, createWorldIn } from '../../support/e2e/world.ts'
import { createFaultEnvironment } from '../../support/faults/environment.ts'
import { createPlatformProcess, freePort, type PlatformProcess } from '../../support/faults/platform-process.ts'

const KNOWN_MS = 30_000
const ALL = roles.join(',')
/** The roles of the first versions. */
const EARLIER = 'command-api,query-api,projector,worker'
const cases = storeSetups.flatMap((setup) => [
  {
    ...setup,
    setup,
    what: 'projections, pings and leases in processes of their own',
    named: ['projector,worker', 'auction-api', 'public-api', 'command-api,query-api'],
  },
  { ...setup, setup, what: 'two processes of every role', named: [ALL, ALL] },
])

describe.each(cases)('$what over $name', ({ setup, named }) => {
  const running: PlatformProcess[] = []
  let ask: ApiClient
  let session = ''
  let lane: Readonly<Record<'campaignId' | 'publisherId', string>>
  let removed = () => {}

  beforeAll(async () => {
    const { env, remove } = await createFaultEnvironment(setup)
    removed = remove
    const main = await createWorldIn(env, async (writer) => {
      const tenant = await createTenantWorkspace(writer, { name: 'Apart' })
      const publisherId = await tenant.publisher({ name: 'Blue Leads' })
      const target = await tenant.target(await tenant.buyer({ name: 'Acme' }))
      const { campaignId } = await tenant.line({ name: 'Roofing' }, [target], { publisherId })
      lane = { campaignId, publisherId }
      return tenant
    })
    for (const ROLES of named) {
      const one = createPlatformProcess({ ...env, ROLES, PORT: await freePort() })
      running.push(one)
      one.start()
      await one.waitUntilAnswering()
      ask = createApiClient(() => one.baseUrl, main.session)
    }
    // Processes of another suite that were killed own the projections for a few seconds more.
    for (const one of running) {
      const isKnown = async () =>
        (await createApiClient(() => one.baseUrl, main.session)('/api/auth/session')).status !== 503
      await waitUntil('The session is known', isKnown, KNOWN_MS)
    }
    session = main.session
  })
  afterAll(async () => {
    // Gracefully, so that the next ones own the projections at once.
    await Promise.all(running.map((one) => one.stop()))
    removed()
  })

  /** Addresses of the processes that have a role. */
  const baseUrlsOf = (role: string) =>
    named.flatMap((list, n) => (list.split(',').includes(role) ? [running[n]?.baseUrl ?? ''] : []))

  test('a ping is answered where there is the role auction-api, and nowhere else', async () => {
    const path = `/api/tracking/campaigns/${lane.campaignId}/publishers/${lane.publisherId}`
    const closed = await ask(path, { method: 'DELETE' })
    expect(closed.status, closed.text).toBe(200)
    const opened = await ask(path, { method: 'PUT', body: {} })
    expect(opened.status, opened.text).toBe(201)
    const ping = (baseUrl: string) =>
      createApiClient(() => baseUrl, opened.body.key)('/api/rtb/v1/ping', {
        method: 'POST',
        body: { callerNumber: '+12125550123' },
      })
    const serving = baseUrlsOf('auction-api')
    for (const { baseUrl } of running) {
      if (!serving.includes(baseUrl)) expect((await ping(baseUrl)).status).toBe(404)
      else await waitUntil('The ping is answered', async () => (await ping(baseUrl)).status === 200, KNOWN_MS)
    }
  })

  test('a visitor is leased a number where there is the role public-api, and nowhere else', async () => {
    const created = await ask('/api/tracking/pools', {
      method: 'POST',
      body: { name: 'Site', campaignId: lane.campaignId },
    })
    expect(created.status, created.text).toBe(201)
    const body = { pool: created.body.pool.publicKey }
    const serving = baseUrlsOf('public-api')
    for (const { baseUrl } of running) {
      const lease = () => createApiClient(() => baseUrl, null)('/api/public/dni/lease', { method: 'POST', body })
      if (!serving.includes(baseUrl)) expect(statusAndCode(await lease())).toEqual([404, 'not_found'])
      else
        await waitUntil(
          'The pool is found, and has no numbers',
          async () => {
            const { status, body } = await lease()
            return status === 409 && body.error.code === 'pool_empty'
          },
          KNOWN_MS,
        )
      const snippet = await createApiClient(() => baseUrl, null)('/api/public/dni/svcdni.js')
      expect(snippet.status).toBe(serving.includes(baseUrl) ? 200 : 404)
    }
  })

  test('a simulated bidder answers from every process: one that asks it may ask itself', async () => {
    const bidder = { name: 'Dusk', latencyMs: 0, bidCents: null }
    const made = await ask('/api/sandbox/bidders', { method: 'POST', body: bidder })
    expect(made.status, made.text).toBe(201)
    const { pathname } = new URL(made.body.url)
    for (const { baseUrl } of running) {
      const answered = await createApiClient(() => baseUrl, null)(pathname, { method: 'POST', body: {} })
      expect(answered.body, answered.text).toEqual({ accept: false, reason: 'No budget' })
    }
  })

  test('a write is answered only once it is readable, or says that it may not be', async () => {
    let written = 0
    let readable = 0
    // While the processes share the projections out, a write may wait in vain, and says so.
    const isReadable = async () => {
      written += 1
      const name = `Buyer ${written}`
      const created = await ask('/api/tracking/buyers', { method: 'POST', body: { name } })
      expect(created.status, created.text).toBe(201)
      if (created.headers.get('svc-read-lag') !== null) return false
      const read = await ask(`/api/tracking/buyers/${created.body.buyer.id}`)
      expect([read.status, read.body.buyer.name]).toEqual([200, name])
      readable += 1
      return readable === 3
    }
    await waitUntil('Three writes are readable', isReadable, KNOWN_MS)
  })

  test('a key that one process revokes is refused by all of them at once', async () => {
    const path = '/api/tracking/api-keys'
    const created = await ask(path, { method: 'POST', body: { name: 'Reader', scopes: ['buyers:read'] } })
    expect(created.status).toBe(201)
    const { apiKey, key } = created.body
    const speaking = baseUrlsOf('query-api')
    const byKey = (baseUrl: string) => createApiClient(() => baseUrl, key)('/api/v1/buyers')
    for (const baseUrl of speaking) await waitUntil('The key works', async () => (await byKey(baseUrl)).status === 200)
    const [first = ''] = speaking
    const revoked = await createApiClient(() => first, session)(`${path}/${apiKey.id}`, { method: 'DELETE' })
    expect(revoked.status).toBe(200)
    for (const baseUrl of speaking) expect((await byKey(baseUrl)).status).toBe(401)
  })
})

test.each([
  [EARLIER, 1],
  [ALL, 0],
])('a process with ROLES=%s starts, and warns %i times that it answers no pings and leases', async (ROLES, times) => {
  const server = await startServer({ ...freshEnvironment(embeddedStores), ROLES })
  try {
    const lines =
      server.stdout().match(/^\{.*"level":40.*ROLES names every role but auction-api and public-api.*\}$/gm) ?? []
    expect(lines).toHaveLength(times)
  } finally {
    await server.dispose()
  }
})
