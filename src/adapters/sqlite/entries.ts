import type { DatabaseSync } from 'node:sqlite'
import type { Entry, LogRecord } from '../../ports/operational-store.ts'
import { createStatementCache, type Prepare, rowsOf } from './statements.ts'

/** Value of an entry: bytes, or JSON for anything else. */
type StoredValue = string | Uint8Array

/** Row of an entry. */
export type EntryRow = readonly [key: string, value: StoredValue, version: number, expiresAt: number | null]

/** Row of a log record. Labels are one string with a blank around each; the value is JSON. */
export type LogRow = readonly [id: string, at: number, labels: string, value: string, expiresAt: number]

/** A write of an entry; a value of null deletes it. */
export type EntryWriteRow = readonly [key: string, value: StoredValue | null, expiresAt: number | null]

/** Calls of the operational store's thread. */
export type EntryCall =
  | readonly ['get', key: string, now: number]
  | readonly ['list', prefix: string, now: number, after: string | null, limit: number | null]
  | readonly ['put', key: string, value: StoredValue, expiresAt: number | null]
  | readonly ['putIf', key: string, version: number, value: StoredValue, expiresAt: number | null, now: number]
  | readonly ['delete', key: string]
  | readonly ['writeAll', writes: readonly EntryWriteRow[]]
  | readonly ['increment', key: string, by: number, expiresAt: number | null, now: number]
  | readonly ['claim', key: string, owner: string, until: number, now: number]
  | readonly ['releaseClaim', key: string, owner: string]
  | readonly ['appendLog', records: readonly (readonly [series: string, row: LogRow])[]]
  | readonly ['queryLog', now: number, part: LogPageQuery, after: LogPlace | null, skip: number, limit: number]
  | readonly ['deleteExpired', now: number]

/** Filter of a log query; `from` inclusive, `to` exclusive. */
export interface LogPageQuery {
  readonly series: string
  readonly labels: readonly string[]
  readonly from: number
  readonly to: number
}

/** A place in a series: after the record of that instant and id. */
type LogPlace = readonly [at: number, id: string]

/** Calls that only read. */
export const READ_CALLS: ReadonlySet<EntryCall[0]> = new Set(['get', 'list', 'queryLog'])

/** Sorts after every key with the same prefix. */
const LAST = '\u{10FFFF}'
const ALIVE = '(expires_at IS NULL OR expires_at > ?)'
const SELECT = 'SELECT key, value, version, expires_at FROM entries'
const PUT = `INSERT INTO entries (key, value, version, expires_at) VALUES (?, ?, 1, ?)
  ON CONFLICT (key) DO UPDATE SET value = excluded.value, version = version + 1, expires_at = excluded.expires_at`
const DELETE = 'DELETE FROM entries WHERE key = ?'

const INSERT_LOG = 'INSERT OR IGNORE INTO notes (series, id, at, labels, value, expires_at) VALUES (?, ?, ?, ?, ?, ?)'
const PICKED = 'FROM notes WHERE series = ? AND at >= ? AND at < ? AND expires_at > ?'

type Handler<Name extends EntryCall[0]> = (
  prepare: Prepare,
  call: Extract<EntryCall, readonly [Name, ...unknown[]]>,
) => unknown

const HANDLERS: { readonly [Name in EntryCall[0]]: Handler<Name> } = {
  get: (prepare, [, key, now]) => findAlive(prepare, key, now) ?? null,
  list: (prepare, [, prefix, now, after, limit]) =>
    prepare(`${SELECT} WHERE key >= ? AND key < ? AND key > ? AND ${ALIVE} ORDER BY key LIMIT ?`).all(
      prefix,
      `${prefix}${LAST}`,
      after ?? '',
      now,
      limit ?? -1,
    ),
  put(prepare, [, key, value, expiresAt]) {
    prepare(PUT).run(key, value, expiresAt)
  },
  putIf(prepare, [, key, version, value, expiresAt, now]) {
    if ((findAlive(prepare, key, now)?.[2] ?? 0) !== version) return false
    prepare(PUT).run(key, value, expiresAt)
    return true
  },
  delete(prepare, [, key]) {
    prepare(DELETE).run(key)
  },
  writeAll(prepare, [, writes]) {
    for (const [key, value, expiresAt] of writes)
      if (value === null) prepare(DELETE).run(key)
      else prepare(PUT).run(key, value, expiresAt)
  },
  increment(prepare, [, key, by, expiresAt, now]) {
    const found = findAlive(prepare, key, now)
    const sum = found ? Number(JSON.parse(String(found[1]))) + by : by
    prepare(PUT).run(key, JSON.stringify(sum), found ? found[3] : expiresAt)
    return sum
  },
  claim(prepare, [, key, owner, until, now]) {
    const held = findAlive(prepare, key, now)
    if (held && held[1] !== JSON.stringify(owner)) return false
    prepare(PUT).run(key, JSON.stringify(owner), until)
    return true
  },
  releaseClaim(prepare, [, key, owner]) {
    prepare('DELETE FROM entries WHERE key = ? AND value = ?').run(key, JSON.stringify(owner))
  },
  appendLog(prepare, [, records]) {
    for (const [series, row] of records) prepare(INSERT_LOG).run(series, ...row)
  },
  queryLog(prepare, [, now, { series, labels, from, to }, after, skip, limit]) {
    const picked = `${PICKED}${' AND instr(labels, ?)'.repeat(labels.length)}`
    const boundBefore = (end: number) => [series, from, end, now, ...labels.map((label) => ` ${label} `)]
    const [[total] = [0]] = rowsOf<[number]>(prepare(`SELECT count(*) ${picked}`).all(...boundBefore(to)))
    // The instant is sought in the index; the id only leaves out others of the same instant.
    const following = after ? `${picked} AND (at < ? OR id < ?)` : picked
    const bound = after ? [...boundBefore(Math.min(to, after[0] + 1)), ...after] : boundBefore(to)
    const select = `SELECT id, at, labels, value, expires_at ${following} ORDER BY at DESC, id DESC LIMIT ? OFFSET ?`
    return [total, prepare(select).all(...bound, limit, skip)]
  },
  deleteExpired: (prepare, [, now]) =>
    ['entries', 'notes'].reduce(
      (deleted, table) => deleted + Number(prepare(`DELETE FROM ${table} WHERE expires_at <= ?`).run(now).changes),
      0,
    ),
}

/** Creates the handler of calls. Calls that write need a transaction around them. */
export function createEntryHandler(db: DatabaseSync): (call: EntryCall) => unknown {
  const prepare = createStatementCache(db)
  return (call) => HANDLERS[call[0]](prepare, call as never)
}

function findAlive(prepare: Prepare, key: string, now: number): EntryRow | undefined {
  return rowsOf<EntryRow>(prepare(`${SELECT} WHERE key = ? AND ${ALIVE}`).all(key, now))[0]
}

/** Parses the row of an entry. */
export function entryOf([key, value, version, expiresAt]: EntryRow): Entry {
  return { key, value: typeof value === 'string' ? JSON.parse(value) : value, version, expiresAt }
}

/** Parses the row of a log record. */
export function logRecordOf([id, at, labels, value, expiresAt]: LogRow): LogRecord {
  return { id, at, labels: labels.trim().split(' '), value: JSON.parse(value), expiresAt }
}
