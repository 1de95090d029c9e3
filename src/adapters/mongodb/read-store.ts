import type { Collection, Db, FindCursor, IndexDescription } from 'mongodb'
import {
  type Checkpoint,
  type CollectionSpec,
  type DocumentWrite,
  deriveFrom,
  type Page,
  type ReadStore,
  type Scalar,
  type StoredDocument,
} from '../../ports/read-store.ts'
import { CHECKPOINTS, type CheckpointMove, moveCheckpoints, type StoredCheckpoint, writeDocuments } from './commit.ts'
import { openDatabase } from './database.ts'
import { type Row, serverSortOf, storedPath, toServerFilter } from './filters.ts'
import { groupCommands } from './group-commands.ts'
import { ensureIndexes, type IndexedCollection, missingIndexes, namesIn } from './indexes.ts'

/** The server deletes so long (s) after the expiry what the expiry cleaner has not. */
const SERVER_DELETES_AFTER_S = 7 * 86_400
const EXPIRY_INDEX = { key: { x: 1 }, sparse: true, expireAfterSeconds: SERVER_DELETES_AFTER_S } as const
/** Sorts after every name with the same prefix. */
const LAST = '\u{10FFFF}'

/**
 * Opens the read store on MongoDB: standalone, replica set or sharded. The database is the URL's path (default `ringledger`).
 * @throws Error when the string does not parse or another version of the program wrote what is stored; StoreUnavailable when no
 * server responds.
 */
export async function openMongoReadStore(url: string): Promise<ReadStore> {
  const { withDb, close } = await openDatabase(url)
  // The many lanes of a runner ask for their documents and checkpoints, and move these, at the same time.
  const getOne = groupCommands((asked: readonly AskedDocument[]) => withDb((db) => getEach(db, asked)))
  const readCheckpoint = groupCommands((names: readonly string[]) => withDb((db) => readCheckpoints(db, names)))
  const moveCheckpoint = groupCommands((moves: readonly CheckpointMove[]) => withDb((db) => moveCheckpoints(db, moves)))
  return {
    atomic: false,
    ensure: (specs) => withDb((db) => ensureIndexes(db, specs.map(indexedCollection))),
    missingIndexes: (specs) => withDb((db) => missingIndexes(db, specs.map(indexedCollection))),
    get: (collection, id, now) => getOne({ collection, id, now }),
    getMany: (collection, ids, now) => withDb((db) => getMany(db, collection, ids, now)),
    find: (collection, page) => withDb((db) => find(db, collection, page)),
    findDerived: (collection, page, derivation) =>
      withDb(async (db) => deriveFrom(await find(db, collection, page), derivation)),
    pluck: (collection, path, page) => withDb((db) => pluck(db, collection, path, page)),
    select: (collection, paths, page) => withDb((db) => select(db, collection, paths, page)),
    count: (collection, filter, now) =>
      withDb((db) => rowsOf(db, collection).countDocuments(toServerFilter(filter, now))),
    sum: (collection, filter, groupBy, fields, now) =>
      withDb((db) => sum(db, collection, toServerFilter(filter, now), groupBy, fields)),
    sumRows: async () => null,
    async commit(writes, move) {
      if (writes.length > 0) await withDb((db) => writeAll(db, writes))
      return moveCheckpoint(move)
    },
    deleteExpired: (collection, now) =>
      withDb(async (db) => {
        const { deletedCount } = await rowsOf(db, collection).deleteMany({ x: { $lte: new Date(now) } })
        return deletedCount
      }),
    checkpoint: readCheckpoint,
    checkpoints: (prefix = '') =>
      withDb(async (db) => {
        const all = await checkpointsOf(db)
          .find({ _id: { $gte: prefix, $lt: `${prefix}${LAST}` } })
          .toArray()
        return Object.fromEntries(all.map((each) => [each._id, checkpointOf(each)]))
      }),
    drop: (collection, checkpoint) =>
      withDb(async (db) => {
        await drop(db, collection)
        if (checkpoint !== undefined) await dropCheckpoints(db, checkpoint)
      }),
    collections: () => withDb(async (db) => (await namesIn(db)).filter((name) => !/^(_|system\.)/.test(name))),
    close,
  }
}

/** A document that is asked for by its id, as it is at an instant (ms). */
interface AskedDocument {
  readonly collection: string
  readonly id: string
  readonly now: number | undefined
}

/** Reads documents, those of one collection and instant by one command. */
async function getEach(db: Db, asked: readonly AskedDocument[]): Promise<readonly (StoredDocument | null)[]> {
  const found = new Map<string, Promise<ReadonlyMap<string, StoredDocument>>>()
  const keyOf = ({ collection, now }: AskedDocument) => `${now} ${collection}`
  for (const [key, some] of Map.groupBy(asked, keyOf)) {
    const [{ collection, now }] = some as [AskedDocument, ...AskedDocument[]]
    const ids = [...new Set(some.map(({ id }) => id))]
    found.set(
      key,
      getMany(db, collection, ids, now).then((documents) => new Map(documents.map((each) => [each.id, each]))),
    )
  }
  return Promise.all(asked.map(async (one) => (await found.get(keyOf(one)))?.get(one.id) ?? null))
}

async function readCheckpoints(db: Db, names: readonly string[]): Promise<readonly (Checkpoint | null)[]> {
  const all = await checkpointsOf(db)
    .find({ _id: { $in: [...new Set(names)] } })
    .toArray()
  const found = new Map(all.map((each) => [each._id, checkpointOf(each)]))
  return names.map((name) => found.get(name) ?? null)
}

function rowsOf(db: Db, collection: string): Collection<Row> {
  return db.collection<Row>(collection)
}

function checkpointsOf(db: Db): Collection<StoredCheckpoint> {
  return db.collection<StoredCheckpoint>(CHECKPOINTS)
}

function indexedCollection({ name, indexes }: CollectionSpec): IndexedCollection {
  return { name, indexes: [EXPIRY_INDEX, ...indexes.flatMap(storedIndex)] }
}

/** The server's form of an index; none for one without paths. */
function storedIndex(index: CollectionSpec['indexes'][number]): readonly IndexDescription[] {
  const paths = Object.entries(index).flatMap(([path, way]) => (way ? [[storedPath(path), way] as const] : []))
  return paths.length > 0 ? [{ key: Object.fromEntries(paths) }] : []
}

/** Drops a collection if it exists: before MongoDB 7 a server refuses to drop a missing one. */
async function drop(db: Db, name: string): Promise<void> {
  if ((await namesIn(db)).includes(name)) await db.dropCollection(name)
}

async function getMany(
  db: Db,
  collection: string,
  ids: readonly string[],
  now?: number,
): Promise<readonly StoredDocument[]> {
  const found = rowsOf(db, collection).find({ _id: { $in: [...ids] } })
  return (await found.toArray()).filter(({ x }) => !isExpired(x, now)).flatMap(storedOf)
}

function isExpired(expiry: Date | undefined, now: number | undefined): boolean {
  return expiry !== undefined && now !== undefined && expiry.getTime() <= now
}

async function find(db: Db, collection: string, page: Page): Promise<readonly StoredDocument[]> {
  return (await findPage(db, collection, page)?.toArray())?.flatMap(storedOf) ?? []
}

/** Cursor of a page; null for a limit of 0, which the server reads as no limit. */
function findPage(
  db: Db,
  collection: string,
  { filter, now, sort = {}, skip = 0, limit }: Page,
): FindCursor<Row> | null {
  const cursor = rowsOf(db, collection).find(toServerFilter(filter, now)).sort(serverSortOf(sort)).skip(skip)
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

/** Reads the paths alone of each document of a page. */
async function select(
  db: Db,
  collection: string,
  paths: readonly string[],
  page: Page,
): ReturnType<ReadStore['select']> {
  const stored = paths.map(storedPath)
  const cursor = findPage(db, collection, page)
  // The server refuses a path beside one that holds it, such as `d.buyer` beside `d.buyer.id`.
  const asked = stored.filter((path) => !stored.some((other) => path.startsWith(`${other}.`)))
  const found = await cursor?.project({ _id: 1, ...Object.fromEntries(asked.map((path) => [path, 1])) }).toArray()
  const steps = stored.map((path) => path.split('.'))
  return found?.map((row) => steps.map((each) => valueAt(row, each))) ?? []
}

/** The scalar at a path: null for a missing one, undefined for lists and objects. */
function valueAt(row: unknown, steps: readonly string[]): Scalar | undefined {
  let value = row
  for (const step of steps) {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return null
    value = Reflect.get(value, step)
  }
  if (value === null || value === undefined) return null
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? value : undefined
}

function scalarAt(row: unknown, steps: readonly string[]): Scalar {
  return valueAt(row, steps) ?? null
}

interface Group {
  readonly _id: Readonly<Record<string, Scalar>>
  readonly count: number
  readonly [sum: `s${number}`]: number
}

async function sum(
  db: Db,
  collection: string,
  filter: ReturnType<typeof toServerFilter>,
  groupBy: readonly string[],
  fields: readonly string[],
) {
  // A missing field counts as null; inside a compound key the server would distinguish the two.
  const keys = groupBy.map((path, i) => [`k${i}`, { $ifNull: [`$${storedPath(path)}`, null] }] as const)
  const sums = fields.map((path, i) => [`s${i}`, { $sum: `$${storedPath(path)}` }] as const)
  const group = { _id: Object.fromEntries(keys), count: { $sum: 1 }, ...Object.fromEntries(sums) }
  const groups = await rowsOf(db, collection)
    .aggregate<Group>([{ $match: filter }, { $group: group }], { allowDiskUse: true })
    .toArray()
  return groups.map((each) => ({
    key: groupBy.map((_, i) => each._id[`k${i}`] ?? null),
    count: each.count,
    sums: fields.map((_, i) => each[`s${i}`] ?? 0),
  }))
}

async function writeAll(db: Db, writes: readonly DocumentWrite[]): Promise<void> {
  const first = writes.filter(({ isFirst }) => isFirst)
  const others = writes.filter(({ isFirst }) => !isFirst)
  for (const part of [first, others]) {
    const batches = Map.groupBy(part, ({ collection }) => collection)
    for (const [collection, batch] of batches) await writeDocuments(rowsOf(db, collection), batch)
  }
}

function storedOf({ _id, w, p, d }: Row): readonly StoredDocument[] {
  return d ? [{ id: _id, position: p, doc: w === '' ? d : { ...d, workspaceId: w } }] : []
}

function checkpointOf({ position, at, epoch = 0 }: StoredCheckpoint): Checkpoint {
  return epoch === 0 ? { position, at } : { position, at, epoch }
}

/** Drops a checkpoint and those of its ranges. */
async function dropCheckpoints(db: Db, name: string): Promise<void> {
  const ranges = { _id: { $gte: `${name}/`, $lt: `${name}/${LAST}` } }
  await checkpointsOf(db).deleteMany({ $or: [{ _id: name }, ranges] })
}
