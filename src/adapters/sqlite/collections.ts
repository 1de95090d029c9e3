import type { DatabaseSync } from 'node:sqlite'
import type { CollectionSpec } from '../../ports/read-store.ts'
import { type Prepare, rowsOf } from './statements.ts'
import { addTextsSql, codedPath, codePath, codeSql, TEXTS_TABLE } from './text-codes.ts'
import { jsonValueSql, LIST_SQL, quoteName } from './values.ts'

/**
 * Table of a collection: id, position, workspace, instant of expiry (ms), columns of indexed paths, and the document without its
 * workspace as JSON.
 */
export interface Collection {
  readonly name: string
  /** SQL name of the table. */
  readonly table: string
  /** SQL names of columns by document path. */
  readonly columns: ReadonlyMap<string, string>
  /** Paths of columns that have ever held a list: equality on them may mean "has this element". */
  readonly lists: ReadonlySet<string>
}

/** Paths of a row's own fields. */
const ROW_FIELDS: Readonly<Record<string, string>> = { _id: 'id', _position: 'position', workspaceId: 'workspace' }

/** SQL of a path's column or row field; undefined when the path has no column. */
export function columnOf(collection: Collection, path: string): string | undefined {
  return ROW_FIELDS[path] ?? collection.columns.get(path)
}

/** SQL column of the codes of a path's values; undefined when the path has none. */
export function codeColumnOf({ columns }: Collection, path: string): string | undefined {
  return columns.get(codePath(path))
}

/** SQL of a path's value, encoded as in values.ts. */
export function expressionOf(collection: Collection, path: string): string {
  return columnOf(collection, path) ?? jsonValueSql(path)
}

/** Definitions of the file's collections, cached until another connection writes. */
export interface Catalogue {
  get(name: string): Collection | undefined
  names(): readonly string[]
  /** Call after this connection has changed a definition. */
  invalidate(): void
}

/** A collection, and the stored definition that it was built from. */
interface CatalogueEntry {
  readonly source: string
  readonly collection: Collection
}

/** Opens the catalogue of a file's collections. */
export function openCatalogue(prepare: Prepare): Catalogue {
  let known: ReadonlyMap<string, CatalogueEntry> = new Map()
  let seen: number | null = null
  let definitions: string | null = null
  const current = (): ReadonlyMap<string, CatalogueEntry> => {
    const version = numberOf(prepare, 'PRAGMA data_version')
    if (version === seen) return known
    const stored = definitionsVersionOf(prepare)
    if (stored !== definitions) known = readCatalogue(prepare, known)
    definitions = stored
    seen = version
    return known
  }
  return {
    get: (name) => current().get(name)?.collection,
    names: () => [...current().keys()],
    invalidate() {
      seen = null
      definitions = null
    },
  }
}

function numberOf(prepare: Prepare, sql: string): number {
  return rowsOf<[number]>(prepare(sql).all())[0]?.[0] ?? 0
}

/**
 * Changes with the definitions, and is less to read: collections and their columns come and go with the schema, and a
 * collection's paths of lists only become more.
 */
function definitionsVersionOf(prepare: Prepare): string {
  const lists = numberOf(prepare, 'SELECT sum(length(lists)) FROM collections')
  return `${numberOf(prepare, 'PRAGMA schema_version')} ${lists}`
}

/** Reads the definitions. Unchanged collections stay the same objects. */
function readCatalogue(
  prepare: Prepare,
  before: ReadonlyMap<string, CatalogueEntry>,
): ReadonlyMap<string, CatalogueEntry> {
  const rows = rowsOf<[string, string, string]>(prepare('SELECT name, columns, lists FROM collections').all())
  return new Map(
    rows.map(([name, columns, lists]) => {
      const source = `${columns} ${lists}`
      const old = before.get(name)
      return [
        name,
        old?.source === source ? old : { source, collection: collection(name, JSON.parse(columns), JSON.parse(lists)) },
      ]
    }),
  )
}

/** The table of a collection. */
export function tableName(name: string): string {
  return `view ${name}`
}

function collection(name: string, paths: readonly string[], lists: readonly string[]): Collection {
  const columns = new Map(paths.map((path) => [path, quoteName(columnName(path))]))
  return { name, table: quoteName(tableName(name)), columns, lists: new Set(lists) }
}

/** SQLite ignores case in names and paths do not: `buyer.maxCalls` is `f.buyer.max_calls`, and `_` is doubled. */
function columnName(path: string): string {
  return `f.${path.replaceAll('_', '__').replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)}`
}

/** Creates a collection, or adds its missing columns and indexes. Call in a transaction. */
export function ensureCollection(
  db: DatabaseSync,
  prepare: Prepare,
  found: Collection | undefined,
  spec: CollectionSpec,
): void {
  const indexed = spec.indexes.flatMap((index) => Object.keys(index))
  const coded = (spec.shared ?? []).map(codePath)
  const wanted = [...new Set([...indexed, ...spec.columns, ...coded])].filter((path) => !(path in ROW_FIELDS))
  const missing = wanted.filter((path) => !found?.columns.has(path))
  const grown = collection(spec.name, [...(found?.columns.keys() ?? []), ...missing], [...(found?.lists ?? [])])
  if (coded.length > 0) db.exec(TEXTS_TABLE)
  if (!found) db.exec(tableSql(grown))
  else for (const path of missing) addColumn(db, grown, path)
  for (const index of spec.indexes) db.exec(indexSql(grown, index))
  db.exec(expiryIndexSql(grown))
  if (found && missing.length === 0) return
  const held = found ? missing.filter((path) => hasLists(prepare, grown, path)) : []
  saveCollection(prepare, { ...grown, lists: new Set([...grown.lists, ...held]) })
}

/** Stores the definition of a collection. */
export function saveCollection(prepare: Prepare, { name, columns, lists }: Collection): void {
  prepare('INSERT OR REPLACE INTO collections (name, columns, lists) VALUES (?, ?, ?)').run(
    name,
    JSON.stringify([...columns.keys()]),
    JSON.stringify([...lists]),
  )
}

// Columns have no type, so that SQLite converts no values.
function tableSql({ table, columns }: Collection): string {
  const fields = [...columns.values()].map((column) => `${column}, `).join('')
  return `CREATE TABLE ${table} (
    id TEXT PRIMARY KEY NOT NULL, position INTEGER NOT NULL, workspace TEXT NOT NULL, expires_at INTEGER,
    ${fields}doc TEXT NOT NULL)`
}

function addColumn(db: DatabaseSync, { table, columns }: Collection, path: string): void {
  const column = columns.get(path)
  const coded = codedPath(path)
  db.exec(`ALTER TABLE ${table} ADD COLUMN ${column}`)
  const source = coded === null ? null : (columns.get(coded) ?? 'NULL')
  if (source !== null) db.exec(addTextsSql(table, source))
  db.exec(`UPDATE ${table} SET ${column} = ${source === null ? jsonValueSql(path) : codeSql(source)}`)
}

function hasLists(prepare: Prepare, { table, columns }: Collection, path: string): boolean {
  return prepare(`SELECT 1 FROM ${table} WHERE ${columns.get(path)} = ${LIST_SQL} LIMIT 1`).get() !== undefined
}

/** SQL of the index on what expires, which is empty for most collections. */
function expiryIndexSql({ name, table }: Collection): string {
  return `CREATE INDEX IF NOT EXISTS ${quoteName(`${name} by expiry`)} ON ${table} (expires_at) WHERE expires_at IS NOT NULL`
}

function indexSql(collection: Collection, index: CollectionSpec['indexes'][number]): string {
  const fields = Object.entries(index).map(([path, way]) => ({ path, way: way === -1 ? 'DESC' : 'ASC' }))
  const name = `${collection.name} by ${fields.map(({ path, way }) => `${columnName(path)} ${way}`).join(', ')}`
  const parts = fields.map(({ path, way }) => `${columnOf(collection, path)} ${way}`)
  if (!('_id' in index)) parts.push('id')
  return `CREATE INDEX IF NOT EXISTS ${quoteName(name)} ON ${collection.table} (${parts.join(', ')})`
}
