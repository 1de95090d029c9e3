import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type ApiClient, createApiClient } from '../../support/e2e/api-client.ts'
import { commandOf, environmentOf } from '../../support/e2e/compose.ts'
import { openPathProxy } from '../../support/e2e/path-proxy.ts'
import { storeSetups, waitUntil } from '../../support/e2e/server.ts'
import { createTenantWorkspace, createWorldIn } from '../../support/e2e/world.ts'
import { createFaultEnvironment } from '../../support/faults/environment.ts'
import {
  createPlatformProcess,
  freePort,
  type PlatformProcess,
  READY_MS,
} from '../../support/faults/platform-process.ts'

const SERVICES = ['projector', 'query-api', 'worker', 'command-api', 'auction-api', 'public-api']
/** What the user of compose writes into `.env`. */
const DOT_ENV = {
  NODE_ENV: 'production',
  CARRIER_URL: 'simulator:',
  MONGO_PASSWORD: 'secret',
  MONGO_ROOT_PASSWORD: 'secret',
  OPERATOR_TOKEN: 'operator-token-of-the-compose-services',
}

/** Over servers where there are any: the compose file has no other stores. */
describe.each(storeSetups.slice(-1))('the services of the compose file, over $name', (setup) => {
  const running = new Map<string, PlatformProcess>()
  const processOf = (name: string) => {
    const found = running.get(name)
    if (!found) throw new Error(`There is no service ${name}.`)
    return found
  }
  let proxy: Awaited<ReturnType<typeof openPathProxy>>
  let ask: ApiClient
  let dialed = ''
  let removed = () => {}

  beforeAll(async () => {
    const { env, remove } = await createFaultEnvironment(setup)
    removed = remove
    const { MASTER_KEY = '', EVENT_LOG_URL = '', READ_STORE_URL = '', DATA_DIR = '' } = env
    const world = await createWorldIn(env, async (writer) => {
      const tenant = await createTenantWorkspace(writer, { name: 'Composed' })
      const target = await tenant.target(await tenant.buyer({ name: 'Acme' }))
      return { session: tenant.session, line: await tenant.line({ name: 'Roofing' }, [target]) }
    })
    dialed = world.line.e164
    for (const name of SERVICES) {
      // The service's command and environment; the stores, files and port are those of the test instead of the container's.
      const places = { EVENT_LOG_URL, READ_STORE_URL, DATA_DIR, HOST: '127.0.0.1', PORT: await freePort() }
      const one = createPlatformProcess(
        { ...environmentOf(name, { ...DOT_ENV, MASTER_KEY }), ...places },
        commandOf(name),
      )
      running.set(name, one)
      one.start()
    }
    proxy = await openPathProxy(Object.fromEntries([...running].map(([name, { baseUrl }]) => [name, baseUrl])))
    ask = createApiClient(() => proxy.baseUrl, world.session)
    for (const name of SERVICES) await waitUntil(`${name} is ready`, () => processOf(name).answers('/readyz'), READY_MS)
  })
  afterAll(async () => {
    await proxy?.close()
    await Promise.all([...running.values()].map((one) => one.stop()))
    removed()
  })

  test('run side by side: none has ended', () => {
    for (const name of SERVICES) expect(processOf(name).endedWith(), processOf(name).lastOutput()).toBeNull()
  })

  test('one OpenAPI document tells the operations of all of them, whichever answers', async () => {
    const operations = async (baseUrl: string) => {
      const { body } = await createApiClient(() => baseUrl, null)('/openapi.json')
      return Object.entries<object>(body.paths).flatMap(([path, methods]) =>
        Object.keys(methods).map((method) => `${method} ${path}`),
      )
    }
    const shown = await operations(proxy.baseUrl)
    for (const one of [
      'post /api/rtb/v1/ping',
      'post /api/public/dni/lease',
      'get /api/v1/calls',
      'post /api/tracking/buyers',
    ])
      expect(shown).toContain(one)
    for (const { baseUrl } of running.values()) expect((await operations(baseUrl)).toSorted()).toEqual(shown.toSorted())
  })

  test('a record that one of them has written is read from another', async () => {
    const created = await ask('/api/tracking/buyers', { method: 'POST', body: { name: 'Bright' } })
    expect(created.status, created.text).toBe(201)
    await waitUntil('The buyer is read', async () => {
      const { status } = await ask(`/api/tracking/buyers/${created.body.buyer.id}`)
      return status === 200
    })
  })

  test('a call is placed, routed and settled', async () => {
    const placed = await ask('/api/sandbox/calls', { method: 'POST', body: { to: dialed, mode: 'instant' } })
    expect(placed.status, placed.text).toBe(201)
    await waitUntil('The call has settled', async () => {
      const { body } = await ask(`/api/tracking/calls/${placed.body.callId}`)
      return body?.call?.status === 'completed'
    })
  })

  test('a request to a service that restarts is answered, or refused with 503 and Retry-After', async () => {
    const restarted = processOf('query-api')
    await restarted.stop()
    const asked = ask('/api/tracking/buyers')
    restarted.start()
    const { status, headers } = await asked
    expect([
      [200, null],
      [503, '1'],
    ]).toContainEqual([status, headers.get('retry-after')])
    await waitUntil('The buyers are read', async () => (await ask('/api/tracking/buyers')).status === 200, READY_MS)
  })

  test('a request to a service that does not answer is refused with 503 and Retry-After', async () => {
    const stopped = processOf('auction-api')
    await stopped.stop()
    const answered = await ask('/api/rtb/v1/ping', { method: 'POST', body: {} })
    expect([answered.status, answered.headers.get('retry-after'), answered.body.error.code]).toEqual([
      503,
      '1',
      'unavailable',
    ])
    stopped.start()
    await waitUntil('It answers again', () => stopped.answers('/readyz'), READY_MS)
  })
})
