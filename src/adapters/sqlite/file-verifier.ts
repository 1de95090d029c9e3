import { existsSync } from 'node:fs'
import type { DatabaseSync } from 'node:sqlite'
import type { Doc } from '../../ports/read-store.ts'
import { type Collection, openCatalogue } from './collections.ts'
import { openConnection } from './database.ts'
import { createStatementCache, type Prepare, rowsOf } from './statements.ts'
import { codedPath, codeSql } from './text-codes.ts'
import { jsonValueSql } from './values.ts'

/** Sentences on one file, or on one collection of it, at most. */
const MAX_SENTENCES = 100

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

/** What SQLite's own check of a file's pages, tables and indexes finds, in sentences; none for a file that is not there. */
export function checkSqliteFile(path: string): readonly string[] {
  if (!existsSync(path)) return []
  return inFile(path, (db) => {
    const rows = db.prepare(`PRAGMA integrity_check(${MAX_SENTENCES})`).all()
    return rows
      .map(({ integrity_check: found }) => String(found))
      .filter((found) => found !== 'ok')
      .map((found) => `SQLite finds damage in ${path}: ${found}.`)
  })
}

function inFile(path: string, work: (db: DatabaseSync) => readonly string[]): readonly string[] {
  let db: DatabaseSync | null = null
  try {
    db = openConnection(path)
    return work(db)
  } catch (error) {
    return [`${path} cannot be read as a database: ${messageOf(error)}.`]
  } finally {
    db?.close()
  }
}

/** SQL that is true for the rows whose column of a path does not say what their document says. */
function mismatchSql(path: string, column: string): string {
  const coded = codedPath(path)
  return coded === null ? `${column} IS NOT ${jsonValueSql(path)}` : `${column} IS NOT ${codeSql(jsonValueSql(coded))}`
}

/** The rows of a collection that are no JSON, or have a column that differs from it: queries filter and sum by the columns. */
function mismatchesIn(prepare: Prepare, { name, table, columns }: Collection): readonly string[] {
  const damaged = prepare(`SELECT id FROM ${table} WHERE NOT json_valid(doc) LIMIT ${MAX_SENTENCES}`)
  const sentences = rowsOf<[string]>(damaged.all()).map(([id]) => `Document ${id} of ${name} is not JSON.`)
  for (const [path, column] of columns) {
    const sql = `SELECT id FROM ${table} WHERE CASE WHEN json_valid(doc) THEN ${mismatchSql(path, column)} END LIMIT ${MAX_SENTENCES}`
    for (const [id] of rowsOf<[string]>(prepare(sql).all())) {
      const shown = codedPath(path) ?? path
      sentences.push(`Document ${id} of ${name}: the column of "${shown}" says something else than the document.`)
    }
  }
  return sentences.slice(0, MAX_SENTENCES)
}

/** When documents expire, by what their projection says. */
export interface StoredExpiries {
  /** Null for a collection of documents that never expire. */
  readonly expiryOf: (collection: string) => ((doc: Doc) => number | null) | null
  /** Present instant (ms since the epoch). */
  readonly now: number
}

/** Documents whose stored expiry is not what they say. One that had expired before it was written may have a later one. */
function expiriesIn(
  prepare: Prepare,
  { name, table }: Collection,
  { expiryOf, now }: StoredExpiries,
): readonly string[] {
  const sentenceOn = (id: string) => `Document ${id} of ${name} has another instant of expiry than its fields say.`
  const expiry = expiryOf(name)
  const rows = expiry
    ? prepare(`SELECT id, workspace, expires_at, doc FROM ${table} WHERE json_valid(doc)`)
    : prepare(`SELECT id, workspace, expires_at, '{}' FROM ${table} WHERE expires_at IS NOT NULL`)
  const sentences: string[] = []
  for (const row of rows.iterate()) {
    const [id, workspaceId, stored, json] = row as unknown as readonly [string, string, number | null, string]
    const at = expiry?.({ ...JSON.parse(json), workspaceId }) ?? null
    const isRight = at === null || stored === null || at > now ? stored === at : stored >= at
    if (!isRight && sentences.push(sentenceOn(id)) === MAX_SENTENCES) break
  }
  return sentences
}

/** Compares the columns and the expiries of every collection in a file of read models with its documents; sentences on those that differ. */
export function checkSqliteColumns(path: string, expiries: StoredExpiries): readonly string[] {
  if (!existsSync(path)) return []
  return inFile(path, (db) => {
    const prepare = createStatementCache(db)
    const catalogue = openCatalogue(prepare)
    return catalogue.names().flatMap((name) => {
      const collection = catalogue.get(name)
      if (!collection) return []
      try {
        return [...mismatchesIn(prepare, collection), ...expiriesIn(prepare, collection, expiries)]
      } catch (error) {
        // A projector may drop a build meanwhile.
        if (catalogue.get(name) === undefined) return []
        throw error
      }
    })
  })
}
