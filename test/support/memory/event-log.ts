import type { RecordedEvent } from '../../../src/kernel/event.ts'
import { type EventLog, type LogPage, START } from '../../../src/ports/event-log.ts'
import { ALL_EVENTS, matchesFilter } from '../../../src/ports/log-filter.ts'

/** Positions have gaps, as in a real log. */
const STRIDE = 3

/**
 * An event log in memory: the whole port except for durability. It starts from the events of another such log. `stride`: from one
 * position to the next.
 */
export function createMemoryLog(
  from: readonly RecordedEvent[] = [],
  stride = STRIDE,
): EventLog & { readonly events: readonly RecordedEvent[] } {
  const events: RecordedEvent[] = [...from]
  const revisions = new Map(events.map(({ stream, revision }) => [stream, revision]))
  let wakes: (() => void)[] = []

  const pageAfter = (after: number, limit: number, filter = ALL_EVENTS): LogPage => {
    const first = Math.max(0, Math.floor(after / stride) + 1)
    const page = events.slice(first, first + limit)
    return {
      events: page.filter((event) => matchesFilter(filter, event)),
      position: page.at(-1)?.position ?? Math.max(after, START),
      end: first + page.length >= events.length,
    }
  }

  const news = (signal: AbortSignal) =>
    new Promise<void>((resolve) => {
      wakes.push(resolve)
      signal.addEventListener('abort', () => resolve(), { once: true })
    })

  return {
    events,
    async append(stream, expected, batch) {
      if (batch.length === 0) throw new TypeError('An append holds at least one event.')
      const revision = revisions.get(stream) ?? -1
      if (revision !== expected) return { ok: false, conflict: true }
      for (const [index, event] of batch.entries()) {
        const place = { stream, revision: revision + 1 + index, position: events.length * stride }
        events.push({ ...JSON.parse(JSON.stringify(event)), ...place })
      }
      revisions.set(stream, revision + batch.length)
      const waiting = wakes
      wakes = []
      for (const wake of waiting) wake()
      const position = (events.length - 1) * stride
      const first = stride === 1 ? { first: events.length - batch.length } : {}
      return { ok: true, revision: revision + batch.length, position, ...first }
    },
    async read(stream, from, limit = 1_000) {
      if (!revisions.has(stream)) return []
      return events.filter((event) => event.stream === stream && event.revision >= from).slice(0, limit)
    },
    readAll: async (after, limit = 1_000, filter) => pageAfter(after, limit, filter),
    async *follow(after, signal, filter) {
      let position = after
      while (!signal.aborted) {
        const page = pageAfter(position, 1_000, filter)
        if (page.position === position) await news(signal)
        else {
          position = page.position
          yield page
        }
      }
    },
    head: async () => events.at(-1)?.position ?? START,
    close: async () => {},
  }
}
