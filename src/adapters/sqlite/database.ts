import { mkdirSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

/** How a file is laid out: its tables, and the version that is stamped on it (PRAGMA user_version). */
export interface Layout {
  readonly version: number
  /** Statements that make what is missing. */
  readonly tables: string
  /** FULL: a commit survives a power cut. NORMAL: it survives a killed process. */
  readonly synchronous: 'FULL' | 'NORMAL'
  readonly cacheKiB: number
  /** Bytes of the file that lie in memory as they are. A commit of another connection lets go of them all: 0 for who mostly reads. */
  readonly mappedBytes: number
  /** Size of a page (bytes) of a file made anew: a row that does not fit twice into one wastes what it leaves. */
  readonly pageBytes: number
}

/** An open file, and the means to tell whether it is still where it was. */
export interface Database {
  readonly db: DatabaseSync
  readonly path: string
  /** Throws when the file was moved or deleted under the open connection: what is written then would be lost. */
  readonly checkFile: () => void
}

const BUSY_MS = 10_000
const RETRY_MS = 20
const MAX_WAL_BYTES = 64 * 1024 * 1024
/** As much of a file as anyone will have. */
export const WHOLE_FILE = 8 * 1024 ** 3

/** Primary result codes that say "the file is away, for now or for good", and not "the statement is wrong". */
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

/** Whether an error says that the file cannot be reached: unreadable, full, locked for too long, gone. */
export function isUnavailable(error: unknown): boolean {
  if (error instanceof FileUnavailable) return true
  if (!(error instanceof Error) || !('code' in error)) return false
  const code = primaryCodeOf(error)
  if (code !== null) return UNAVAILABLE_CODES.has(code)
  return typeof error.code === 'string' && /^E[A-Z]+$/.test(error.code)
}

/** Whether an error is a broken UNIQUE or NOT NULL rule. */
export function isConstraintViolation(error: unknown): boolean {
  return primaryCodeOf(error) === CONSTRAINT_CODE
}

/**
 * Opens a file, making it and its directory where they are missing.
 * @throws an error of one sentence when a newer version of the program wrote the file.
 */
export function openDatabase(path: string, layout: Layout): Database {
  try {
    return openFile(path, layout)
  } catch (error) {
    if (!isUnavailable(error)) throw error
    throw new FileUnavailable(`${path} cannot be opened: ${error instanceof Error ? error.message : String(error)}.`)
  }
}

function openFile(path: string, layout: Layout): Database {
  mkdirSync(dirname(path), { recursive: true })
  const db = new DatabaseSync(path, { timeout: BUSY_MS, enableForeignKeyConstraints: false })
  try {
    const found = versionOf(db)
    if (found > layout.version) {
      throw new Error(
        `${path} was written by version ${found} of its format; this program knows version ${layout.version} at most.`,
      )
    }
    db.exec(`PRAGMA page_size=${layout.pageBytes}`)
    enableWal(db)
    db.exec(`PRAGMA synchronous=${layout.synchronous}; PRAGMA cache_size=-${layout.cacheKiB};
      PRAGMA mmap_size=${layout.mappedBytes}; PRAGMA temp_store=MEMORY;
      PRAGMA wal_autocheckpoint=${MAX_WAL_BYTES / layout.pageBytes}; PRAGMA journal_size_limit=${MAX_WAL_BYTES}`)
    if (found < layout.version) {
      inTransaction(db, () => db.exec(`${layout.tables}; PRAGMA user_version=${layout.version}`))
    }
    return { db, path, checkFile: createFileCheck(path) }
  } catch (error) {
    db.close()
    throw error
  }
}

/** Runs `work` in one transaction that takes the write lock at once; an error rolls it back. */
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

/** Ends a transaction without effect, if SQLite has not done so already. */
export function rollback(db: DatabaseSync): void {
  if (db.isTransaction) db.exec('ROLLBACK')
}

function versionOf(db: DatabaseSync): number {
  return Number(db.prepare('PRAGMA user_version').get()?.user_version)
}

/** The switch to WAL does not wait for other connections by itself. */
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

/** Checks that a file is still where it is now. @throws FileAway */
export function createFileCheck(path: string): () => void {
  const opened = statSync(path)
  return () => {
    const now = statSync(path, { throwIfNoEntry: false })
    if (now?.ino !== opened.ino || now.dev !== opened.dev)
      throw new FileUnavailable(`${path} is no longer where it was opened.`)
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
