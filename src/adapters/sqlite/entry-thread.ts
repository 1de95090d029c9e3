import { inTransaction, openDatabase, withFileUnavailable } from './database.ts'
import { createEntryHandler, type EntryCall, READ_CALLS } from './entries.ts'
import { groupPerTick } from './group-per-tick.ts'
import { VIEW_LAYOUT } from './view-layout.ts'
import { serveFile } from './worker.ts'

const CACHE_KIB = 8 * 1024

/** Handlers of the operational store's thread. */
export type EntryCalls = {
  /** Runs a call; the result is the row, rows or value that its method needs (`operational-store.ts`). */
  readonly run: (call: EntryCall) => Promise<unknown>
}

serveFile<EntryCalls>((path) => {
  const { db, checkFile } = openDatabase(path, { ...VIEW_LAYOUT, cacheKiB: CACHE_KIB })
  const handle = createEntryHandler(db)
  const runGroup = (calls: readonly EntryCall[]) => {
    checkFile()
    const work = () => calls.map(handle)
    return calls.every(([method]) => READ_CALLS.has(method)) ? work() : inTransaction(db, work)
  }
  return {
    handlers: { run: groupPerTick((calls: readonly EntryCall[]) => withFileUnavailable(() => runGroup(calls))) },
    close: () => db.close(),
  }
})
