import { createExternalWriteCheck, openAppendBroadcast } from './change-signal.ts'
import { openDatabase, withFileUnavailable } from './database.ts'
import { createGroupCommit } from './event-appends.ts'
import { EVENT_LAYOUT } from './event-table.ts'
import { groupPerTick } from './group-per-tick.ts'
import { serveFile } from './worker.ts'

/** Handlers of the log's writing thread. */
export type EventWrites = {
  /** Appends what `packAppend` packed: the position of its last event, null for a conflict. */
  readonly append: (packed: string) => Promise<number | null>
}

serveFile<EventWrites>((path) => {
  const database = openDatabase(path, EVENT_LAYOUT)
  const { begin, append, commit, rollBack } = createGroupCommit(database)
  const hasExternalWrites = createExternalWriteCheck(database.db)
  const { notifyAppended, stop } = openAppendBroadcast(path)

  const writeGroup = (appends: readonly string[]) => {
    try {
      begin()
      const outcomes = appends.map(append)
      commit()
      notifyAppended()
      return outcomes
    } catch (error) {
      rollBack()
      throw error
    }
  }
  const group = groupPerTick((appends: readonly string[]) => withFileUnavailable(() => writeGroup(appends)))
  return {
    handlers: { append: (packed) => group(packed) as Promise<number | null> },
    poll() {
      if (hasExternalWrites()) notifyAppended()
    },
    close() {
      stop()
      database.db.close()
    },
  }
})
