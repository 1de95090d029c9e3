import type { DatabaseSync, SQLOutputValue } from 'node:sqlite'
import { batched } from '../../kernel/async/batch-per-tick.ts'
import { yieldToEventLoop } from '../../kernel/async/yield-to-event-loop.ts'
import {
  type Checkpoint,
  type Derivation,
  type DerivedValue,
  type Doc,
  deriveFrom,
  type Filter,
  type Page,
  type ReadStore,
  type Scalar,
  type StoredDocument,
  StoreUnavailable,
} from '../../ports/read-store.ts'
import {
  type Catalogue,
  type Collection,
  codeColumnOf,
  columnOf,
  ensureCollection,
  expressionOf,
  openCatalogue,
  tableName,
} from './collections.ts'
import { createFileCheck, inTransaction, openDatabase, withUnavailable } from './database.ts'
import { createDocumentCache, createValueCaches, type DocumentCache } from './document-cache.ts'
import { ALIVE_SQL, aliveWhereOf, MATCHES_FUNCTION, orderByTerms } from './filter-sql.ts'
import { createStatementCache, type Prepare, rowsOf } from './statements.ts'
import { createTextCodes, type TextCodes } from './text-codes.ts'
import { decode, decodeOrNone, quoteName, scalarOrNone, valueAt } from './values.ts'
import { type Commit, createCommitter } from './view-commit.ts'
import { FOLLOWED_VIEW_LAYOUT, VIEW_LAYOUT } from './view-layout.ts'
import { createWalCheckpoints } from './wal-checkpoints.ts'

const unavailable = (message: string): StoreUnavailable => new StoreUnavailable(message)

/** Largest page whose documents are cached: pages of this size are read repeatedly. */
const MAX_CACHED_PAGE = 200
const CACHED_DOCUMENTS = 4_000
/** Documents that are deleted at once where a collection is dropped. */
const DROPPED_AT_ONCE = 500
/** Sorts after every name with the same prefix. */
const LAST = '\u{10FFFF}'

/** Columns of a row, as `storedOf` reads them. */
const ROW = 'id, position, workspace, doc'
type StoredRow = readonly [id: string, position: number, workspace: string, doc: string]

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
  const layout = follows ? FOLLOWED_VIEW_LAYOUT : VIEW_LAYOUT
  const { db, checkFile } = withUnavailable(unavailable, () => openDatabase(path, layout))
  registerMatchesFunction(db)
  const prepare = createStatementCache(db)
  const catalogue = openCatalogue(prepare)
  const walCheckpoints = createWalCheckpoints(path)
  const codes = createTextCodes(prepare)
  const commit = createCommitter(db, prepare, catalogue, codes, walCheckpoints.wrote)
  const documents = createDocumentCache<StoredDocument>({ max: CACHED_DOCUMENTS })
  const valuesOf = createValueCaches()
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
    missingIndexes: (specs) =>
      runAsync(() => {
        const there = new Set(catalogue.names())
        return specs.map(({ name }) => name).filter((name) => !there.has(name))
      }),
    get: (name, id, now) =>
      inCollection(name, null, (collection) => getMany(prepare, collection, [id], now)[0] ?? null),
    getMany: (name, ids, now) => inCollection(name, [], (collection) => getMany(prepare, collection, ids, now)),
    find: (name, page) => inCollection(name, [], (collection) => find(prepare, documents, collection, page)),
    findDerived: (name, page, derivation) =>
      inCollection(name, [], (collection) => findDerived(prepare, valuesOf(derivation), collection, page, derivation)),
    pluck: (name, path, page) => inCollection(name, [], (collection) => pluck(prepare, collection, path, page)),
    select: (name, paths, page) =>
      inCollection(name, [], (collection) => select(prepare, codes, collection, paths, page)),
    count: (name, filter, now) => inCollection(name, 0, (collection) => count(prepare, collection, filter, now)),
    sum: (name, filter, groupBy, fields, now) =>
      inCollection(name, [], (collection) =>
        sum(prepare, collection, now === undefined ? { filter } : { filter, now }, groupBy, fields),
      ),
    sumRows: async () => null,
    commit: (writes, move) => commitBatched({ writes, move }),
    deleteExpired: (name, now) =>
      inCollection(name, 0, (collection) => inTransaction(db, () => deleteExpired(prepare, collection, now))),
    checkpoint: (name) => runAsync(() => checkpointsOf(prepare, 'WHERE name = ?', name)[name] ?? null),
    checkpoints: (prefix = '') =>
      runAsync(() => checkpointsOf(prepare, 'WHERE name >= ? AND name < ?', prefix, `${prefix}${LAST}`)),
    async drop(name, checkpoint) {
      if (checkpoint !== undefined) run(() => inTransaction(db, () => deleteCheckpoints(prepare, checkpoint)))
      const collection = run(() => catalogue.get(name))
      // In steps, since a table of a million documents takes seconds; indexes first, since each would be written with each step.
      const indexes = collection ? run(() => indexesOf(prepare, collection)) : []
      for (const index of indexes) {
        run(() => db.exec(`DROP INDEX IF EXISTS ${quoteName(index)}`))
        await yieldToEventLoop()
      }
      while (collection && run(() => deleteSome(prepare, collection))) await yieldToEventLoop()
      run(() => drop(db, prepare, catalogue, name))
    },
    collections: () => runAsync(() => catalogue.names()),
    async close() {
      if (closed) return
      closed = true
      await walCheckpoints.close()
      db.close()
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

function deleteCheckpoints(prepare: Prepare, name: string): void {
  prepare('DELETE FROM checkpoints WHERE name = ? OR (name >= ? AND name < ?)').run(name, `${name}/`, `${name}/${LAST}`)
}

/** Names of the indexes that were created for a collection. */
function indexesOf(prepare: Prepare, { name }: Collection): readonly string[] {
  const rows = prepare(`SELECT name FROM sqlite_schema WHERE type = 'index' AND tbl_name = ? AND sql IS NOT NULL`)
  return rowsOf<[string]>(rows.all(tableName(name))).map(([index]) => index)
}

/** Deletes some documents of a collection. Returns whether there were any. */
function deleteSome(prepare: Prepare, { table }: Collection): boolean {
  const some = `SELECT rowid FROM ${table} LIMIT ${DROPPED_AT_ONCE}`
  return prepare(`DELETE FROM ${table} WHERE rowid IN (${some})`).run().changes > 0
}

function drop(db: DatabaseSync, prepare: Prepare, catalogue: Catalogue, name: string): void {
  try {
    inTransaction(db, () => {
      const collection = catalogue.get(name)
      if (collection) db.exec(`DROP TABLE ${collection.table}`)
      prepare('DELETE FROM collections WHERE name = ?').run(name)
      prepare('DELETE FROM removed WHERE collection = ?').run(name)
    })
  } finally {
    catalogue.invalidate()
  }
}

function getMany(
  prepare: Prepare,
  { table }: Collection,
  ids: readonly string[],
  now?: number,
): readonly StoredDocument[] {
  const those = 'id IN (SELECT value FROM json_each(?))'
  const rows =
    now === undefined
      ? prepare(`SELECT ${ROW} FROM ${table} WHERE ${those}`).all(JSON.stringify(ids))
      : prepare(`SELECT ${ROW} FROM ${table} WHERE ${those} AND ${ALIVE_SQL}`).all(JSON.stringify(ids), now)
  return rowsOf<StoredRow>(rows).map(storedOf)
}

/** Deletes the documents and the guards of a collection that have expired. */
function deleteExpired(prepare: Prepare, { name, table }: Collection, now: number): number {
  const documents = prepare(`DELETE FROM ${table} WHERE expires_at <= ?`).run(now)
  const guards = prepare('DELETE FROM removed WHERE collection = ? AND expires_at <= ?').run(name, now)
  return Number(documents.changes) + Number(guards.changes)
}

function find(
  prepare: Prepare,
  cache: DocumentCache<StoredDocument>,
  collection: Collection,
  page: Page,
): readonly StoredDocument[] {
  return findCached(prepare, cache, collection, page, (read) => read) ?? findUncached(prepare, collection, page)
}

function findDerived<Value>(
  prepare: Prepare,
  cache: DocumentCache<DerivedValue<Value>>,
  collection: Collection,
  page: Page,
  derivation: Derivation<Value>,
): readonly DerivedValue<Value>[] {
  const make = (found: readonly StoredDocument[]) => deriveFrom(found, derivation)
  return findCached(prepare, cache, collection, page, make) ?? make(findUncached(prepare, collection, page))
}

/** A page as SQL behind the columns that are read: its order, its text and the values of that. */
function pageOf(collection: Collection, { filter, now, sort, skip = 0, limit = -1 }: Page) {
  const { sql, values } = aliveWhereOf(collection, filter, now)
  const order = orderByTerms(collection, sort)
  return {
    order,
    behind: `FROM ${collection.table} WHERE ${sql} ORDER BY ${order} LIMIT ? OFFSET ?`,
    values: [...values, limit, skip],
  }
}

function findUncached(prepare: Prepare, collection: Collection, page: Page): readonly StoredDocument[] {
  const { order, behind, values } = pageOf(collection, page)
  const text =
    page.limit === undefined
      ? `SELECT ${ROW} ${behind}`
      : `SELECT ${ROW} FROM ${collection.table} WHERE rowid IN (SELECT rowid ${behind}) ORDER BY ${order}`
  return rowsOf<StoredRow>(prepare(text).all(...values)).map(storedOf)
}

/**
 * Finds the keys of a page first: sorting and skipping then move no documents, and cached documents are not read. Null for a long
 * page, which is not cached.
 */
function findCached<Cached extends { readonly id: string; readonly position: number }>(
  prepare: Prepare,
  cache: DocumentCache<Cached>,
  collection: Collection,
  page: Page,
  make: (read: readonly StoredDocument[]) => readonly Cached[],
): readonly Cached[] | null {
  const { table } = collection
  if (page.limit === undefined || page.limit > MAX_CACHED_PAGE) return null
  const { behind, values } = pageOf(collection, page)
  const keys = rowsOf<[string, number]>(prepare(`SELECT id, position ${behind}`).all(...values))
  const cached = keys.map(([id, position]) => cache.get(table, id, position))
  const missing = keys.flatMap(([id], index) => (cached[index] ? [] : [id]))
  const read = missing.length > 0 ? make(getMany(prepare, collection, missing)) : []
  for (const one of read) cache.set(table, one)
  const found = new Map(read.map((one) => [one.id, one]))
  return keys.flatMap(([id], index) => cached[index] ?? found.get(id) ?? [])
}

/** Reads one value of each document of a page, from its column if the path has one. */
function pluck(
  prepare: Prepare,
  collection: Collection,
  path: string,
  { filter, now, sort, skip = 0, limit = -1 }: Page,
): readonly Scalar[] {
  const { sql, values } = aliveWhereOf(collection, filter, now)
  const page = `SELECT ${expressionOf(collection, path)} FROM ${collection.table} WHERE ${sql} ORDER BY ${orderByTerms(collection, sort)} LIMIT ? OFFSET ?`
  return rowsOf<[SQLOutputValue]>(prepare(page).all(...values, limit, skip)).map(([value]) => decode(value))
}

/**
 * Reads several values of each document of a page. Where all have columns, the documents are not read; otherwise one is
 * parsed for all of its values, which takes less than the functions of SQL for each.
 */
function select(
  prepare: Prepare,
  codes: TextCodes,
  collection: Collection,
  paths: readonly string[],
  page: Page,
): Awaited<ReturnType<ReadStore['select']>> {
  const columns = paths.map((path) => columnOf(collection, path))
  if (columns.every((column) => column !== undefined)) return selectColumns(prepare, codes, collection, paths, page)
  const rows = selectRows(prepare, collection, [...columns.map((column) => column ?? 'NULL'), 'doc'], page)
  const steps = paths.map((path, index) => (columns[index] === undefined ? path.split('.') : null))
  return rows.map((row) => {
    const doc: Doc = JSON.parse(String(row.pop()))
    return row.map((value, index) => {
      const keys = steps[index]
      return keys ? scalarOrNone(valueAt(doc, keys)) : decodeOrNone(value)
    })
  })
}

function selectRows(
  prepare: Prepare,
  collection: Collection,
  expressions: readonly string[],
  { filter, now, sort, skip = 0, limit = -1 }: Page,
): readonly SQLOutputValue[][] {
  const { sql, values } = aliveWhereOf(collection, filter, now)
  const page = `SELECT ${expressions.join(', ')} FROM ${collection.table} WHERE ${sql} ORDER BY ${orderByTerms(collection, sort)} LIMIT ? OFFSET ?`
  return rowsOf<SQLOutputValue[]>(prepare(page).all(...values, limit, skip))
}

/** Reads values that all have columns: by their codes where they have some, unless a value is no text that a code could stand for. */
function selectColumns(
  prepare: Prepare,
  codes: TextCodes,
  collection: Collection,
  paths: readonly string[],
  page: Page,
): Awaited<ReturnType<ReadStore['select']>> {
  const plain = paths.map((path) => expressionOf(collection, path))
  const coded = paths.map((path) => codeColumnOf(collection, path))
  const placesOf = (isCoded: boolean) => coded.flatMap((column, place) => (!column === isCoded ? [] : [place]))
  const decodeRow = createRowDecoder(codes, placesOf(true), placesOf(false))
  const rows = selectRows(
    prepare,
    collection,
    plain.map((column, place) => coded[place] ?? column),
    page,
  )
  return rows.every(decodeRow)
    ? (rows as (Scalar | undefined)[][])
    : selectRows(prepare, collection, plain, page).map((row) => row.map(decodeOrNone))
}

/**
 * Creates the function that decodes the values of a row in their place, some of them codes: most of the others are scalars
 * already, and there are very many of them. It returns false when a code does not tell its value.
 */
function createRowDecoder(codes: TextCodes, coded: readonly number[], plain: readonly number[]) {
  return (row: (SQLOutputValue | Scalar | undefined)[]): boolean => {
    for (const place of coded) {
      const value = codes.valueOf(row[place] as number | null)
      if (value === undefined) return false
      row[place] = value
    }
    for (const place of plain) {
      const value = row[place] ?? null
      if (typeof value === 'object' && value !== null) row[place] = decodeOrNone(value)
    }
    return true
  }
}

function count(prepare: Prepare, collection: Collection, filter: Filter, now?: number): number {
  const { sql, values } = aliveWhereOf(collection, filter, now)
  const [row] = rowsOf<[number]>(prepare(`SELECT count(*) FROM ${collection.table} WHERE ${sql}`).all(...values))
  return row?.[0] ?? 0
}

function sum(
  prepare: Prepare,
  collection: Collection,
  { filter, now }: Pick<Page, 'filter' | 'now'>,
  groupBy: readonly string[],
  fields: readonly string[],
): Awaited<ReturnType<ReadStore['sum']>> {
  const { sql, values } = aliveWhereOf(collection, filter, now)
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
  const rows = prepare(`SELECT name, position, at, epoch FROM checkpoints ${where}`).all(...values)
  return Object.fromEntries(
    rowsOf<[string, number, string | null, number]>(rows).map(([name, position, at, epoch]) => [
      name,
      epoch === 0 ? { position, at } : { position, at, epoch },
    ]),
  )
}

function storedOf([id, position, workspace, json]: StoredRow): StoredDocument {
  const doc = JSON.parse(json)
  if (workspace !== '') doc.workspaceId = workspace
  return { id, position, doc }
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
