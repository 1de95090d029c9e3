import { existsSync } from 'node:fs'
import { openSqliteEventLog, openSqliteEventReader } from '../adapters/sqlite/event-log.ts'
import { checkSqliteColumns, checkSqliteFile, type StoredExpiries } from '../adapters/sqlite/file-verifier.ts'
import { openSqliteLogVerifier } from '../adapters/sqlite/log-verifier.ts'
import { openSqliteOperationalStore } from '../adapters/sqlite/operational-store.ts'
import { createReadStoreFileCheck, openSqliteReadStore } from '../adapters/sqlite/read-store.ts'
import type { EventLog } from '../ports/event-log.ts'
import type { LogVerifier } from '../ports/log-verifier.ts'
import type { OperationalStore } from '../ports/operational-store.ts'
import type { ReadStore } from '../ports/read-store.ts'
import { ConfigurationError } from './config.ts'

const SQLITE = 'sqlite:'
/** The file that a connection string names; null for a server. */
export const fileOf = (url: string) => (url.startsWith(SQLITE) ? url.slice(SQLITE.length) : null)

/** Refuses to make an event log where none is. @throws ConfigurationError */
export function requireLogFile(url: string): void {
  const file = fileOf(url)
  if (file !== null && !existsSync(file)) throw new ConfigurationError(`There is no event log at ${file}.`)
}

// The drivers of servers are large, and are loaded where there is one to speak to.
const eventStoreDb = async (url: string) =>
  (await import('../adapters/eventstoredb/event-store-db.ts')).openEventStoreDb(url)
const eventStoreDbVerifier = async (url: string) =>
  (await import('../adapters/eventstoredb/log-verifier.ts')).openEventStoreDbVerifier(url)
const mongoViews = async (url: string) => (await import('../adapters/mongodb/read-store.ts')).openMongoReadStore(url)
const mongoOperations = async (url: string) =>
  (await import('../adapters/mongodb/operational-store.ts')).openMongoOperationalStore(url)

/** Opens the event log that a connection string names. */
export async function openLog(url: string): Promise<EventLog> {
  const file = fileOf(url)
  return file === null ? eventStoreDb(url) : openSqliteEventLog(file)
}

/** Opens the event log for reading alone, in the calling thread where the log is a file. */
export async function openLogReader(url: string): Promise<EventLog> {
  const file = fileOf(url)
  return file === null ? eventStoreDb(url) : openSqliteEventReader(file)
}

/** Opens the read store, in the calling thread where it is a file: never the one that answers calls. `follows`: to read what others write. */
export async function openReadStore(url: string, { follows = false } = {}): Promise<ReadStore> {
  const file = fileOf(url)
  return file === null ? mongoViews(url) : openSqliteReadStore(file, { follows })
}

/** Asks whether the open read store is there: a file in the calling thread, a server through `look`. @throws StoreUnavailable */
export function availabilityCheck(url: string, look: () => Promise<unknown>): () => Promise<unknown> {
  const file = fileOf(url)
  if (file === null) return look
  const present = createReadStoreFileCheck(file)
  return async () => present()
}

/** The file of the operational store beside that of the read models. */
export const operationalFileOf = (viewsFile: string) => `${viewsFile.replace(/\.db$/, '')}.ops.db`

/** Opens the operational store, beside the views. A file of its own, so that its writers never wait for a projection's batch. */
export async function openOperationalStore(url: string): Promise<OperationalStore> {
  const file = fileOf(url)
  return file === null ? mongoOperations(url) : openSqliteOperationalStore(operationalFileOf(file))
}

/** Opens the event log that a connection string names to check it. */
export async function openLogVerifier(url: string): Promise<LogVerifier> {
  const file = fileOf(url)
  return file === null ? eventStoreDbVerifier(url) : openSqliteLogVerifier(file)
}

/** Sentences on damage to the files that hold stores, if any: their pages, and the columns of read models beside their documents. */
export function checkStoreFiles(
  eventLogUrl: string,
  readStoreUrl: string,
  expiries: StoredExpiries,
): readonly string[] {
  const [events, views] = [fileOf(eventLogUrl), fileOf(readStoreUrl)]
  return [
    ...(events === null ? [] : checkSqliteFile(events)),
    ...(views === null
      ? []
      : [
          ...checkSqliteFile(views),
          ...checkSqliteFile(operationalFileOf(views)),
          ...checkSqliteColumns(views, expiries),
        ]),
  ]
}
