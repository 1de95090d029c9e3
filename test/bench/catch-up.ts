import { openSqliteReadStore } from '../../src/adapters/sqlite/read-store.ts'
import { followed, projections, upcasts } from '../../src/main/registry.ts'
import { systemClock as clock } from '../../src/main/system.ts'
import type { EventLog } from '../../src/ports/event-log.ts'
import { runProjections } from '../../src/runtime/projections/projection-runner.ts'
import { ownEverything } from '../support/memory/ownership.ts'
import { secondsOf } from './measure.ts'

/** A log as it was at an earlier head. */
function logUpTo(log: EventLog, head: number): EventLog {
  return {
    ...log,
    async readAll(after, limit = 1_000, filter) {
      if (after >= head) return { events: [], position: after, end: true }
      const { events, position } = await log.readAll(after, limit, filter)
      const earlier = events.filter((event) => event.position <= head)
      return { events: earlier, position: Math.min(position, head), end: position >= head }
    },
    head: async () => head,
  }
}

/**
 * Projects a log, up to a position or to its end, into all registered projections of a SQLite file in this thread, from their last
 * checkpoint on, and closes the log. Returns the seconds it took. @throws Error when a projection halts
 */
export async function catchUp(log: EventLog, views: string, until: number | null = null): Promise<number> {
  const head = until ?? (await log.head())
  const store = await openSqliteReadStore(views)
  const stop = new AbortController()
  const behind = new Set(projections.map(({ name }) => name))
  let halted: string | null = null
  const seconds = await secondsOf(async () => {
    const runner = runProjections({
      log: until === null ? log : logUpTo(log, until),
      store,
      ownership: ownEverything(),
      projections,
      upcasts,
      indexedByPosition: followed,
      clock,
      signal: stop.signal,
      onProgress({ name, position }) {
        if (position >= head) behind.delete(name)
        if (behind.size === 0) stop.abort()
      },
      onHalt({ name, message }) {
        halted = `${name}: ${message}`
        stop.abort()
      },
    })
    await runner.done
  })
  await Promise.all([log.close(), store.close()])
  if (halted !== null) throw new Error(halted)
  return seconds
}
