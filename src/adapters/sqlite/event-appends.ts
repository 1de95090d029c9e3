import type { DatabaseSync } from 'node:sqlite'
import type { EventToAppend } from '../../kernel/event.ts'
import { type Database, isConstraintViolation, rollback } from './database.ts'
import { checksumAfter, lastChecksumSql } from './event-checksum.ts'

/** Result of an append: the position of its last event, null for a conflict, or an error of this append alone. */
export type AppendOutcome = number | null | Error

/** Separates the parts of a packed append. One string crosses threads four times faster than a list. JSON holds no NUL. */
const SEPARATOR = '\0'
const HEAD_PARTS = 2
const EVENT_PARTS = 5
const CACHED_STREAMS = 10_000

/** Packs an append: stream and expected revision, then id, type, version, data and meta of each event. */
export function packAppend(stream: string, expected: number, events: readonly EventToAppend[]): string {
  const parts: (string | number)[] = [stream, expected]
  for (const { type, version, data, meta } of events) {
    parts.push(meta.eventId, type, version, JSON.stringify(data) ?? 'null', JSON.stringify(meta))
  }
  const packed = parts.join(SEPARATOR)
  if (stream.includes(SEPARATOR)) throw new TypeError('The name of a stream must not contain NUL.')
  return packed
}

/** One transaction for several appends, each checked against the revision of its own stream. */
export interface GroupCommit {
  begin(): void
  /** Runs one append. A conflict leaves the other appends unchanged. @throws when the whole group has failed */
  append(packed: string): AppendOutcome
  commit(): void
  /** Rolls the group back after an error. */
  rollBack(): void
}

/** Creates the group commit of a log. */
export function createGroupCommit({ db, checkFile }: Database): GroupCommit {
  const begin = db.prepare('BEGIN IMMEDIATE')
  const commit = db.prepare('COMMIT')
  const revisions = createRevisionCache(db)
  const checksums = createChecksumCache(db)
  return {
    begin() {
      checkFile()
      begin.run()
      if (revisions.dropStale()) checksums.clear()
    },
    append: createAppender(db, revisions, checksums),
    commit: () => commit.run(),
    rollBack() {
      revisions.clear()
      checksums.clear()
      rollback(db)
    },
  }
}

interface RevisionCache {
  /** Whether the stream is at this revision. May be true for a new stream that exists, which the insert then refuses. */
  isAt(stream: string, expected: number): boolean
  set(stream: string, revision: number): void
  /** Clears the cache if another process has written; returns whether it has. Call inside the transaction. */
  dropStale(): boolean
  clear(): void
}

/** A string of its own: a part of a packed append would keep the whole of it in memory. */
const copyOf = (text: string) => Buffer.from(text).toString()

/** Cached last revisions of recently written streams, valid until another process writes (PRAGMA data_version). */
function createRevisionCache(db: DatabaseSync): RevisionCache {
  const last = db.prepare('SELECT max(revision) AS revision FROM events WHERE stream = ?')
  const version = db.prepare('PRAGMA data_version')
  const known = new Map<string, number>()
  let seen: unknown
  return {
    isAt(stream, expected) {
      const revision = known.get(stream)
      if (revision !== undefined) return revision === expected
      // An existing stream has a revision 0, so the unique index refuses a second one without a read.
      return expected === -1 || Number(last.get(stream)?.revision ?? -1) === expected
    },
    set(stream, revision) {
      if (known.size >= CACHED_STREAMS) known.clear()
      known.set(copyOf(stream), revision)
    },
    dropStale() {
      const now = version.get()?.data_version
      const isStale = now !== seen
      if (isStale) known.clear()
      seen = now
      return isStale
    },
    clear: () => known.clear(),
  }
}

/** The checksum of the newest event, from which that of the next one follows. */
interface ChecksumCache {
  last(): number
  set(checksum: number): void
  clear(): void
}

function createChecksumCache(db: DatabaseSync): ChecksumCache {
  const newest = db.prepare(lastChecksumSql)
  let known: number | null = null
  return {
    last() {
      known ??= Number(newest.get()?.checksum ?? 0)
      return known
    },
    set(checksum) {
      known = checksum
    },
    clear() {
      known = null
    },
  }
}

function createAppender(
  db: DatabaseSync,
  revisions: RevisionCache,
  checksums: ChecksumCache,
): (packed: string) => AppendOutcome {
  const insert = db.prepare(
    'INSERT INTO events (stream, revision, id, type, version, data, meta, checksum) VALUES (?, ?, ?, ?, ?, ?, ?, ?)',
  )
  const undo = db.prepare('DELETE FROM events WHERE position >= ?')
  const owner = db.prepare('SELECT stream FROM events WHERE id = ?')
  const begun = db.prepare('SELECT 1 FROM events WHERE stream = ? AND revision = ?')
  const isElsewhere = (stream: string, expected: number, id: string): boolean =>
    !begun.get(stream, expected + 1) && owner.get(id)?.stream !== stream

  return (packed) => {
    const parts = packed.split(SEPARATOR)
    const stream = String(parts[0])
    const expected = Number(parts[1])
    if (!revisions.isAt(stream, expected)) return null
    let revision = expected
    let first: number | null = null
    let position = 0
    let checksum = checksums.last()
    for (let at = HEAD_PARTS; at < parts.length; at += EVENT_PARTS) {
      const [id = '', type = '', version, data = '', meta = ''] = parts.slice(at, at + EVENT_PARTS)
      revision += 1
      checksum = checksumAfter(checksum, [stream, revision, id, type, Number(version), data, meta])
      try {
        const { lastInsertRowid } = insert.run(stream, revision, id, type, Number(version), data, meta, checksum)
        position = Number(lastInsertRowid)
        first ??= position
      } catch (error) {
        if (!isConstraintViolation(error)) throw error
        if (first !== null) undo.run(first)
        return isElsewhere(stream, expected, id) ? new Error(`The event id ${id} already exists.`) : null
      }
    }
    revisions.set(stream, revision)
    checksums.set(checksum)
    return position
  }
}
