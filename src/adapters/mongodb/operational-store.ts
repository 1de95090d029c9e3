import { Binary, type Collection, type Db, type Filter, type UpdateFilter } from 'mongodb'
import {
  DELETED,
  type Entry,
  type EntryWrite,
  type LogRecord,
  type OperationalStore,
} from '../../ports/operational-store.ts'
import { isDuplicate, type MongoConnection } from './connection.ts'
import { openDatabase } from './database.ts'
import { groupCommands } from './group-commands.ts'
import { ensureIndexes, type IndexedCollection, missingIndexes } from './indexes.ts'

const COLLECTION = '_operational'
const LOG_COLLECTION = '_notes'
const INDEXES: readonly IndexedCollection[] = [
  { name: COLLECTION, indexes: [{ key: { e: 1 } }] },
  {
    name: LOG_COLLECTION,
    indexes: [{ key: { e: 1 } }, { key: { s: 1, t: -1, i: -1 } }, { key: { s: 1, l: 1, t: -1, i: -1 } }],
  },
]
/** Sorts after every key with the same prefix. */
const LAST = '\u{10FFFF}'

/** `v` is the value: a number as it is, so that `$inc` works, bytes as they are, any other value as JSON. `n` is the version, `e` the expiry. */
interface Row {
  readonly _id: string
  readonly v: number | string | Binary
  readonly n: number
  readonly e: number | null
}

/** `_id` is series and id, `s` the series, `i` the id, `t` the instant, `l` the labels, `v` the value as JSON, `e` the expiry. */
interface LogRow {
  readonly _id: string
  readonly s: string
  readonly i: string
  readonly t: number
  readonly l: readonly string[]
  readonly v: string
  readonly e: number
}

/**
 * Opens the operational store on MongoDB, in the same database as the read store. Each method is one atomic operation, or
 * two if the first lost a race.
 * @throws Error when the string does not parse or another version of the program wrote what is stored; StoreUnavailable when no
 * server responds.
 */
export async function openMongoOperationalStore(url: string): Promise<OperationalStore> {
  const { withDb, close } = await openDatabase(url)
  const ensure = () => withDb((db) => ensureIndexes(db, INDEXES))
  await ensure()
  return {
    ensure,
    missingIndexes: () => withDb((db) => missingIndexes(db, INDEXES)),
    ...entryMethods(withDb),
    ...logMethods(withDb),
    deleteExpired: (now) => withDb((db) => deleteExpired(db, now)),
    close,
  }
}

type WithDb = MongoConnection['withDb']

function entryMethods(
  withDb: WithDb,
): Omit<OperationalStore, 'ensure' | 'missingIndexes' | 'appendLog' | 'queryLog' | 'deleteExpired' | 'close'> {
  const withRows = <Result>(call: (rows: Collection<Row>) => Promise<Result>) => withDb((db) => call(rowsOf(db)))
  const getTogether = groupCommands((keys: readonly string[]) => withRows((rows) => rowsWith(rows, keys)))
  const writeTogether = groupCommands(async (writes: readonly EntryWrite[]) => {
    // Of an entry's writes in one turn the last is stored: the order within a command is not kept.
    await withRows((rows) => writeRows(rows, [...new Map(writes.map((write) => [write.key, write])).values()]))
    return writes.map(() => undefined)
  })
  const listTogether = groupCommands((prefixes: readonly string[]) => withRows((rows) => rowsUnder(rows, prefixes)))
  return {
    async get(key, now) {
      const row = await getTogether(key)
      return row && isAlive(row, now) ? entryOf(row) : null
    },
    async list(prefix, now, { after, limit } = {}) {
      if (after === undefined && limit === undefined)
        return (await listTogether(prefix)).filter((row) => isAlive(row, now)).map(entryOf)
      return withRows(async (rows) => {
        const from = after === undefined ? { $gte: prefix } : { $gte: prefix, $gt: after }
        const found = rows.find({ _id: { ...from, $lt: `${prefix}${LAST}` }, ...aliveFilter(now) }).sort({ _id: 1 })
        return (await (limit === undefined ? found : found.limit(limit)).toArray()).map(entryOf)
      })
    },
    put: (key, value, expiresAt) => writeTogether({ key, value, expiresAt }),
    putIf: (key, version, value, expiresAt, now) =>
      withRows((rows) =>
        version === 0
          ? upsert(rows, { _id: key, ...expiredFilter(now) }, setValue(value, expiresAt))
          : update(rows, { _id: key, n: version, ...aliveFilter(now) }, setValue(value, expiresAt)),
      ),
    delete: (key) => writeTogether({ key, ...DELETED }),
    writeAll: (writes) => withRows((rows) => writeRows(rows, writes)),
    increment: (key, by, expiresAt, now) => withRows((rows) => increment(rows, key, by, expiresAt, now)),
    claim: (key, owner, until, now) =>
      withRows(async (rows) => {
        const free = { _id: key, $or: [{ v: encode(owner) }, expiredFilter(now)] }
        const claimed = setValue(owner, until)
        return (await upsert(rows, free, claimed)) || (await update(rows, free, claimed))
      }),
    releaseClaim: (key, owner) =>
      withRows(async (rows) => {
        await rows.deleteOne({ _id: key, v: encode(owner) })
      }),
  }
}

function logMethods(withDb: WithDb): Pick<OperationalStore, 'appendLog' | 'queryLog'> {
  return {
    appendLog: (records) => withDb((db) => insertLog(logRowsOf(db), records)),
    queryLog: (series, now, { labels = [], from = 0, to = Number.MAX_SAFE_INTEGER, after, skip, limit }) =>
      withDb(async (db) => {
        const labelFilter = labels.length > 0 ? { l: { $all: [...labels] } } : {}
        const filter = { s: series, t: { $gte: from, $lt: to }, e: { $gt: now }, ...labelFilter }
        // The instant is sought in the index; the id only leaves out others of the same instant.
        const following = after && {
          t: { ...filter.t, $lte: after.at },
          $or: [{ t: { $lt: after.at } }, { i: { $lt: after.id } }],
        }
        const [found, total] = await Promise.all([
          logRowsOf(db)
            .find({ ...filter, ...following })
            .sort({ t: -1, i: -1 })
            .skip(skip)
            .limit(limit)
            .toArray(),
          logRowsOf(db).countDocuments(filter),
        ])
        return { total, records: found.map(logRecordOf) }
      }),
  }
}

async function deleteExpired(db: Db, now: number): Promise<number> {
  const deleted = await Promise.all([
    rowsOf(db).deleteMany(expiredFilter(now)),
    logRowsOf(db).deleteMany(expiredFilter(now)),
  ])
  return deleted.reduce((sum, { deletedCount }) => sum + deletedCount, 0)
}

function rowsOf(db: Db): Collection<Row> {
  return db.collection<Row>(COLLECTION)
}

function logRowsOf(db: Db): Collection<LogRow> {
  return db.collection<LogRow>(LOG_COLLECTION)
}

/** Stores entries, each of another key; without a value it is deleted. */
async function writeRows(rows: Collection<Row>, writes: readonly EntryWrite[]): Promise<void> {
  if (writes.length === 0) return
  const operations = writes.map(({ key, value, expiresAt }) =>
    value === undefined
      ? { deleteOne: { filter: { _id: key } } }
      : { updateOne: { filter: { _id: key }, update: setValue(value, expiresAt), upsert: true } },
  )
  await rows.bulkWrite(operations, { ordered: false })
}

/** The rows of keys, in their order; null for those that are not there. */
async function rowsWith(rows: Collection<Row>, keys: readonly string[]): Promise<readonly (Row | null)[]> {
  const found = await rows.find({ _id: { $in: [...new Set(keys)] } }).toArray()
  const byKey = new Map(found.map((row) => [row._id, row]))
  return keys.map((key) => byKey.get(key) ?? null)
}

/** The rows under each prefix, by key. */
async function rowsUnder(rows: Collection<Row>, prefixes: readonly string[]): Promise<readonly (readonly Row[])[]> {
  const ranges = [...new Set(prefixes)].map((prefix) => ({ _id: { $gte: prefix, $lt: `${prefix}${LAST}` } }))
  const found = await rows.find({ $or: ranges }).sort({ _id: 1 }).toArray()
  return prefixes.map((prefix) => found.filter(({ _id }) => _id.startsWith(prefix)))
}

/** Adds to a live number, or starts over an expired one. When another increment starts first, it adds to that one. */
async function increment(
  rows: Collection<Row>,
  key: string,
  by: number,
  expiresAt: number | null,
  now: number,
): Promise<number> {
  for (;;) {
    const adding = { $inc: { v: by, n: 1 } } as UpdateFilter<Row>
    const before = await rows.findOneAndUpdate({ _id: key, ...aliveFilter(now) }, adding, { returnDocument: 'before' })
    if (before) return Number(before.v) + by
    if (await upsert(rows, { _id: key, ...expiredFilter(now) }, setValue(by, expiresAt))) return by
  }
}

async function update(rows: Collection<Row>, filter: Filter<Row>, change: UpdateFilter<Row>): Promise<boolean> {
  return (await rows.updateOne(filter, change)).matchedCount === 1
}

/** Updates the matching row, or inserts it if the key is free. False when the key exists and does not match. */
async function upsert(rows: Collection<Row>, filter: Filter<Row>, change: UpdateFilter<Row>): Promise<boolean> {
  try {
    await rows.updateOne(filter, change, { upsert: true })
    return true
  } catch (error) {
    if (isDuplicate(error)) return false
    throw error
  }
}

function setValue(value: unknown, expiresAt: number | null): UpdateFilter<Row> {
  return { $set: { v: encode(value), e: expiresAt }, $inc: { n: 1 } }
}

const isAlive = ({ e }: Pick<Row, 'e'>, now: number) => e === null || e > now

function aliveFilter(now: number) {
  return { e: { $not: { $lte: now } } }
}

/** Matches no row that never expires: null does not compare with a number. */
function expiredFilter(now: number) {
  return { e: { $lte: now } }
}

function encode(value: unknown): Row['v'] {
  if (value instanceof Uint8Array) return new Binary(value)
  return typeof value === 'number' ? value : JSON.stringify(value)
}

function decode(value: Row['v']): unknown {
  if (value instanceof Binary) return value.value()
  return typeof value === 'string' ? JSON.parse(value) : value
}

function entryOf({ _id, v, n, e }: Row): Entry {
  return { key: _id, value: decode(v), version: n, expiresAt: e }
}

/** Inserts the records that are new. The driver reports duplicates after it has tried all records. */
async function insertLog(
  notes: Collection<LogRow>,
  added: readonly (LogRecord & { readonly series: string })[],
): Promise<void> {
  if (added.length === 0) return
  const documents = added.map(({ series, id, at, labels, value, expiresAt }) => ({
    _id: `${series}\n${id}`,
    s: series,
    i: id,
    t: at,
    l: labels,
    v: JSON.stringify(value),
    e: expiresAt,
  }))
  try {
    await notes.insertMany(documents, { ordered: false })
  } catch (error) {
    if (!isDuplicate(error)) throw error
  }
}

function logRecordOf({ i, t, l, v, e }: LogRow): LogRecord {
  return { id: i, at: t, labels: l, value: JSON.parse(v), expiresAt: e }
}
