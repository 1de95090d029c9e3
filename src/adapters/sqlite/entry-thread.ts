import { groupPerTick } from '../../kernel/async/batch-per-tick.ts'
import { inTransaction, openDatabase, withFileUnavailable } from './database.ts'
import { createEntryHandler, type EntryCall, READ_CALLS } from './entries.ts'
import { VIEW_LAYOUT } from './view-layout.ts'
import { createWalCheckpoints } from './wal-checkpoints.ts'
import { serveFile } from './worker.ts'

const CACHE_KIB = 8 * 1024
/** Bytes that a commit writes, about: a few pages. */
const COMMIT_BYTES = 64 * 1024

/** Handlers of the operational store's thread. */
export type EntryCalls = {
  /** Runs a call; the result is the row, rows or value that its method needs (`operational-store.ts`). */
  readonly run: (call: EntryCall) => Promise<unknown>
}

serveFile<EntryCalls>((path) => {
  const { db, checkFile } = openDatabase(path, { ...VIEW_LAYOUT, cacheKiB: CACHE_KIB })
  const handle = createEntryHandler(db)
  const walCheckpoints = createWalCheckpoints(path)
  const runGroup = (calls: readonly EntryCall[]) => {
    checkFile()
    const work = () => calls.map(handle)
    if (calls.every(([method]) => READ_CALLS.has(method))) return work()
    const results = inTransaction(db, work)
    walCheckpoints.wrote(COMMIT_BYTES)
    return results
  }
  return {
    handlers: { run: groupPerTick((calls: readonly EntryCall[]) => withFileUnavailable(() => runGroup(calls))) },
    async close() {
      await walCheckpoints.close()
      db.close()
    },
  }
})
