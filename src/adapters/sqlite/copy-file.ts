import { closeSync, fsyncSync, openSync } from 'node:fs'
import { inTransaction, openConnection, withFileUnavailable } from './database.ts'

/**
 * Copies a file as it is at one instant, while others write to it, to a path where there is none; the copy is on disk afterwards.
 * `leftOut`: beginnings of keys of operational entries that the copy does not get. @throws FileUnavailable
 */
export function copySqliteFile(path: string, to: string, leftOut: readonly string[] = []): void {
  withFileUnavailable(() => {
    const db = openConnection(path)
    try {
      db.prepare('VACUUM INTO ?').run(to)
    } finally {
      db.close()
    }
    if (leftOut.length > 0) deleteEntries(to, leftOut)
    const file = openSync(to, 'r+')
    fsyncSync(file)
    closeSync(file)
  })
}

function deleteEntries(path: string, prefixes: readonly string[]): void {
  const db = openConnection(path)
  try {
    inTransaction(db, () => {
      for (const prefix of prefixes)
        db.prepare('DELETE FROM entries WHERE substr(key, 1, ?) = ?').run(prefix.length, prefix)
    })
  } finally {
    db.close()
  }
}
