import { openDatabase } from './database.ts'
import { groupCommit } from './event-appends.ts'
import { EVENT_LAYOUT, eventReads } from './event-table.ts'
import { type Asked, type Line, serve } from './served.ts'
import { announcements, othersWrote } from './wake.ts'

/** A read, as the log's thread is asked for it. */
export type EventRead =
  | readonly ['stream', stream: string, from: number, limit: number]
  | readonly ['all', after: number, limit: number]
  | readonly ['head']

/** What the log's thread is asked: a string is an append (packAppend). */
export type EventCall = string | EventRead

/** A group grows by so many messages at most while it is being written. */
const GROWTHS = 16

serve<EventCall>((path) => {
  const database = openDatabase(path, EVENT_LAYOUT)
  const reads = eventReads(database.db)
  const group = groupCommit(database)
  const changed = othersWrote(database.db)
  const { announce, stop } = announcements(path)

  const rowsOf = (call: EventRead): unknown => {
    database.present()
    if (call[0] === 'stream') return reads.stream(call[1], call[2], call[3])
    if (call[0] === 'all') return reads.all(call[1], call[2])
    return reads.head()
  }
  const read = ({ call, reply }: Asked<EventRead>): void => {
    try {
      reply.answer(rowsOf(call))
    } catch (error) {
      reply.fail(error)
    }
  }

  /** Writes the appends and those that come meanwhile; gives back the reads among them. */
  const write = (appends: readonly Asked<string>[], line: Line<EventCall>): readonly Asked<EventRead>[] => {
    const written: Asked<string>[] = []
    const later: Asked<EventRead>[] = []
    const outcomes: ReturnType<typeof group.append>[] = []
    try {
      let waiting = appends
      for (let growth = 0; growth < GROWTHS && waiting.length > 0; growth += 1) {
        written.push(...waiting)
        if (growth === 0) group.begin()
        for (const { call } of waiting) outcomes.push(group.append(call))
        const more = sorted(line.more())
        later.push(...more.reads)
        waiting = more.appends
      }
      group.commit()
      written.forEach(({ reply }, index) => {
        const outcome = outcomes[index]
        if (outcome instanceof Error) reply.fail(outcome)
        else reply.answer(outcome)
      })
    } catch (error) {
      group.abandon()
      for (const { reply } of written) reply.fail(error)
    }
    line.send()
    announce()
    return later
  }

  return {
    /** Reads are answered first, so that none waits for the disk; none sees what is not committed. */
    answer(batch, line) {
      const { reads: early, appends } = sorted(batch)
      early.forEach(read)
      if (appends.length === 0) return
      line.send()
      write(appends, line).forEach(read)
    },
    look() {
      if (changed()) announce()
    },
    close() {
      stop()
      database.db.close()
    },
  }
})

function sorted(batch: readonly Asked<EventCall>[]) {
  const reads: Asked<EventRead>[] = []
  const appends: Asked<string>[] = []
  for (const { call, reply } of batch) {
    if (typeof call === 'string') appends.push({ call, reply })
    else reads.push({ call, reply })
  }
  return { reads, appends }
}
