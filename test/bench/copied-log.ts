import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { openSqliteEventReader } from '../../src/adapters/sqlite/event-log.ts'
import type { RecordedEvent } from '../../src/kernel/event.ts'
import { type EventLog, START } from '../../src/ports/event-log.ts'
import { fillLog, type PlayedTemplates, playTemplates } from './generated-log.ts'

/** Appends that are under way at once, in the order of the log. */
const AT_ONCE = 128

/** Consecutive events of one stream, which are appended together. */
function appendsOf(events: readonly RecordedEvent[]): readonly (readonly [RecordedEvent, ...RecordedEvent[]])[] {
  const appends: [RecordedEvent, ...RecordedEvent[]][] = []
  for (const event of events) {
    const last = appends.at(-1)
    if (last?.[0].stream === event.stream) last.push(event)
    else appends.push([event])
  }
  return appends
}

async function append(log: EventLog, events: readonly [RecordedEvent, ...RecordedEvent[]]): Promise<void> {
  const [{ stream, revision }] = events
  const { ok } = await log.append(stream, revision - 1, events)
  if (!ok) throw new Error(`The events of ${stream} from ${revision} on could not be copied.`)
}

/** Generates a log of so many events in a directory, and appends them to another log in the same order. */
export async function copyGeneratedLog(directory: string, events: number, to: EventLog): Promise<PlayedTemplates> {
  const played = await playTemplates(directory)
  fillLog(directory, played, events)
  const from = await openSqliteEventReader(join(directory, 'events.db'))
  for (let after = START, end = false; !end; ) {
    const page = await from.readAll(after)
    const appends = appendsOf(page.events)
    for (let n = 0; n < appends.length; n += AT_ONCE)
      await Promise.all(appends.slice(n, n + AT_ONCE).map((one) => append(to, one)))
    ;({ position: after, end } = page)
  }
  await from.close()
  return played
}

/** The URL of a database of its own on a MongoDB server. */
export function databaseUrl(mongoUrl: string): string {
  const url = new URL(mongoUrl)
  url.pathname = `/bench-${randomUUID().slice(0, 8)}`
  return url.href
}
