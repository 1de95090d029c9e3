import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { connect, type MongoConnection } from '../../../src/adapters/mongodb/connection.ts'
import { createApiClient } from '../../support/e2e/api-client.ts'
import { waitUntil } from '../../support/e2e/server.ts'
import { ownReadModels } from '../../support/e2e/stored-documents.ts'
import { createTenantWorkspace, createWorldIn } from '../../support/e2e/world.ts'
import { createFaultEnvironment, type FaultEnvironment } from '../../support/faults/environment.ts'
import {
  createPlatformProcess,
  freePort,
  type PlatformProcess,
  READY_MS,
} from '../../support/faults/platform-process.ts'
import { realStoresIn } from '../../support/faults/real-stores.ts'

const MISSING = /^Indexes of 2 collections of the read store are missing: /

describe.each(realStoresIn('lost-indexes'))('indexes that are lost under running processes, over $name', (setup) => {
  let environment: FaultEnvironment
  let database: MongoConnection
  let projector: PlatformProcess
  let api: PlatformProcess
  let session = ''
  let buyer = ''

  beforeAll(async () => {
    environment = await createFaultEnvironment(setup)
    const env = { ...environment.env, ...ownReadModels(setup) }
    const tenant = await createWorldIn(env, async (writer) => {
      const main = await createTenantWorkspace(writer, { name: 'Lost' })
      return { session: main.session, buyer: await main.buyer({ name: 'Acme' }) }
    })
    session = tenant.session
    buyer = tenant.buyer
    database = await connect(env.READ_STORE_URL ?? '')
    projector = createPlatformProcess({ ...env, ROLES: 'projector' })
    api = createPlatformProcess({ ...env, ROLES: 'command-api,query-api', PORT: await freePort() })
    for (const one of [projector, api]) one.start()
    await untilReady()
  })
  afterAll(async () => {
    await Promise.all([projector?.stop(), api?.stop()])
    await database?.close()
    environment?.remove()
  })

  async function untilReady(): Promise<void> {
    for (const one of [projector, api])
      await waitUntil('It is ready', () => one.answers('/readyz'), READY_MS).catch((error: unknown) => {
        throw new Error(`${error}: ${one.lastOutput()}`)
      })
  }

  /** Every index of the database, as `<collection> <its paths>`. */
  const indexes = () =>
    database.withDb(async (db) => {
      const all = (await db.collections()).map(async (one) =>
        (await one.listIndexes().toArray()).map(({ key }) => `${one.collectionName} ${JSON.stringify(key)}`),
      )
      return (await Promise.all(all)).flat().toSorted()
    })

  const problemsOf = async ({ baseUrl }: PlatformProcess): Promise<readonly string[]> =>
    (await createApiClient(() => baseUrl, null)('/readyz')).body.problems
  const ask = (path: string, options = {}) => createApiClient(() => api.baseUrl, session)(path, options)

  test('a dropped database is built again from the log, with every index and the mark of its format', async () => {
    const before = await indexes()
    await database.withDb((db) => db.dropDatabase())
    await waitUntil('The indexes are back', async () => (await indexes()).length === before.length, READY_MS)
    expect(await indexes()).toEqual(before)
    await untilReady()
    await waitUntil(
      'The buyer is read',
      async () => (await ask(`/api/tracking/buyers/${buyer}`)).status === 200,
      READY_MS,
    )
    expect((await ask('/api/tracking/buyers', { method: 'POST', body: { name: 'Bright' } })).status).toBe(201)
    await api.stop()
    api.start()
    await untilReady()
  })

  /** Drops an index of a read model whose name no other collection has: a test server takes the first of a name, in any of them. */
  const dropIndex = () =>
    database.withDb(async (db) => {
      const all = (await db.collections()).map(async (one) =>
        (await one.listIndexes().toArray()).map(({ name }) => ({ one, name: String(name) })),
      )
      const byName = Map.groupBy((await Promise.all(all)).flat(), ({ name }) => name)
      const own = [...byName.values()].flatMap((found) => (found.length === 1 ? found : []))
      const dropped = own.find(({ one }) => /_v\d+$/.test(one.collectionName))
      if (!dropped) throw new Error('No index has a name of its own.')
      await dropped.one.dropIndex(dropped.name)
    })

  test('dropped indexes are told by a process without a projector, and come back with one', async () => {
    const before = await indexes()
    await projector.stop()
    await dropIndex()
    await database.withDb((db) => db.collection('_notes').dropIndex('s_1_l_1_t_-1_i_-1'))
    await waitUntil('It tells that indexes are missing', async () =>
      (await problemsOf(api)).some((problem) => MISSING.test(problem)),
    )
    projector.start()
    await untilReady()
    await waitUntil('The indexes are back', async () => (await indexes()).length === before.length, READY_MS)
    expect(await indexes()).toEqual(before)
  })

  test('an index that is dropped beside a running projector comes back', async () => {
    const before = await indexes()
    await dropIndex()
    expect(await indexes()).not.toEqual(before)
    await waitUntil('The index is back', async () => (await indexes()).length === before.length, READY_MS)
    expect(await indexes()).toEqual(before)
  })
})
