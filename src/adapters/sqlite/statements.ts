import type { DatabaseSync, StatementSync } from 'node:sqlite'

/** Returns the prepared statement of an SQL text, from the cache if possible. Its rows are arrays. */
export type Prepare = (sql: string) => StatementSync

const MAX_STATEMENTS = 500

/** Creates a cache of a connection's prepared statements; the oldest is dropped first. */
export function createStatementCache(db: DatabaseSync): Prepare {
  const kept = new Map<string, StatementSync>()
  return (sql) => {
    const found = kept.get(sql)
    if (found) return found
    const statement = db.prepare(sql)
    statement.setReturnArrays(true)
    const [oldest] = kept.keys()
    if (kept.size >= MAX_STATEMENTS && oldest !== undefined) kept.delete(oldest)
    kept.set(sql, statement)
    return statement
  }
}

/** Types the rows of a statement that returns arrays. */
export function rowsOf<Row extends readonly unknown[]>(rows: unknown): readonly Row[] {
  return rows as readonly Row[]
}
