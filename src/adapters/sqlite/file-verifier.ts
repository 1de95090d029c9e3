import { existsSync } from 'node:fs'
import type { DatabaseSync } from 'node:sqlite'
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

/** Compares the columns of every collection in a file of read models with its documents; sentences on those that differ. */
export function checkSqliteColumns(path: string): readonly string[] {
  if (!existsSync(path)) return []
  return inFile(path, (db) => {
    const prepare = createStatementCache(db)
    const catalogue = openCatalogue(prepare)
    return catalogue.names().flatMap((name) => {
      const collection = catalogue.get(name)
      return collection ? mismatchesIn(prepare, collection) : []
    })
  })
}
