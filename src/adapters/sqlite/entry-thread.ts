import { inTransaction, openDatabase } from './database.ts'
import { createEntryHandler, type EntryCall, READ_CALLS } from './entries.ts'
import { VIEW_LAYOUT } from './view-layout.ts'
import { type ReceivedCall, serve } from './worker.ts'

const CACHE_KIB = 8 * 1024

serve<EntryCall>((path) => {
  const { db, checkFile } = openDatabase(path, { ...VIEW_LAYOUT, cacheKiB: CACHE_KIB })
  const answerOne = createEntryHandler(db)

  /** All that waits goes in one transaction; the file's faults are the only errors, and they hit all of it. */
  const answerAll = (batch: readonly ReceivedCall<EntryCall>[]): readonly unknown[] => {
    checkFile()
    const work = () => batch.map(({ call }) => answerOne(call))
    return batch.every(({ call }) => READ_CALLS.has(call[0])) ? work() : inTransaction(db, work)
  }

  return {
    answer(batch) {
      try {
        const values = answerAll(batch)
        batch.forEach(({ reply }, index) => {
          reply.answer(values[index])
        })
      } catch (error) {
        for (const { reply } of batch) reply.fail(error)
      }
    },
    poll() {},
    close: () => db.close(),
  }
})
