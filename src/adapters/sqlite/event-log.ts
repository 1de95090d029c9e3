import { type EventLog, LogUnavailable } from '../../ports/event-log.ts'
import { openChangeSignal, watchExternalWrites } from './change-signal.ts'
import { openDatabase, withUnavailable } from './database.ts'
import { packAppend } from './event-appends.ts'
import type { EventRead } from './event-read-thread.ts'
import {
  EVENT_LAYOUT,
  type EventReads,
  type EventRow,
  pageOf,
  prepareEventReads,
  READ_LIMIT,
  type RowPage,
  toRecordedEvent,
} from './event-table.ts'
import { follow } from './follow.ts'
import { openThread } from './worker-client.ts'

const away = (message: string): LogUnavailable => new LogUnavailable(message)

/**
 * Opens the event log in a file, which several processes may share. Writes run in a thread of its own and reads in another;
 * appends that wait together are committed together, and an answer means that the disk has them.
 * @throws LogUnavailable when the file cannot be opened; an Error of one sentence when a newer version wrote it.
 */
export async function openSqliteEventLog(path: string): Promise<EventLog> {
  const writer = await openThread(new URL('./event-thread.ts', import.meta.url), path, away)
  const reader = await openThread(new URL('./event-read-thread.ts', import.meta.url), path, away)
  const ask = (read: EventRead): Promise<unknown> => reader.call(read)
  const closed = new AbortController()
  const log: EventLog = {
    async append(stream, expected, events) {
      if (events.length === 0) throw new TypeError('An append holds at least one event.')
      const position = (await writer.call(packAppend(stream, expected, events))) as number | null
      return position === null
        ? { ok: false, conflict: true }
        : { ok: true, revision: expected + events.length, position }
    },
    async read(stream, from, limit = READ_LIMIT) {
      const rows = (await ask(['stream', stream, from, limit])) as readonly EventRow[]
      return rows.map(toRecordedEvent)
    },
    async readAll(after, limit = READ_LIMIT, types) {
      return pageOf((await ask(['all', after, limit, types])) as RowPage)
    },
    follow: (after, signal) =>
      follow(
        { readAll: (from) => log.readAll(from), listen: () => openChangeSignal(path), closed: closed.signal },
        after,
        signal,
      ),
    head: async () => (await ask(['head'])) as number,
    async close() {
      closed.abort()
      await Promise.all([writer.close(), reader.close()])
    },
  }
  return log
}

/**
 * Opens the same file for reading in the calling thread, synchronously behind the port's promises: for a thread that
 * does little else. Appending is refused with LogUnavailable.
 * @throws LogUnavailable when the file cannot be opened; an Error of one sentence when a newer version wrote it.
 */
export async function openSqliteEventReader(path: string): Promise<EventLog> {
  const { db, checkFile } = withUnavailable(away, () => openDatabase(path, EVENT_LAYOUT))
  const reads = prepareEventReads(db)
  const closed = new AbortController()
  const read = async <Result>(work: (reads: EventReads) => Result): Promise<Result> =>
    withUnavailable(away, () => {
      if (closed.signal.aborted) throw away(`${path} was closed.`)
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
    append: () => Promise.reject(away(`${path} was opened for reading only.`)),
    read: (stream, from, limit = READ_LIMIT) => read((table) => table.stream(stream, from, limit).map(toRecordedEvent)),
    readAll: (after, limit = READ_LIMIT, types) => read((table) => pageOf(table.all(after, limit, types))),
    follow: (after, signal) =>
      follow({ readAll: (from) => log.readAll(from), listen, closed: closed.signal }, after, signal),
    head: () => read((table) => table.head()),
    async close() {
      if (closed.signal.aborted) return
      closed.abort()
      db.close()
    },
  }
  return log
}
