import { openEventStoreDb } from '../adapters/eventstoredb/event-store-db.ts'
import { openMongoOperationalStore } from '../adapters/mongodb/operational-store.ts'
import { openMongoReadStore } from '../adapters/mongodb/read-store.ts'
import { openSqliteEventLog, openSqliteEventReader } from '../adapters/sqlite/event-log.ts'
import { openSqliteOperationalStore } from '../adapters/sqlite/operational-store.ts'
import { openSqliteReadStore } from '../adapters/sqlite/read-store.ts'
import type { EventLog } from '../ports/event-log.ts'
import type { OperationalStore } from '../ports/operational-store.ts'
import type { ReadStore } from '../ports/read-store.ts'

const SQLITE = 'sqlite:'
const fileOf = (url: string) => (url.startsWith(SQLITE) ? url.slice(SQLITE.length) : null)

/** Opens the event log that a connection string names. */
export async function openLog(url: string): Promise<EventLog> {
  const file = fileOf(url)
  return file === null ? openEventStoreDb(url) : openSqliteEventLog(file)
}

/** Opens the event log for reading alone, in the calling thread where the log is a file. */
export async function openLogReader(url: string): Promise<EventLog> {
  const file = fileOf(url)
  return file === null ? openEventStoreDb(url) : openSqliteEventReader(file)
}

/** Opens the read store, in the calling thread where it is a file: never the one that answers calls. */
export async function openViews(url: string): Promise<ReadStore> {
  const file = fileOf(url)
  return file === null ? openMongoReadStore(url) : openSqliteReadStore(file)
}

/** Opens the operational store, beside the views. A file of its own, so that its writers never wait for a projection's batch. */
export async function openOperations(url: string): Promise<OperationalStore> {
  const file = fileOf(url)
  return file === null
    ? openMongoOperationalStore(url)
    : openSqliteOperationalStore(`${file.replace(/\.db$/, '')}.ops.db`)
}
