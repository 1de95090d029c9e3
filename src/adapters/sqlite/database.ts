import { chmodSync, mkdirSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

/** Tables, format version (PRAGMA user_version) and settings of a file. */
export interface Layout {
  readonly version: number
  /** Statements that create missing tables and indexes. */
  readonly tables: string
  /**
   * Columns that a file of this version may lack, by table. They are nullable, so that an earlier program of the same version goes on
   * writing beside this one.
   */
  readonly addedColumns?: Readonly<Record<string, Readonly<Record<string, string>>>>
  /** FULL: a commit survives a power cut. NORMAL: it survives a killed process. */
  readonly synchronous: 'FULL' | 'NORMAL'
  readonly cacheKiB: number
  /** Bytes of the file that are memory-mapped. A commit of another connection unmaps them all, so a follower uses 0. */
  readonly mappedBytes: number
  /** Page size of a new file in bytes. A row larger than half a page wastes the rest of it. */
  readonly pageBytes: number
}

/** An open file. */
export interface Database {
  readonly db: DatabaseSync
  readonly path: string
  /** Throws when the file was moved or deleted under the open connection, since writes would be lost. */
  readonly checkFile: () => void
}

/** Permissions of the group and of everyone else, and of executing. */
const OTHERS = 0o177
const BUSY_MS = 10_000
const RETRY_MS = 20
const MAX_WAL_BYTES = 64 * 1024 * 1024
/** Larger than any file. */
export const WHOLE_FILE = 8 * 1024 ** 3

/** Primary result codes of an unreachable, locked, full or damaged file, and not of a wrong statement. */
const UNAVAILABLE_CODES = new Set([3, 5, 6, 7, 8, 9, 10, 11, 13, 14, 15, 22, 26])
const BUSY_CODES = new Set([5, 6])
const CONSTRAINT_CODE = 19

/** The file cannot be reached: it is unreadable, full, locked for too long, or gone. */
export class FileUnavailable extends Error {
  override readonly name = 'FileUnavailable'
}

function primaryCodeOf(error: unknown): number | null {
  return error instanceof Error && 'errcode' in error && typeof error.errcode === 'number' ? error.errcode & 0xff : null
}

/** Whether an error of SQLite or of the file system says that the file is unavailable. */
export function isUnavailable(error: unknown): boolean {
  if (error instanceof FileUnavailable) return true
  if (!(error instanceof Error) || !('code' in error)) return false
  const code = primaryCodeOf(error)
  if (code !== null) return UNAVAILABLE_CODES.has(code)
  return typeof error.code === 'string' && /^E[A-Z]+$/.test(error.code)
}

/** Whether an error is a violated UNIQUE or NOT NULL constraint. */
export function isConstraintViolation(error: unknown): boolean {
  return primaryCodeOf(error) === CONSTRAINT_CODE
}

/**
 * Opens a file; creates it and its directory if they are missing.
 * @throws FileUnavailable when it cannot be opened; an Error of one sentence when another version of the program wrote it in another format
 */
export function openDatabase(path: string, layout: Layout): Database {
  try {
    return openFile(path, layout)
  } catch (error) {
    if (!isUnavailable(error)) throw error
    throw new FileUnavailable(`${path} cannot be opened: ${error instanceof Error ? error.message : String(error)}.`)
  }
}

/** Leaves the file to its owner alone, with its companions of an earlier run; SQLite creates new ones with the file's mode. */
function restrictToOwner(path: string): void {
  for (const file of [path, `${path}-wal`, `${path}-shm`]) {
    const mode = statSync(file, { throwIfNoEntry: false })?.mode ?? 0
    if ((mode & OTHERS) !== 0) chmodSync(file, mode & ~OTHERS & 0o777)
  }
}

/** Opens another connection to a file that is open already, with SQLite's own settings. */
export function openConnection(path: string): DatabaseSync {
  return new DatabaseSync(path, { timeout: BUSY_MS, enableForeignKeyConstraints: false })
}

function openFile(path: string, layout: Layout): Database {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  const db = openConnection(path)
  try {
    restrictToOwner(path)
    const found = versionOf(db)
    checkFormat(path, found, layout.version)
    db.exec(`PRAGMA page_size=${layout.pageBytes}`)
    enableWal(db)
    db.exec(`PRAGMA synchronous=${layout.synchronous}; PRAGMA cache_size=-${layout.cacheKiB};
      PRAGMA mmap_size=${layout.mappedBytes}; PRAGMA temp_store=MEMORY;
      PRAGMA wal_autocheckpoint=${MAX_WAL_BYTES / layout.pageBytes}; PRAGMA journal_size_limit=${MAX_WAL_BYTES}`)
    if (found < layout.version) {
      inTransaction(db, () => db.exec(`${layout.tables}; PRAGMA user_version=${layout.version}`))
    }
    addMissingColumns(db, layout)
    return { db, path, checkFile: createFileCheck(path) }
  } catch (error) {
    db.close()
    throw error
  }
}

/** Adds the layout's later columns to the tables of an earlier program. */
function addMissingColumns(db: DatabaseSync, { addedColumns = {} }: Layout): void {
  const missing = () =>
    Object.entries(addedColumns).flatMap(([table, columns]) => {
      const found = new Set(
        db
          .prepare(`PRAGMA table_info(${table})`)
          .all()
          .map(({ name }) => name),
      )
      const absent = Object.entries(columns).filter(([name]) => !found.has(name))
      return absent.map(([name, type]) => `ALTER TABLE ${table} ADD COLUMN ${name} ${type}`)
    })
  if (missing().length === 0) return
  // Another process may have added them before this one got the lock.
  inTransaction(db, () => {
    for (const sql of missing()) db.exec(sql)
  })
}

/** Runs `work` in a transaction that takes the write lock at once. An error rolls it back. */
export function inTransaction<Result>(db: DatabaseSync, work: () => Result): Result {
  db.exec('BEGIN IMMEDIATE')
  try {
    const result = work()
    db.exec('COMMIT')
    return result
  } catch (error) {
    rollback(db)
    throw error
  }
}

/** Rolls back the transaction, unless SQLite has already done so. */
export function rollback(db: DatabaseSync): void {
  if (db.isTransaction) db.exec('ROLLBACK')
}

/** A file without a format version is new. @throws Error of one sentence on another format than the program's */
function checkFormat(path: string, found: number, version: number): void {
  if (found > version)
    throw new Error(`${path} has format version ${found}; this program supports versions up to ${version}.`)
  if (found > 0 && found < version)
    throw new Error(
      `${path} has format version ${found} of an earlier program, and this one reads version ${version} alone; move the data directory away, or start on an empty one.`,
    )
}

function versionOf(db: DatabaseSync): number {
  return Number(db.prepare('PRAGMA user_version').get()?.user_version)
}

/** Switches the file to WAL. SQLite does not wait for other connections here, so this retries. */
function enableWal(db: DatabaseSync): void {
  for (let waited = 0; ; waited += RETRY_MS) {
    try {
      db.exec('PRAGMA journal_mode=WAL')
      return
    } catch (error) {
      if (!BUSY_CODES.has(primaryCodeOf(error) ?? 0) || waited >= BUSY_MS) throw error
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, RETRY_MS)
    }
  }
}

/** Creates a check that the file at the path is still the same file. The check throws FileUnavailable. */
export function createFileCheck(path: string): () => void {
  const opened = statSync(path)
  return () => {
    const now = statSync(path, { throwIfNoEntry: false })
    if (now?.ino !== opened.ino || now.dev !== opened.dev)
      throw new FileUnavailable(`${path} has been moved or deleted.`)
  }
}

/** Runs `work`; an error that says that the file is unavailable becomes the one that `unavailable` creates. */
export function withUnavailable<Result>(unavailable: (message: string) => Error, work: () => Result): Result {
  try {
    return work()
  } catch (error) {
    throw isUnavailable(error) ? unavailable(error instanceof Error ? error.message : String(error)) : error
  }
}

/** Runs `work`; an error that says that the file is unavailable becomes a FileUnavailable, which crosses threads by its name. */
export function withFileUnavailable<Result>(work: () => Result): Result {
  return withUnavailable((message) => new FileUnavailable(message), work)
}
