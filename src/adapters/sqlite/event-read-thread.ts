import { openDatabase, withFileUnavailable } from './database.ts'
import { EVENT_LAYOUT, type EventReads, type EventRow, prepareEventReads, type RowPage } from './event-table.ts'
import { serveFile } from './worker.ts'

/** Handlers of the log's reading thread, each with the arguments of the read in `EventReads`. */
export type EventReadCalls = {
  readonly stream: (call: Parameters<EventReads['stream']>) => readonly EventRow[]
  readonly all: (call: Parameters<EventReads['all']>) => RowPage
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
      all: (call) => checked(() => reads.all(...call)),
      head: () => checked(() => reads.head()),
    },
    close: () => db.close(),
  }
})
