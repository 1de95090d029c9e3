import type { DatabaseSync } from 'node:sqlite'
import type { Meta, RecordedEvent } from '../../kernel/event.ts'
import { LogUnavailable, START } from '../../ports/event-log.ts'
import type { CheckedEvent, LogVerifier } from '../../ports/log-verifier.ts'
import { openDatabase, withUnavailable } from './database.ts'
import { checksumAfter } from './event-checksum.ts'
import { EVENT_LAYOUT } from './event-table.ts'
import { rowsOf } from './statements.ts'

/** Row of an event; a damaged one may hold values of any type. */
type AnyRow = readonly unknown[]

const unavailable = (message: string): LogUnavailable => new LogUnavailable(message)

const COLUMNS = 'position, stream, revision, id, type, version, data, meta, checksum'

const CHANGED = 'does not match its checksum: it was changed, or an event before it is missing'

const textOf = (value: unknown): string => (typeof value === 'string' ? value : String(value))
/** Integers come as BigInt, so that a damaged one throws nothing. */
const numberOf = (value: unknown): number => (typeof value === 'bigint' ? Number(value) : Number.NaN)

function jsonObjectOf(text: unknown): object | null {
  if (typeof text !== 'string') return null
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' ? value : null
  } catch {
    return null
  }
}

/** The event of a row, and what is wrong with it; `previous` is the checksum of the row before it. */
function checkedEventOf(row: AnyRow, previous: number): CheckedEvent {
  const [stream, type] = [textOf(row[1]), textOf(row[4])]
  const [position, revision, version] = [numberOf(row[0]), numberOf(row[2]), numberOf(row[5])]
  const place = { position, stream, revision, type, hasChecksum: row[8] !== null }
  const columns = [stream, revision, textOf(row[3]), type, version, textOf(row[6]), textOf(row[7])] as const
  const isWrong = place.hasChecksum && numberOf(row[8]) !== checksumAfter(previous, columns)
  const data = jsonObjectOf(row[6])
  const meta = jsonObjectOf(row[7])
  const isOtherId = meta !== null && (meta as Partial<Meta>).eventId !== row[3]
  const [problem] = [
    isWrong && CHANGED,
    data === null && 'has data that are not JSON',
    meta === null && 'has metadata that are not JSON',
    isOtherId && 'has another event id than its metadata say',
  ].filter((one) => one !== false)
  if (data === null || meta === null) return { ...place, event: null, problem: problem ?? null }
  const event: RecordedEvent = { stream, revision, position, type, version, data, meta: meta as Meta }
  return { ...place, event, problem: problem ?? null }
}

function prepareReads(db: DatabaseSync) {
  const page = db.prepare(`SELECT ${COLUMNS} FROM events WHERE position > ? ORDER BY position LIMIT ?`)
  const last = db.prepare('SELECT checksum FROM events WHERE position <= ? ORDER BY position DESC LIMIT 1')
  const newest = db.prepare('SELECT max(position) FROM events')
  for (const statement of [page, last, newest]) {
    statement.setReturnArrays(true)
    statement.setReadBigInts(true)
  }
  return {
    page: (after: number, limit: number) => rowsOf<AnyRow>(page.all(after, limit)),
    checksumAt: (position: number) => rowsOf<AnyRow>(last.all(position))[0]?.[0] ?? null,
    head: () => rowsOf<AnyRow>(newest.all())[0]?.[0] ?? null,
  }
}

const checksumOf = (stored: unknown): number => (typeof stored === 'bigint' ? Number(stored) : 0)

/**
 * Opens a log file to check it, in the calling thread; others may write to it meanwhile.
 * @throws LogUnavailable when the file cannot be opened; an Error of one sentence when its format is another
 */
export async function openSqliteLogVerifier(path: string): Promise<LogVerifier> {
  const { db } = withUnavailable(unavailable, () => openDatabase(path, EVENT_LAYOUT))
  const reads = prepareReads(db)
  const run = async <Result>(work: () => Result): Promise<Result> => withUnavailable(unavailable, work)
  return {
    storeHasChecksums: false,
    head: () =>
      run(() => {
        const head = reads.head()
        return head === null ? START : numberOf(head)
      }),
    read: (after, limit) =>
      run(() => {
        const rows = reads.page(after, limit)
        let previous = checksumOf(reads.checksumAt(after))
        const events = rows.map((row) => {
          const event = checkedEventOf(row, previous)
          previous = checksumOf(row[8])
          return event
        })
        return { events, position: events.at(-1)?.position ?? after, end: rows.length < limit }
      }),
    async close() {
      db.close()
    },
  }
}
