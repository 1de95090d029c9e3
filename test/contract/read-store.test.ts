import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { openMongoReadStore } from '../../src/adapters/mongodb/read-store.ts'
import { openSqliteReadStore } from '../../src/adapters/sqlite/read-store.ts'
import { type ReadStore, StoreUnavailable } from '../../src/ports/read-store.ts'
import { openFaultProxy } from '../support/faults/fault-proxy.ts'
import { createMemoryReadStore } from '../support/memory/read-store.ts'
import { databaseOf, mongoUrl } from '../support/servers.ts'
import { type ReadStoreSetup, readStoreContract } from './read-store.contract.ts'

async function openSessions(open: () => Promise<ReadStore>, clean: () => Promise<void>): Promise<ReadStoreSetup> {
  const [store, other] = [await open(), await open()]
  return {
    store,
    other,
    close: async () => {
      for (const collection of await store.collections()) await store.drop(collection, collection)
      await store.close()
      await other.close()
      await clean()
    },
  }
}

readStoreContract('SQLite', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'ringledger-views-'))
  return openSessions(
    async () => openSqliteReadStore(join(folder, 'views.db')),
    () => rm(folder, { recursive: true }),
  )
})

readStoreContract('memory', async () => {
  const store = createMemoryReadStore()
  return { store, other: store, close: () => store.close() }
})

const url = mongoUrl()
if (url) {
  const database = databaseOf(url, `contract-${randomUUID()}`)
  readStoreContract('MongoDB', () =>
    openSessions(
      () => openMongoReadStore(database),
      async () => {},
    ),
  )

  describe('MongoDB behind a broken connection', () => {
    test('is unavailable while the connection is cut, and serves again without being reopened', async () => {
      const way = await openFaultProxy(database)
      const store = await openMongoReadStore(way.url)
      await store.commit([], { name: 'away', expected: null, next: { position: 1, at: null } })
      way.cut()
      await expect(store.checkpoint('away')).rejects.toThrow(StoreUnavailable)
      const next = { position: 2, at: null }
      await expect(store.commit([], { name: 'away', expected: 1, next })).rejects.toThrow(StoreUnavailable)
      way.restore()
      expect(await store.checkpoint('away')).toEqual({ position: 1, at: null })
      expect(await store.commit([], { name: 'away', expected: 1, next })).toBe(true)
      await store.drop('away', 'away')
      await store.close()
      await way.close()
    }, 20_000)

    test('fails to open with a message, if nothing listens or the address is invalid', async () => {
      const way = await openFaultProxy(database)
      await way.close()
      await expect(openMongoReadStore(way.url)).rejects.toThrow(StoreUnavailable)
      await expect(openMongoReadStore('mongo://nowhere')).rejects.toThrow('must look like mongodb://')
    }, 20_000)
  })
}
