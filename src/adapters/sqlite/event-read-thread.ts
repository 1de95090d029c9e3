import { openDatabase } from './database.ts'
import { EVENT_LAYOUT, prepareEventReads } from './event-table.ts'
import { serve } from './worker.ts'

/** A read, as the log's reading thread is asked for it. */
export type EventRead =
  | readonly ['stream', stream: string, from: number, limit: number]
  | readonly ['all', after: number, limit: number, types: ReadonlySet<string> | undefined]
  | readonly ['head']

/** Reads have a thread and a connection of their own: none waits for the disk to take an append, and none sees what it has not. */
serve<EventRead>((path) => {
  const database = openDatabase(path, EVENT_LAYOUT)
  const reads = prepareEventReads(database.db)
  const rowsOf = (call: EventRead): unknown => {
    database.checkFile()
    if (call[0] === 'stream') return reads.stream(call[1], call[2], call[3])
    if (call[0] === 'all') return reads.all(call[1], call[2], call[3])
    return reads.head()
  }
  return {
    answer(batch) {
      for (const { call, reply } of batch) {
        try {
          reply.answer(rowsOf(call))
        } catch (error) {
          reply.fail(error)
        }
      }
    },
    poll: () => undefined,
    close: () => database.db.close(),
  }
})
