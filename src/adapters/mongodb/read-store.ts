import { type Collection, type Db, type FindCursor, MongoServerError } from 'mongodb'
import type {
  Checkpoint,
  CollectionSpec,
  DocumentWrite,
  Filter,
  Page,
  ReadStore,
  Scalar,
  StoredDocument,
} from '../../ports/read-store.ts'
import { CHECKPOINTS, dropGuards, moveCheckpoint, type StoredCheckpoint, writeDocuments } from './commit.ts'
import { connect } from './connection.ts'
import { type Row, serverSortOf, storedPath, toServerFilter } from './filters.ts'

const NAMESPACE_EXISTS = 48

/**
 * Opens the read store on MongoDB: standalone, replica set or sharded. The database is the URL's path (default `ringledger`).
 * @throws Error when the string does not parse, StoreUnavailable when no server responds.
 */
export async function openMongoReadStore(url: string): Promise<ReadStore> {
  const { withDb, close } = await connect(url)
  const guards = new Map<string, number>()
  return {
    atomic: false,
    ensure: (specs) => withDb((db) => ensure(db, specs)),
    get: (collection, id) =>
      withDb(async (db) => {
        const row = await rowsOf(db, collection).findOne({ _id: id })
        return row ? (storedOf(row)[0] ?? null) : null
      }),
    getMany: (collection, ids) =>
      withDb(async (db) => {
        const found = await rowsOf(db, collection)
          .find({ _id: { $in: [...ids] } })
          .toArray()
        return found.flatMap(storedOf)
      }),
    find: (collection, page) => withDb((db) => find(db, collection, page)),
    pluck: (collection, path, page) => withDb((db) => pluck(db, collection, path, page)),
    count: (collection, filter) => withDb((db) => rowsOf(db, collection).countDocuments(toServerFilter(filter))),
    sum: (collection, filter, groupBy, fields) => withDb((db) => sum(db, collection, filter, groupBy, fields)),
    commit: (writes, checkpoint) => withDb((db) => commit(db, guards, writes, checkpoint)),
    checkpoint: (name) =>
      withDb(async (db) => {
        const found = await checkpointsOf(db).findOne({ _id: name })
        return found ? checkpointOf(found) : null
      }),
    checkpoints: () =>
      withDb(async (db) => {
        const all = await checkpointsOf(db).find().toArray()
        return Object.fromEntries(all.map((each) => [each._id, checkpointOf(each)]))
      }),
    drop: (collection, checkpoint) =>
      withDb(async (db) => {
        await drop(db, collection)
        if (checkpoint !== undefined) await checkpointsOf(db).deleteOne({ _id: checkpoint })
      }),
    collections: () => withDb(async (db) => (await namesIn(db)).filter((name) => !/^(_|system\.)/.test(name))),
    close,
  }
}

function rowsOf(db: Db, collection: string): Collection<Row> {
  return db.collection<Row>(collection)
}

function checkpointsOf(db: Db): Collection<StoredCheckpoint> {
  return db.collection<StoredCheckpoint>(CHECKPOINTS)
}

async function ensure(db: Db, specs: readonly CollectionSpec[]): Promise<void> {
  const there = new Set(await namesIn(db))
  for (const { name, indexes } of specs) {
    if (!there.has(name)) await create(db, name)
    const keys = indexes.map((index) =>
      Object.entries(index).flatMap(([path, way]) => (way ? [[storedPath(path), way] as const] : [])),
    )
    await db.createIndex(name, { g: 1 }, { sparse: true })
    for (const key of keys) if (key.length > 0) await db.createIndex(name, Object.fromEntries(key))
  }
}

/** Creates a collection; another process may create it at the same time. */
async function create(db: Db, name: string): Promise<void> {
  try {
    await db.createCollection(name)
  } catch (error) {
    if (!(error instanceof MongoServerError && error.code === NAMESPACE_EXISTS)) throw error
  }
}

/** Drops a collection if it exists: before MongoDB 7 a server refuses to drop a missing one. */
async function drop(db: Db, name: string): Promise<void> {
  if ((await namesIn(db)).includes(name)) await db.dropCollection(name)
}

async function namesIn(db: Db): Promise<readonly string[]> {
  return (await db.listCollections({}, { nameOnly: true }).toArray()).map(({ name }) => name)
}

async function find(db: Db, collection: string, page: Page): Promise<readonly StoredDocument[]> {
  return (await findPage(db, collection, page)?.toArray())?.flatMap(storedOf) ?? []
}

/** Cursor of a page; null for a limit of 0, which the server reads as no limit. */
function findPage(db: Db, collection: string, { filter, sort = {}, skip = 0, limit }: Page): FindCursor<Row> | null {
  const cursor = rowsOf(db, collection).find(toServerFilter(filter)).sort(serverSortOf(sort)).skip(skip)
  return limit === 0 ? null : limit === undefined ? cursor : cursor.limit(limit)
}

async function pluck(db: Db, collection: string, path: string, page: Page): Promise<readonly Scalar[]> {
  const at = storedPath(path)
  const found = await findPage(db, collection, page)
    ?.project({ _id: 0, [at]: 1 })
    .toArray()
  const steps = at.split('.')
  return found?.map((row) => scalarAt(row, steps)) ?? []
}

function scalarAt(row: unknown, steps: readonly string[]): Scalar {
  let value = row
  for (const step of steps) {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return null
    value = Reflect.get(value, step)
  }
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? value : null
}

interface Group {
  readonly _id: Readonly<Record<string, Scalar>>
  readonly count: number
  readonly [sum: `s${number}`]: number
}

async function sum(db: Db, collection: string, filter: Filter, groupBy: readonly string[], fields: readonly string[]) {
  // A missing field counts as null; inside a compound key the server would distinguish the two.
  const keys = groupBy.map((path, i) => [`k${i}`, { $ifNull: [`$${storedPath(path)}`, null] }] as const)
  const sums = fields.map((path, i) => [`s${i}`, { $sum: `$${storedPath(path)}` }] as const)
  const group = { _id: Object.fromEntries(keys), count: { $sum: 1 }, ...Object.fromEntries(sums) }
  const groups = await rowsOf(db, collection)
    .aggregate<Group>([{ $match: toServerFilter(filter) }, { $group: group }], { allowDiskUse: true })
    .toArray()
  return groups.map((each) => ({
    key: groupBy.map((_, i) => each._id[`k${i}`] ?? null),
    count: each.count,
    sums: fields.map((_, i) => each[`s${i}`] ?? 0),
  }))
}

/** `guards` holds the highest possible position of a removed document's guard, by collection; -1 for none. */
async function commit(
  db: Db,
  guards: Map<string, number>,
  writes: readonly DocumentWrite[],
  checkpoint: { readonly name: string; readonly expected: number | null; readonly next: Checkpoint },
): Promise<boolean> {
  const { name, expected, next } = checkpoint
  const batches = Map.groupBy(writes, ({ collection }) => collection)
  for (const [collection, batch] of batches) {
    await writeDocuments(rowsOf(db, collection), batch, name)
    // Guards that another process left before are at or below the checkpoint.
    const known = guards.has(collection) && batch.every(({ doc }) => doc !== null)
    if (!known) guards.set(collection, next.position)
  }
  if (!(await moveCheckpoint(db, name, expected, next))) return false
  for (const collection of batches.keys()) {
    const highest = guards.get(collection) ?? -1
    // One checkpoint later than needed: a runner that lost the race may still be writing its batch.
    if (expected === null || highest < 0) continue
    await dropGuards(rowsOf(db, collection), name, expected)
    if (highest <= expected) guards.set(collection, -1)
  }
  return true
}

function storedOf({ _id, p, d }: Row): readonly StoredDocument[] {
  return d ? [{ id: _id, position: p, doc: d }] : []
}

function checkpointOf({ position, at }: StoredCheckpoint): Checkpoint {
  return { position, at }
}
