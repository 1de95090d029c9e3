import { type EventLog, LogUnavailable } from '../../ports/event-log.ts'
import { ALL_EVENTS } from '../../ports/log-filter.ts'
import { openChangeSignal, watchExternalWrites } from './change-signal.ts'
import { openDatabase, withUnavailable } from './database.ts'
import { packAppend } from './event-appends.ts'
import type { EventReadCalls } from './event-read-thread.ts'
import {
  EVENT_LAYOUT,
  type EventReads,
  logPageOf,
  packedPageOf,
  prepareEventReads,
  READ_LIMIT,
  toRecordedEvent,
} from './event-table.ts'
import type { EventWrites } from './event-thread.ts'
import { follow } from './follow.ts'
import { openFileThread } from './worker-client.ts'

const unavailable = (message: string): LogUnavailable => new LogUnavailable(message)

const threadOf = (module: string): URL => new URL(module, import.meta.url)

/**
 * Opens the event log in a file, which several processes may share. One thread writes and another reads. Appends that wait
 * at the same time share one commit; an append resolves once it is on disk.
 * @throws LogUnavailable when the file cannot be opened; an Error of one sentence when its format is another.
 */
export async function openSqliteEventLog(path: string): Promise<EventLog> {
  const writer = await openFileThread<EventWrites>(threadOf('./event-thread.ts'), path, LogUnavailable)
  const reader = await openFileThread<EventReadCalls>(threadOf('./event-read-thread.ts'), path, LogUnavailable)
  const closed = new AbortController()
  const log: EventLog = {
    async append(stream, expected, events) {
      if (events.length === 0) throw new TypeError('An append must contain at least one event.')
      const packed = packAppend(stream, expected, events)
      const position = await (await writer.remote()).append(packed)
      return position === null
        ? { ok: false, conflict: true }
        : { ok: true, revision: expected + events.length, position, first: position - events.length + 1 }
    },
    async read(stream, from, limit = READ_LIMIT) {
      const rows = await (await reader.remote()).stream([stream, from, limit])
      return rows.map(toRecordedEvent)
    },
    async readAll(after, limit = READ_LIMIT, filter = ALL_EVENTS) {
      return packedPageOf(await (await reader.remote()).packed([after, limit, filter]))
    },
    follow(after, signal, filter) {
      const readAll = (from: number) => log.readAll(from, READ_LIMIT, filter)
      return follow({ readAll, listen: () => openChangeSignal(path), closed: closed.signal }, after, signal)
    },
    head: async () => (await reader.remote()).head([]),
    async close() {
      closed.abort()
      await Promise.all([writer.close(), reader.close()])
    },
  }
  return log
}

/**
 * Opens a log file for reading in the calling thread. Reads are synchronous behind the port's promises, which suits a thread
 * that does little else. Appends reject with LogUnavailable.
 * @throws LogUnavailable when the file cannot be opened; an Error of one sentence when its format is another.
 */
export async function openSqliteEventReader(path: string): Promise<EventLog> {
  const { db, checkFile } = withUnavailable(unavailable, () => openDatabase(path, EVENT_LAYOUT))
  const reads = prepareEventReads(db)
  const closed = new AbortController()
  const read = async <Result>(work: (reads: EventReads) => Result): Promise<Result> =>
    withUnavailable(unavailable, () => {
      if (closed.signal.aborted) throw unavailable(`${path} was closed.`)
      checkFile()
      return work(reads)
    })
  const listen = () => {
    const wake = openChangeSignal(path)
    const unwatch = watchExternalWrites(db, wake.notify)
    const stop = () => {
      unwatch()
      wake.stop()
    }
    return { ...wake, stop }
  }
  const log: EventLog = {
    append: () => Promise.reject(unavailable(`${path} is open for reading only.`)),
    read: (stream, from, limit = READ_LIMIT) => read((table) => table.stream(stream, from, limit).map(toRecordedEvent)),
    readAll: (after, limit = READ_LIMIT, filter = ALL_EVENTS) =>
      read((table) => logPageOf(table.all(after, limit, filter))),
    follow(after, signal, filter) {
      const readAll = (from: number) => log.readAll(from, READ_LIMIT, filter)
      return follow({ readAll, listen, closed: closed.signal }, after, signal)
    },
    head: () => read((table) => table.head()),
    async close() {
      if (closed.signal.aborted) return
      closed.abort()
      db.close()
    },
  }
  return log
}
