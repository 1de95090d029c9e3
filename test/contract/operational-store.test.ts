import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openMongoOperationalStore } from '../../src/adapters/mongodb/operational-store.ts'
import { openSqliteOperationalStore } from '../../src/adapters/sqlite/operational-store.ts'
import type { OperationalStore } from '../../src/ports/operational-store.ts'
import { databaseOf, mongoUrl } from '../support/servers.ts'
import { type OperationalStoreSetup, operationalStoreContract } from './operational-store.contract.ts'
import { snapshotsContract } from './snapshots.contract.ts'

async function openSessions(
  open: () => Promise<OperationalStore>,
  clean: () => Promise<void>,
): Promise<OperationalStoreSetup> {
  const [store, other] = [await open(), await open()]
  return {
    store,
    other,
    close: async () => {
      await store.close()
      await other.close()
      await clean()
    },
  }
}

async function openOnSqlite(): Promise<OperationalStoreSetup> {
  const folder = await mkdtemp(join(tmpdir(), 'ringledger-operations-'))
  return openSessions(
    async () => openSqliteOperationalStore(join(folder, 'views.db')),
    () => rm(folder, { recursive: true }),
  )
}
operationalStoreContract('SQLite', openOnSqlite)
snapshotsContract('SQLite', openOnSqlite)

const url = mongoUrl()
if (url) {
  const database = databaseOf(url, `contract-${randomUUID()}`)
  const openOnMongo = () =>
    openSessions(
      () => openMongoOperationalStore(database),
      async () => {},
    )
  operationalStoreContract('MongoDB', openOnMongo)
  snapshotsContract('MongoDB', openOnMongo)
}
