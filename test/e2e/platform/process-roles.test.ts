import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type ApiClient, createApiClient } from '../../support/e2e/api-client.ts'
import { storeSetups, waitUntil } from '../../support/e2e/server.ts'
import { createTenantWorkspace, createWorldIn } from '../../support/e2e/world.ts'
import { createFaultEnvironment } from '../../support/faults/environment.ts'
import { createPlatformProcess, freePort, type PlatformProcess } from '../../support/faults/platform-process.ts'

const KNOWN_MS = 30_000
const ALL = 'command-api,query-api,projector,worker'
const cases = storeSetups.flatMap((setup) => [
  {
    ...setup,
    setup,
    what: 'projections in a process of their own',
    roles: ['projector,worker', 'command-api,query-api'],
  },
  { ...setup, setup, what: 'two processes of every role', roles: [ALL, ALL] },
])

describe.each(cases)('$what over $name', ({ setup, roles }) => {
  const running: PlatformProcess[] = []
  let ask: ApiClient
  let session = ''
  let removed = () => {}

  beforeAll(async () => {
    const { env, remove } = await createFaultEnvironment(setup)
    removed = remove
    const main = await createWorldIn(env, (writer) => createTenantWorkspace(writer, { name: 'Apart' }))
    for (const ROLES of roles) {
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
    const speaking = roles.flatMap((role, n) => (role.includes('api') ? [running[n]?.baseUrl ?? ''] : []))
    const byKey = (baseUrl: string) => createApiClient(() => baseUrl, key)('/api/v1/buyers')
    for (const baseUrl of speaking) await waitUntil('The key works', async () => (await byKey(baseUrl)).status === 200)
    const [first = ''] = speaking
    const revoked = await createApiClient(() => first, session)(`${path}/${apiKey.id}`, { method: 'DELETE' })
    expect(revoked.status).toBe(200)
    for (const baseUrl of speaking) expect((await byKey(baseUrl)).status).toBe(401)
  })
})
