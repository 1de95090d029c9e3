import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { openDatabase } from '../../src/adapters/sqlite/database.ts'
import { EVENT_LAYOUT } from '../../src/adapters/sqlite/event-table.ts'
import type { RecordedEvent } from '../../src/kernel/event.ts'
import { systemRandom as random } from '../../src/main/system.ts'
import type { EventLog } from '../../src/ports/event-log.ts'
import { START } from '../../src/ports/event-log.ts'
import { openEngine } from './engine.ts'
import { type GeneratedCall, type Template, templateOf, write } from './template.ts'

/** Calls that are played through the engine; all others are generated from them. */
const PLAYED = 240
/** Concurrent calls, whose events are interleaved. */
const AT_ONCE = 32
const EVENTS_PER_TRANSACTION = 20_000
const WEEK_MS = 7 * 86_400_000
/** How long ago the last call arrives, so that everything after it is due. */
const LEAD_MS = 3_600_000

/** A log with played calls, which are the templates of generated ones. */
export interface PlayedTemplates {
  readonly workspaceId: string
  readonly templates: readonly Template[]
  /** Ids of the calls, in the order of the templates. */
  readonly callIds: readonly string[]
  /** A number that can be dialled. */
  readonly dialed: string
}

async function readEvents(log: EventLog): Promise<readonly RecordedEvent[]> {
  const events: RecordedEvent[] = []
  for (let after = START, end = false; !end; ) {
    const page = await log.readAll(after)
    events.push(...page.events)
    after = page.position
    end = page.end
  }
  return events
}

/** Creates a workspace in the log of a directory and plays a few hundred calls in it. */
export async function playTemplates(directory: string, secrets: readonly string[] = []): Promise<PlayedTemplates> {
  const engine = await openEngine(directory, { secrets })
  const before = await engine.log.head()
  await engine.play(PLAYED, AT_ONCE)
  const calls = new Map<string, RecordedEvent[]>()
  for (const event of await readEvents(engine.log)) {
    if (event.position <= before) continue
    const known = calls.get(event.meta.correlationId)
    if (known) known.push(event)
    else calls.set(event.meta.correlationId, [event])
  }
  await engine.close()
  const played = [...calls].map(([callId, events]) => templateOf(callId, events, Date.parse(events[0]?.meta.at ?? '')))
  return { workspaceId: engine.workspaceId, templates: played, callIds: [...calls.keys()], dialed: engine.dialed }
}

/** When calls arrive: the first instant and the interval. */
interface Pace {
  readonly startMs: number
  readonly gapMs: number
}

/** Spreads the calls over the last week. */
const lastWeek = (calls: number): Pace => ({ startMs: Date.now() - WEEK_MS, gapMs: (WEEK_MS - LEAD_MS) / calls })

/** The n-th call (from 0) for a template, over the last week by default. */
export function generatedCallOf(
  { ids, arrivedMs }: Template,
  n: number,
  calls: number,
  pace = lastWeek(calls),
): GeneratedCall {
  return {
    ids: Array.from({ length: ids }, () => random.uuid()),
    seq: PLAYED + 1 + n,
    shiftMs: Math.round(pace.startMs + n * pace.gapMs) - arrivedMs,
  }
}

/** Position of the newest event in the log of a directory. */
export function headOf(directory: string): number {
  const db = new DatabaseSync(join(directory, 'events.db'), { readOnly: true })
  const head = Number(db.prepare('SELECT max(position) AS position FROM events').get()?.position)
  db.close()
  return head
}

/** Appends an event at a position that no projection reads. */
export function raiseHead(directory: string, position: number): void {
  const db = new DatabaseSync(join(directory, 'events.db'))
  db.prepare(
    `INSERT INTO events (position, stream, revision, id, type, version, data, meta)
     SELECT ?, 'bench-1', 0, 'bench-1', 'HeadRaised', 1, '{}', meta FROM events WHERE position = ?`,
  ).run(position, headOf(directory))
  db.close()
}

const averageOf = (templates: readonly Template[]) =>
  templates.reduce((sum, template) => sum + template.events.length, 0) / templates.length

/** The calls to generate: the first one, the number in all, and when they arrive. */
interface Calls {
  readonly from: number
  readonly all: number
  readonly pace?: Pace
}

/** Generates calls into the log of a directory until it has this many events. */
export function fillLog(
  directory: string,
  { templates }: Pick<PlayedTemplates, 'templates'>,
  events: number,
  { from, all, pace = lastWeek(all) }: Calls = { from: 0, all: Math.ceil(events / averageOf(templates)) },
): void {
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
  let position = headOf(directory)
  let open = 0
  for (let n = from; position < events; n += AT_ONCE) {
    const group = Array.from({ length: AT_ONCE }, (_, k) => {
      const template = templates[(n + k) % templates.length] as Template
      return { template, call: generatedCallOf(template, n + k, all, pace) }
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
