import type { DatabaseSync, SQLOutputValue } from 'node:sqlite'
import { batched } from '../../kernel/async/batch-per-tick.ts'
import {
  type Checkpoint,
  type Filter,
  type Page,
  type ReadStore,
  type Scalar,
  type StoredDocument,
  StoreUnavailable,
} from '../../ports/read-store.ts'
import { type Catalogue, type Collection, ensureCollection, expressionOf, openCatalogue } from './collections.ts'
import { createFileCheck, inTransaction, openDatabase, withUnavailable } from './database.ts'
import { createDocumentCache, type DocumentCache } from './document-cache.ts'
import { MATCHES_FUNCTION, orderByTerms, whereOf } from './filter-sql.ts'
import { createStatementCache, type Prepare, rowsOf } from './statements.ts'
import { decode } from './values.ts'
import { type Commit, createCommitter } from './view-commit.ts'
import { VIEW_LAYOUT } from './view-layout.ts'

const unavailable = (message: string): StoreUnavailable => new StoreUnavailable(message)

/** Largest page whose documents are cached: pages of this size are read repeatedly. */
const MAX_CACHED_PAGE = 200
const CACHED_DOCUMENTS = 4_000

type StoredRow = readonly [id: string, position: number, doc: string]

/**
 * Creates a check that the read models' file is still the same file. It opens nothing, so any thread may use it.
 * The check throws StoreUnavailable.
 */
export function createReadStoreFileCheck(path: string): () => void {
  const checkFile = withUnavailable(unavailable, () => createFileCheck(path))
  return () => withUnavailable(unavailable, checkFile)
}

/**
 * Opens the read models in a file, which several threads and processes may share. Reads and writes are synchronous in the
 * calling thread, behind the port's promises. An unknown collection reads as empty. With `follows`, the file is
 * not memory-mapped, which is faster when another connection writes all the time.
 * @throws StoreUnavailable when the file cannot be opened; an Error of one sentence when a newer version wrote it.
 */
export async function openSqliteReadStore(path: string, { follows = false } = {}): Promise<ReadStore> {
  const layout = follows ? { ...VIEW_LAYOUT, mappedBytes: 0 } : VIEW_LAYOUT
  const { db, checkFile } = withUnavailable(unavailable, () => openDatabase(path, layout))
  registerMatchesFunction(db)
  const prepare = createStatementCache(db)
  const catalogue = openCatalogue(prepare)
  const commit = createCommitter(db, prepare, catalogue)
  const cache = createDocumentCache(CACHED_DOCUMENTS)
  let closed = false

  const run = <Result>(work: () => Result): Result =>
    withUnavailable(unavailable, () => {
      if (closed) throw unavailable(`${path} was closed.`)
      checkFile()
      return work()
    })
  const runAsync = async <Result>(work: () => Result): Promise<Result> => run(work)
  const commitBatched = batched((commits: readonly Commit[]) => run(() => commit(commits)))
  const inCollection = <Result>(
    name: string,
    empty: Result,
    work: (collection: Collection) => Result,
  ): Promise<Result> =>
    runAsync(() => {
      const collection = catalogue.get(name)
      return collection ? work(collection) : empty
    })

  return {
    atomic: true,
    ensure: (specs) => runAsync(() => ensure(db, prepare, catalogue, specs)),
    get: (name, id) => inCollection(name, null, (collection) => getOne(prepare, collection, id)),
    getMany: (name, ids) => inCollection(name, [], (collection) => getMany(prepare, collection, ids)),
    find: (name, page) => inCollection(name, [], (collection) => find(prepare, cache, collection, page)),
    pluck: (name, path, page) => inCollection(name, [], (collection) => pluck(prepare, collection, path, page)),
    count: (name, filter) => inCollection(name, 0, (collection) => count(prepare, collection, filter)),
    sum: (name, filter, groupBy, fields) =>
      inCollection(name, [], (collection) => sum(prepare, collection, filter, groupBy, fields)),
    commit: (writes, move) => commitBatched({ writes, move }),
    checkpoint: (name) => runAsync(() => checkpointsOf(prepare, 'WHERE name = ?', name)[name] ?? null),
    checkpoints: () => runAsync(() => checkpointsOf(prepare, '')),
    drop: (name, checkpoint) => runAsync(() => drop(db, prepare, catalogue, name, checkpoint)),
    collections: () => runAsync(() => catalogue.names()),
    async close() {
      if (!closed) db.close()
      closed = true
    },
  }
}

function ensure(
  db: DatabaseSync,
  prepare: Prepare,
  catalogue: Catalogue,
  specs: Parameters<ReadStore['ensure']>[0],
): void {
  try {
    inTransaction(db, () => {
      for (const spec of specs) ensureCollection(db, prepare, catalogue.get(spec.name), spec)
    })
  } finally {
    catalogue.invalidate()
  }
}

function drop(db: DatabaseSync, prepare: Prepare, catalogue: Catalogue, name: string, checkpoint?: string): void {
  try {
    inTransaction(db, () => {
      const collection = catalogue.get(name)
      if (collection) db.exec(`DROP TABLE ${collection.table}`)
      prepare('DELETE FROM collections WHERE name = ?').run(name)
      prepare('DELETE FROM removed WHERE collection = ?').run(name)
      if (checkpoint !== undefined) prepare('DELETE FROM checkpoints WHERE name = ?').run(checkpoint)
    })
  } finally {
    catalogue.invalidate()
  }
}

function getOne(prepare: Prepare, { table }: Collection, id: string): StoredDocument | null {
  const row = prepare(`SELECT id, position, doc FROM ${table} WHERE id = ?`).get(id) as unknown as StoredRow | undefined
  return row ? storedOf(row) : null
}

function getMany(prepare: Prepare, { table }: Collection, ids: readonly string[]): readonly StoredDocument[] {
  const statement = prepare(`SELECT id, position, doc FROM ${table} WHERE id IN (SELECT value FROM json_each(?))`)
  return rowsOf<StoredRow>(statement.all(JSON.stringify(ids))).map(storedOf)
}

/** Finds the keys of a page first: sorting and skipping then move no documents, and cached documents are not read. */
function find(
  prepare: Prepare,
  cache: DocumentCache,
  collection: Collection,
  { filter, sort, skip = 0, limit }: Page,
): readonly StoredDocument[] {
  const { table } = collection
  const { sql, values } = whereOf(collection, filter)
  const order = orderByTerms(collection, sort)
  const behind = `FROM ${table} WHERE ${sql} ORDER BY ${order} LIMIT ? OFFSET ?`
  if (limit === undefined || limit > MAX_CACHED_PAGE) {
    const page =
      limit === undefined
        ? `SELECT id, position, doc ${behind}`
        : `SELECT id, position, doc FROM ${table} WHERE rowid IN (SELECT rowid ${behind}) ORDER BY ${order}`
    return rowsOf<StoredRow>(prepare(page).all(...values, limit ?? -1, skip)).map(storedOf)
  }
  const keys = rowsOf<[string, number]>(prepare(`SELECT id, position ${behind}`).all(...values, limit, skip))
  const cached = keys.map(([id, position]) => cache.get(table, id, position))
  const missing = keys.flatMap(([id], index) => (cached[index] ? [] : [id]))
  const read = missing.length > 0 ? getMany(prepare, collection, missing) : []
  for (const stored of read) cache.set(table, stored)
  const found = new Map(read.map((stored) => [stored.id, stored]))
  return keys.flatMap(([id], index) => cached[index] ?? found.get(id) ?? [])
}

/** Reads one value of each document of a page, from its column if the path has one. */
function pluck(
  prepare: Prepare,
  collection: Collection,
  path: string,
  { filter, sort, skip = 0, limit = -1 }: Page,
): readonly Scalar[] {
  const { sql, values } = whereOf(collection, filter)
  const page = `SELECT ${expressionOf(collection, path)} FROM ${collection.table} WHERE ${sql} ORDER BY ${orderByTerms(collection, sort)} LIMIT ? OFFSET ?`
  return rowsOf<[SQLOutputValue]>(prepare(page).all(...values, limit, skip)).map(([value]) => decode(value))
}

function count(prepare: Prepare, collection: Collection, filter: Filter): number {
  const { sql, values } = whereOf(collection, filter)
  const [row] = rowsOf<[number]>(prepare(`SELECT count(*) FROM ${collection.table} WHERE ${sql}`).all(...values))
  return row?.[0] ?? 0
}

function sum(
  prepare: Prepare,
  collection: Collection,
  filter: Filter,
  groupBy: readonly string[],
  fields: readonly string[],
): Awaited<ReturnType<ReadStore['sum']>> {
  const { sql, values } = whereOf(collection, filter)
  // The sign keeps SQLite from choosing an index in the order of the groups over one that serves the filter.
  const keys = groupBy.map((path) => `+${expressionOf(collection, path)}`)
  // Only numbers are summed: they sort before the empty text; text, lists and booleans do not.
  const totals = fields
    .map((path) => expressionOf(collection, path))
    .map((value) => `total(iif(${value} < '', ${value}, NULL))`)
  const grouping = keys.length > 0 ? ` GROUP BY ${keys.map((_, index) => index + 1).join(', ')}` : ''
  const selected = [...keys, 'count(*)', ...totals].join(', ')
  const rows = prepare(`SELECT ${selected} FROM ${collection.table} WHERE ${sql}${grouping}`).all(...values)
  return rowsOf<SQLOutputValue[]>(rows)
    .map((row) => ({
      key: row.slice(0, keys.length).map(decode),
      count: Number(row[keys.length]),
      sums: row.slice(keys.length + 1).map(Number),
    }))
    .filter((group) => group.count > 0)
}

function checkpointsOf(prepare: Prepare, where: string, ...values: string[]): Readonly<Record<string, Checkpoint>> {
  const rows = prepare(`SELECT name, position, at FROM checkpoints ${where}`).all(...values)
  return Object.fromEntries(
    rowsOf<[string, number, string | null]>(rows).map(([name, position, at]) => [name, { position, at }]),
  )
}

function storedOf([id, position, doc]: StoredRow): StoredDocument {
  return { id, position, doc: JSON.parse(doc) }
}

function registerMatchesFunction(db: DatabaseSync): void {
  let compiled: { readonly key: string; readonly expression: RegExp } | null = null
  db.function(MATCHES_FUNCTION, { deterministic: true }, (pattern, flags, value) => {
    if (typeof value !== 'string') return 0
    const key = `${flags}/${pattern}`
    if (compiled?.key !== key) compiled = { key, expression: new RegExp(String(pattern), String(flags)) }
    return compiled.expression.test(value) ? 1 : 0
  })
}
