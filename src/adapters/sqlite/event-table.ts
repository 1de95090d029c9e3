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
type RowWith<Data> = readonly [number, string, number, string, number, Data, string]
export type EventRow = RowWith<string>

/** A page whose JSON is not parsed yet. */
export interface RowPage {
  readonly rows: readonly EventRow[]
  /** Where reading stopped: past all that the filter left out. */
  readonly position: number
  readonly end: boolean
}

/**
 * A page as it crosses threads: the data of its events lie one after the other in UTF-8, and are transferred; in place of the data, a
 * row has the offset at which they end. Texts would be copied into the old space of the other thread's heap, though a reaction reads
 * few of them.
 */
export interface PackedPage extends Omit<RowPage, 'rows'> {
  readonly rows: readonly RowWith<number>[]
  readonly data: Uint8Array
}

/** Prepared reads of the event table. */
export interface EventReads {
  stream(stream: string, from: number, limit: number): readonly EventRow[]
  all(after: number, limit: number, filter: LogFilter): RowPage
  packed(after: number, limit: number, filter: LogFilter): PackedPage
  head(): number
}

/** A page of the whole log ends early at this size, so that large events do not fill the memory. */
const PAGE_CHARACTERS = 16 * 1024 * 1024
const CHUNK = 250
/** Positions that a filtered page looks at, at most: a few milliseconds, in which no other read gets its turn. */
const PAGE_POSITIONS = 10_000

const columnsWith = (data: string) => `SELECT position, stream, revision, type, version, ${data}, meta FROM events`
const COLUMNS = columnsWith('data')
const COLUMNS_IN_BYTES = columnsWith('CAST(data AS BLOB)')

/** Prepares the reads. Rows are arrays, which measured a third cheaper than objects. */
export function prepareEventReads(db: DatabaseSync): EventReads {
  const prepare = createStatementCache(db)
  const stream = prepare(`${COLUMNS} WHERE stream = ? AND revision >= ? ORDER BY revision LIMIT ?`)
  const last = prepare('SELECT max(position) FROM events')
  function pageOf<Data extends { readonly length: number }>(
    columns: string,
    after: number,
    limit: number,
    filter: LogFilter,
  ) {
    const condition = eventConditionOf(filter)
    const head = headOf(last)
    const to = condition ? Math.min(head, after + PAGE_POSITIONS) : head
    const sql = `${columns} WHERE position > ? AND position <= ?${condition ? ` AND ${condition.sql}` : ''}`
    const statement = prepare(`${sql} ORDER BY position LIMIT ?`)
    const read = (from: number, count: number) =>
      rowsOf<RowWith<Data>>(statement.all(from, to, ...(condition?.values ?? []), count))
    const { rows, position } = readChunks(read, after, to, limit)
    return { rows, position, end: position >= head }
  }
  return {
    stream: (name, from, limit) => rowsOf(stream.all(name, from, limit)),
    all: (after, limit, filter) => pageOf<string>(COLUMNS, after, limit, filter),
    packed: (after, limit, filter) => packPage(pageOf<Uint8Array>(COLUMNS_IN_BYTES, after, limit, filter)),
    head: () => headOf(last),
  }
}

interface Rows<Data> extends Omit<RowPage, 'rows'> {
  readonly rows: readonly RowWith<Data>[]
}

/** Lays the data of a page's events one after the other. */
function packPage({ rows, ...rest }: Rows<Uint8Array>): PackedPage {
  const data = new Uint8Array(rows.reduce((sum, row) => sum + row[5].length, 0))
  let end = 0
  const packed = rows.map(([position, stream, revision, type, version, bytes, meta]): RowWith<number> => {
    data.set(bytes, end)
    end += bytes.length
    return [position, stream, revision, type, version, end, meta]
  })
  return { ...rest, rows: packed, data }
}

/** Reads up to a position, in chunks, until the page is full. */
function readChunks<Data extends { readonly length: number }>(
  read: (from: number, count: number) => readonly RowWith<Data>[],
  after: number,
  to: number,
  limit: number,
): Omit<Rows<Data>, 'end'> {
  const rows: RowWith<Data>[] = []
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

/** An event whose data are parsed when they are asked for: a reaction skips the events of its own process. */
function lazyEvent(
  [position, stream, revision, type, version, , meta]: RowWith<unknown>,
  json: () => string,
): RecordedEvent {
  let data: RecordedEvent['data'] | undefined
  let unparsed: (() => string) | null = json
  return {
    stream,
    revision,
    position,
    type,
    version,
    get data() {
      if (unparsed) data = JSON.parse(unparsed())
      unparsed = null
      return data
    },
    meta: JSON.parse(meta) as Meta,
  }
}

/** Reads the row of an event. */
export const toRecordedEvent = (row: EventRow): RecordedEvent => lazyEvent(row, () => row[5])

/** Reads a page that has crossed threads. An event holds the data of its whole page until its own are parsed. */
export function packedPageOf({ rows, data, position, end }: PackedPage): LogPage {
  const bytes = Buffer.from(data.buffer, data.byteOffset, data.byteLength)
  const events = rows.map((row, index) =>
    lazyEvent(row, () => bytes.toString('utf8', rows[index - 1]?.[5] ?? 0, row[5])),
  )
  return { events, position, end }
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

/** Parses a page of rows with the data of its events, which takes less where nearly all are asked for. */
export function logPageOf({ rows, position, end }: RowPage): LogPage {
  return { events: rows.map(toParsedEvent), position, end }
}
