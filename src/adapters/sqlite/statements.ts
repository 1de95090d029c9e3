import type { DatabaseSync, StatementSync } from 'node:sqlite'

/** Prepares a statement, or finds it prepared. Rows come as arrays. */
export type Prepare = (sql: string) => StatementSync

const MAX_STATEMENTS = 500

/** Prepared statements of a connection, the ones used last kept. */
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

/** Rows of a statement that returns arrays. */
export function rowsOf<Row extends readonly unknown[]>(rows: unknown): readonly Row[] {
  return rows as readonly Row[]
}
