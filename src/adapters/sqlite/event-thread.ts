import { createAppendGroups } from './append-groups.ts'
import { createExternalWriteCheck, openAppendBroadcast } from './change-signal.ts'
import { openDatabase } from './database.ts'
import { createGroupCommit } from './event-appends.ts'
import { EVENT_LAYOUT } from './event-table.ts'
import { createWalCheckpoints } from './wal-checkpoints.ts'
import { serveFile } from './worker.ts'

/** Bytes that are written for each byte of an event, with its indexes, about. */
const WRITTEN_BYTES = 2

/** Handlers of the log's writing thread. */
export type EventWrites = {
  /** Appends what `packAppend` packed: the position of its last event, null for a conflict. */
  readonly append: (packed: string) => Promise<number | null>
}

serveFile<EventWrites>((path) => {
  const database = openDatabase(path, EVENT_LAYOUT)
  const hasExternalWrites = createExternalWriteCheck(database.db)
  const { notifyAppended, stop } = openAppendBroadcast(path)

  const walCheckpoints = createWalCheckpoints(path)
  const { append, flush } = createAppendGroups(createGroupCommit(database), (bytes) => {
    notifyAppended()
    walCheckpoints.wrote(bytes * WRITTEN_BYTES)
  })
  return {
    handlers: { append },
    poll() {
      if (hasExternalWrites()) notifyAppended()
    },
    async close() {
      flush()
      stop()
      await walCheckpoints.close()
      database.db.close()
    },
  }
})
