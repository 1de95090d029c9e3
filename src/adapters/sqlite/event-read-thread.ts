import { openDatabase, withFileUnavailable } from './database.ts'
import { EVENT_LAYOUT, type EventReads, type EventRow, type PackedPage, prepareEventReads } from './event-table.ts'
import { serveFile } from './worker.ts'

/** Handlers of the log's reading thread, each with the arguments of the read in `EventReads`. */
export type EventReadCalls = {
  readonly stream: (call: Parameters<EventReads['stream']>) => readonly EventRow[]
  readonly packed: (call: Parameters<EventReads['packed']>) => PackedPage
  readonly head: (call: []) => number
}

/** Reads have a thread and a connection of their own, so that none waits for the disk to take an append. */
serveFile<EventReadCalls>((path) => {
  const { db, checkFile } = openDatabase(path, EVENT_LAYOUT)
  const reads = prepareEventReads(db)
  const checked = <Result>(read: () => Result): Result =>
    withFileUnavailable(() => {
      checkFile()
      return read()
    })
  return {
    handlers: {
      stream: (call) => checked(() => reads.stream(...call)),
      packed: (call) => checked(() => reads.packed(...call)),
      head: () => checked(() => reads.head()),
    },
    close: () => db.close(),
  }
})
