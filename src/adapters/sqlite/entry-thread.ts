import { openDatabase, transaction } from './database.ts'
import { answerEntries, type EntryCall, READS } from './entries.ts'
import { VIEW_LAYOUT } from './view-layout.ts'
import { type Asked, serve } from './worker.ts'

const CACHE_KIB = 8 * 1024

serve<EntryCall>((path) => {
  const { db, present } = openDatabase(path, { ...VIEW_LAYOUT, cacheKiB: CACHE_KIB })
  const answerOne = answerEntries(db)

  /** All that waits goes in one transaction; the file's faults are the only errors, and they hit all of it. */
  const answerAll = (batch: readonly Asked<EntryCall>[]): readonly unknown[] => {
    present()
    const work = () => batch.map(({ call }) => answerOne(call))
    return batch.every(({ call }) => READS.has(call[0])) ? work() : transaction(db, work)
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
    look() {},
    close: () => db.close(),
  }
})
