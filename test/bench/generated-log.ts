import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { openDatabase } from '../../src/adapters/sqlite/database.ts'
import { EVENT_LAYOUT } from '../../src/adapters/sqlite/event-table.ts'
import type { RecordedEvent } from '../../src/kernel/event.ts'
import { systemRandom as random } from '../../src/main/system.ts'
import type { EventLog } from '../../src/ports/event-log.ts'
import { START } from '../../src/ports/event-log.ts'
import { openEngine } from './engine.ts'
import { type Template, templateOf, type Written, write } from './template.ts'

/** Calls that are played through the engine; all others are written after them. */
const PLAYED = 240
/** Calls that happen at the same time: their events lie among each other. */
const AT_ONCE = 32
const EVENTS_PER_TRANSACTION = 20_000
const WEEK_MS = 7 * 86_400_000

/** A log whose calls the engine has played, as templates of more. */
export interface Played {
  readonly workspaceId: string
  readonly templates: readonly Template[]
  /** Of the call that each template is of. */
  readonly callIds: readonly string[]
}

async function everything(log: EventLog): Promise<readonly RecordedEvent[]> {
  const events: RecordedEvent[] = []
  for (let after = START, end = false; !end; ) {
    const page = await log.readAll(after)
    events.push(...page.events)
    after = page.position
    end = page.end
  }
  return events
}

/** Furnishes a workspace in a directory's log and plays a few hundred calls there. */
export async function playTemplates(directory: string, secrets: readonly string[] = []): Promise<Played> {
  const engine = await openEngine(directory, secrets)
  const before = await engine.log.head()
  await engine.play(PLAYED, AT_ONCE)
  const calls = new Map<string, RecordedEvent[]>()
  for (const event of await everything(engine.log)) {
    if (event.position <= before) continue
    const known = calls.get(event.meta.correlationId)
    if (known) known.push(event)
    else calls.set(event.meta.correlationId, [event])
  }
  await engine.close()
  const played = [...calls].map(([callId, events]) => templateOf(callId, events, Date.parse(events[0]?.meta.at ?? '')))
  return { workspaceId: engine.workspaceId, templates: played, callIds: [...calls.keys()] }
}

/** The n-th call (from 0) of so many over the last week, as a template is written for it. */
export function writtenAs({ ids, arrivedMs }: Template, n: number, calls: number): Written {
  const start = Date.now() - WEEK_MS
  return {
    ids: Array.from({ length: ids }, () => random.uuid()),
    seq: PLAYED + 1 + n,
    shiftMs: Math.round(start + (n * (WEEK_MS - 3_600_000)) / calls) - arrivedMs,
  }
}

/** Position of the newest event in a directory's log. */
export function headOf(directory: string): number {
  const db = new DatabaseSync(join(directory, 'events.db'), { readOnly: true })
  const head = Number(db.prepare('SELECT max(position) AS position FROM events').get()?.position)
  db.close()
  return head
}

/** Fills a directory's log with calls like those that were played, up to so many events in all. */
export function fillLog(directory: string, { templates }: Played, events: number): void {
  const { db } = openDatabase(join(directory, 'events.db'), EVENT_LAYOUT)
  db.exec('PRAGMA synchronous=OFF; PRAGMA cache_size=-262144')
  const insert = db.prepare(
    'INSERT INTO events (stream, revision, id, type, version, data, meta) VALUES (?, ?, ?, ?, ?, ?, ?)',
  )
  const last = db.prepare('SELECT max(revision) AS revision FROM events WHERE stream = ?')
  const shared = new Map<string, number>()
  const next = (stream: string): number => {
    const revision = (shared.get(stream) ?? Number(last.get(stream)?.revision ?? -1)) + 1
    shared.set(stream, revision)
    return revision
  }
  const average = templates.reduce((sum, template) => sum + template.events.length, 0) / templates.length
  const calls = Math.ceil(events / average)
  let position = headOf(directory)
  let open = 0
  for (let n = 0; position < events; n += AT_ONCE) {
    const group = Array.from({ length: AT_ONCE }, (_, k) => {
      const template = templates[(n + k) % templates.length] as Template
      return { template, call: writtenAs(template, n + k, calls) }
    })
    const longest = Math.max(...group.map(({ template }) => template.events.length))
    if (open === 0) db.exec('BEGIN')
    for (let step = 0; step < longest; step++) {
      for (const { template, call } of group) {
        const event = template.events[step]
        if (!event || position >= events) continue
        const stream = write(event.stream, call)
        const revision = event.revision ?? next(stream)
        const { type, version, idPlace, data, meta } = event
        insert.run(stream, revision, call.ids[idPlace] ?? '', type, version, write(data, call), write(meta, call))
        position += 1
        open += 1
      }
    }
    if (open < EVENTS_PER_TRANSACTION && position < events) continue
    db.exec('COMMIT')
    open = 0
  }
  db.close()
}
