import { randomUUID } from 'node:crypto'
import { type AnyBulkWriteOperation, MongoBulkWriteError, MongoClient } from 'mongodb'
import { openEventStoreDb } from '../../src/adapters/eventstoredb/event-store-db.ts'
import { openMongoReadStore } from '../../src/adapters/mongodb/read-store.ts'
import { followed, projections, upcasts } from '../../src/main/registry.ts'
import { systemClock as clock } from '../../src/main/system.ts'
import { type EventLog, START } from '../../src/ports/event-log.ts'
import { type CollectionSpec, type DocumentWrite, type ReadStore, workspaceOf } from '../../src/ports/read-store.ts'
import { BUILD_ALIASES } from '../../src/runtime/projections/build-alias.ts'
import { delegate } from '../../src/runtime/projections/delegate-store.ts'
import { runProjections } from '../../src/runtime/projections/projection-runner.ts'
import { rebuildProjections } from '../../src/runtime/projections/rebuild-projections.ts'
import { ownEverything } from '../support/memory/ownership.ts'
import { copyGeneratedLog, databaseUrl } from './copied-log.ts'
import { alternate, type Figure, figureOf, secondsOf } from './measure.ts'
import { withDirectory } from './temp-directory.ts'

/** How long the bare client waits for a server that is busy with its writes (ms). */
const SLOW_SERVER_MS = 120_000

/** A build that is read by nobody yet: its collection has a generation. */
const isOfBuild = (collection: string) => collection.includes('~')

/** A document as the store has it. */
interface StoredRow {
  readonly _id: string
}

/** What one rebuild wrote: the collections, and the batches of each in order. */
interface Recording {
  readonly specs: CollectionSpec[]
  readonly batches: Map<string, (readonly DocumentWrite[])[]>
}

/** A store that records what is written to the builds of a rebuild. */
function recorded(store: ReadStore, { specs, batches }: Recording): ReadStore {
  return {
    ...delegate(store),
    async ensure(wanted) {
      specs.push(...wanted.filter(({ name }) => isOfBuild(name)))
      await store.ensure(wanted)
    },
    async commit(writes, checkpoint) {
      for (const [collection, batch] of Map.groupBy(writes, (write) => write.collection)) {
        const before = batches.get(collection)
        if (before) before.push(batch)
        else if (isOfBuild(collection)) batches.set(collection, [batch])
      }
      return store.commit(writes, checkpoint)
    },
  }
}

const portsOf = (log: EventLog, store: ReadStore, signal: AbortSignal) => ({
  log,
  store,
  ownership: ownEverything(),
  projections,
  upcasts,
  indexedByPosition: followed,
  clock,
  signal,
})

/** Builds every projection for the first time. */
async function build(log: EventLog, store: ReadStore): Promise<void> {
  const head = await log.head()
  const stop = new AbortController()
  const behind = new Set(projections.map(({ name }) => name))
  await runProjections({
    ...portsOf(log, store, stop.signal),
    onProgress({ name, position }) {
      if (position >= head) behind.delete(name)
      if (behind.size === 0) stop.abort()
    },
  }).done
}

async function dropBuilds(store: ReadStore, collections: Iterable<string>): Promise<void> {
  for (const collection of collections) await store.drop(collection)
}

/** Drops all documents, and leaves what tells of their builds: the server keeps documents in memory, and has no room for two builds. */
async function dropDocuments(store: ReadStore): Promise<void> {
  await dropBuilds(
    store,
    (await store.collections()).filter((name) => name !== BUILD_ALIASES),
  )
}

/** Rebuilds every projection; resolves to the seconds, and records what was written. */
async function rebuild(log: EventLog, store: ReadStore, recording: Recording): Promise<number> {
  const { signal } = new AbortController()
  return secondsOf(() => rebuildProjections(portsOf(log, recorded(store, recording), signal)))
}

/** The server's form of a write, with the same guard. */
function operationOf(write: DocumentWrite): AnyBulkWriteOperation<StoredRow> {
  const { id: _id, doc, position: p, expiresAt = null, isStored } = write
  const w = doc ? workspaceOf(doc) : (write as { readonly workspaceId: string }).workspaceId
  const { workspaceId: _w, ...rest } = doc ?? {}
  const row = {
    w,
    p,
    ...(expiresAt === null ? {} : { x: new Date(expiresAt) }),
    ...(doc ? { d: w === '' ? doc : rest } : {}),
  }
  return isStored
    ? { replaceOne: { filter: { w, _id, p: { $lt: p } }, replacement: row } }
    : { insertOne: { document: { _id, ...row } } }
}

/** Reads the whole log and does nothing with it. */
async function readLog(log: EventLog): Promise<void> {
  const types = new Set(projections.flatMap(({ events }) => Object.keys(events)))
  for (let after = START, end = false; !end; ) ({ position: after, end } = await log.readAll(after, 5_000, { types }))
}

/** A batch that our writer repeated holds documents that are there: the server has written the others. */
function passDuplicates(error: unknown): void {
  const isDuplicate =
    error instanceof MongoBulkWriteError && [error.writeErrors].flat().every(({ code }) => code === 11_000)
  if (!isDuplicate) throw error
}

/** Reads the log, then writes the same batches through the bare driver; resolves to the seconds. */
async function repeat(log: EventLog, store: ReadStore, client: MongoClient, { specs, batches }: Recording) {
  const prefix = `bare-${randomUUID().slice(0, 8)}-`
  await store.ensure(specs.map((spec) => ({ ...spec, name: `${prefix}${spec.name}` })))
  const prepared = [...batches].map(([collection, each]) => ({
    rows: client.db().collection<StoredRow>(`${prefix}${collection}`),
    operations: each.map((writes) => writes.map(operationOf)),
  }))
  const reading = await secondsOf(() => readLog(log))
  const writing = await secondsOf(async () => {
    for (const { rows, operations } of prepared)
      for (const batch of operations) await rows.bulkWrite(batch, { ordered: false }).catch(passDuplicates)
  })
  await dropBuilds(
    store,
    specs.map(({ name }) => `${prefix}${name}`),
  )
  return reading + writing
}

/**
 * A rebuild of all projections from EventStoreDB into MongoDB, compared with reading the same log and then writing the same
 * documents in the same batches with the same guards through the bare driver, one batch after the other.
 */
export function rebuildOnMongo(eventStoreUrl: string, mongoUrl: string, events: number): Promise<readonly Figure[]> {
  return withDirectory(async (directory) => {
    const url = databaseUrl(mongoUrl)
    const log = await openEventStoreDb(eventStoreUrl)
    const store = await openMongoReadStore(url)
    const client = await MongoClient.connect(url, { connectTimeoutMS: SLOW_SERVER_MS })
    await copyGeneratedLog(directory, events, log)
    await build(log, store)
    await dropDocuments(store)
    let last: Recording | null = null
    const ours = async () => {
      const recording: Recording = { specs: [], batches: new Map() }
      const seconds = await rebuild(log, store, recording)
      await dropDocuments(store)
      last = recording
      return events / seconds
    }
    await ours()
    const bare = async () => events / (await repeat(log, store, client, last ?? { specs: [], batches: new Map() }))
    const pairs = await alternate(ours, bare)
    await client.db().dropDatabase()
    await Promise.all([log.close(), store.close(), client.close()])
    const name = `rebuild of ${projections.length} projections on MongoDB, ${events.toLocaleString('en-US')} events`
    return [figureOf(name, 'events/s', { atLeast: 0.7 }, pairs)]
  })
}
