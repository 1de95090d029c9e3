import { createExternalWriteCheck, openAppendBroadcast } from './change-signal.ts'
import { openDatabase } from './database.ts'
import { createGroupCommit } from './event-appends.ts'
import { EVENT_LAYOUT } from './event-table.ts'
import { type CallerLink, type ReceivedCall, serve } from './worker.ts'

/** A group grows by so many messages at most while it is being written. */
const GROWTHS = 16

/** What the thread is asked: appends (packAppend). */
serve<string>((path) => {
  const database = openDatabase(path, EVENT_LAYOUT)
  const group = createGroupCommit(database)
  const changed = createExternalWriteCheck(database.db)
  const { notifyAppended, stop } = openAppendBroadcast(path)

  /** Writes the appends and those that come meanwhile, in one transaction. Whatever becomes of it, each is answered. */
  const write = (appends: readonly ReceivedCall<string>[], line: CallerLink<string>): void => {
    const taken = [...appends]
    const outcomes: ReturnType<typeof group.append>[] = []
    try {
      group.begin()
      let waiting = appends
      for (let growth = 0; waiting.length > 0; growth += 1) {
        for (const { call } of waiting) outcomes.push(group.append(call))
        waiting = growth < GROWTHS ? line.receiveMore() : []
        taken.push(...waiting)
      }
      group.commit()
      taken.forEach(({ reply }, index) => {
        const outcome = outcomes[index]
        if (outcome instanceof Error) reply.fail(outcome)
        else reply.answer(outcome)
      })
    } catch (error) {
      group.rollBack()
      for (const { reply } of taken) reply.fail(error)
    }
    line.flush()
    notifyAppended()
  }

  return {
    answer: write,
    poll() {
      if (changed()) notifyAppended()
    },
    close() {
      stop()
      database.db.close()
    },
  }
})
