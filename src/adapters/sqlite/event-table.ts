import type { DatabaseSync } from 'node:sqlite'
import type { Meta, RecordedEvent } from '../../kernel/event.ts'
import { type LogPage, START } from '../../ports/event-log.ts'
import type { LogFilter } from '../../ports/log-filter.ts'
import { type Layout, WHOLE_FILE } from './database.ts'
import { eventConditionOf } from './event-filter.ts'
import { createStatementCache, rowsOf } from './statements.ts'

/** Layout of an event log's file. Rows are never changed or deleted. */
export const EVENT_LAYOUT: Layout = {
  // 2: partitions in the names of streams.
  version: 2,
  synchronous: 'FULL',
  cacheKiB: 16 * 1024,
  mappedBytes: WHOLE_FILE,
  pageBytes: 4 * 1024,
  tables: `CREATE TABLE IF NOT EXISTS events (
    position INTEGER PRIMARY KEY AUTOINCREMENT,
    stream TEXT NOT NULL,
    revision INTEGER NOT NULL,
    id TEXT NOT NULL UNIQUE,
    type TEXT NOT NULL,
    version INTEGER NOT NULL,
    data TEXT NOT NULL,
    meta TEXT NOT NULL,
    checksum INTEGER,
    UNIQUE (stream, revision)
  )`,
  // Null in the rows of a program that wrote none (before 25 November 2026).
  addedColumns: { events: { checksum: 'INTEGER' } },
}

export const READ_LIMIT = 1_000

/** Row of an event: position, stream, revision, type, version, data, meta. */
export type EventRow = readonly [number, string, number, string, number, string, string]

/** A page whose JSON is not parsed yet; it crosses threads in this form. */
export interface RowPage {
  readonly rows: readonly EventRow[]
  /** Where reading stopped: past all that the filter left out. */
  readonly position: number
  readonly end: boolean
}

/** Prepared reads of the event table. */
export interface EventReads {
  stream(stream: string, from: number, limit: number): readonly EventRow[]
  all(after: number, limit: number, filter: LogFilter): RowPage
  head(): number
}

/** A page of the whole log ends early at this size, so that large events do not fill the memory. */
const PAGE_CHARACTERS = 16 * 1024 * 1024
const CHUNK = 250
/** Positions that a filtered page looks at, at most: a few milliseconds, in which no other read gets its turn. */
const PAGE_POSITIONS = 10_000

const COLUMNS = 'SELECT position, stream, revision, type, version, data, meta FROM events'

/** Prepares the reads. Rows are arrays, which measured a third cheaper than objects. */
export function prepareEventReads(db: DatabaseSync): EventReads {
  const prepare = createStatementCache(db)
  const stream = prepare(`${COLUMNS} WHERE stream = ? AND revision >= ? ORDER BY revision LIMIT ?`)
  const last = prepare('SELECT max(position) FROM events')
  return {
    stream: (name, from, limit) => rowsOf(stream.all(name, from, limit)),
    all(after, limit, filter) {
      const condition = eventConditionOf(filter)
      const head = headOf(last)
      const to = condition ? Math.min(head, after + PAGE_POSITIONS) : head
      const sql = `${COLUMNS} WHERE position > ? AND position <= ?${condition ? ` AND ${condition.sql}` : ''}`
      const statement = prepare(`${sql} ORDER BY position LIMIT ?`)
      const read = (from: number, count: number) =>
        rowsOf<EventRow>(statement.all(from, to, ...(condition?.values ?? []), count))
      const { rows, position } = readChunks(read, after, to, limit)
      return { rows, position, end: position >= head }
    },
    head: () => headOf(last),
  }
}

/** Reads up to a position, in chunks, until the page is full. */
function readChunks(
  read: (from: number, count: number) => readonly EventRow[],
  after: number,
  to: number,
  limit: number,
): Omit<RowPage, 'end'> {
  const rows: EventRow[] = []
  let position = after
  for (let characters = 0; rows.length < limit && characters < PAGE_CHARACTERS; ) {
    const wanted = Math.min(CHUNK, limit - rows.length)
    const chunk = read(position, wanted)
    for (const row of chunk) {
      rows.push(row)
      characters += row[5].length + row[6].length
    }
    if (chunk.length < wanted) return { rows, position: Math.max(after, to) }
    position = chunk.at(-1)?.[0] ?? position
  }
  return { rows, position }
}

function headOf(last: { get(): unknown }): number {
  const row = last.get() as unknown as readonly [number | null]
  return row[0] ?? START
}

/** Reads the row of an event. Its data are parsed when they are asked for: a reaction skips the events of its own process. */
export function toRecordedEvent([position, stream, revision, type, version, json, meta]: EventRow): RecordedEvent {
  let data: RecordedEvent['data'] | undefined
  return {
    stream,
    revision,
    position,
    type,
    version,
    get data() {
      data ??= JSON.parse(json)
      return data
    },
    meta: JSON.parse(meta) as Meta,
  }
}

/** Reads the row of an event whose data will be asked for. Data that do not parse throw when they are asked for. */
function toParsedEvent(row: EventRow): RecordedEvent {
  const [position, stream, revision, type, version, json, meta] = row
  try {
    return { stream, revision, position, type, version, data: JSON.parse(json), meta: JSON.parse(meta) as Meta }
  } catch {
    return toRecordedEvent(row)
  }
}

/** Parses a page of rows. With `parsed`, the data of its events are parsed at once, which takes less where nearly all are asked for. */
export function logPageOf({ rows, position, end }: RowPage, parsed = false): LogPage {
  return { events: rows.map(parsed ? toParsedEvent : toRecordedEvent), position, end }
}
