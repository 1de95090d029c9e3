import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { openSqliteEventLog } from '../../src/adapters/sqlite/event-log.ts'
import { EVENT_LAYOUT } from '../../src/adapters/sqlite/event-table.ts'
import type { EventToAppend } from '../../src/kernel/event.ts'
import type { EventLog } from '../../src/ports/event-log.ts'
import { alternate, type Figure, figureOf, secondsOf } from './measure.ts'
import { withDirectory } from './temp-directory.ts'

const WRITERS = 64
const APPENDS_EACH = 150
const ROUNDS = WRITERS * APPENDS_EACH

/** An event as large as those of calls. */
export function eventOf(): EventToAppend {
  const id = randomUUID()
  const data = { callId: id, attempt: 1, occurredAt: '2026-11-21T07:00:00.000Z', sentence: 'x'.repeat(400) }
  const actor = { type: 'carrier', id: null, name: 'Carrier' } as const
  const meta = {
    eventId: id,
    workspaceId: id,
    at: data.occurredAt,
    actor,
    commandId: id,
    correlationId: id,
    causationId: null,
    surface: 'carrier',
    ip: null,
  }
  return { type: 'TargetAnswered', version: 1, data, meta }
}

async function appendAll(log: EventLog): Promise<number> {
  const writer = async () => {
    const stream = `bench-${randomUUID()}`
    for (let revision = -1; revision < APPENDS_EACH - 1; revision++) await log.append(stream, revision, [eventOf()])
  }
  return secondsOf(() => Promise.all(Array.from({ length: WRITERS }, writer)))
}

/** Inserts the same events as rows, in transactions of one event per writer. */
function insertAll(db: DatabaseSync): Promise<number> {
  const insert = db.prepare(
    'INSERT INTO events (stream, revision, id, type, version, data, meta) VALUES (?, ?, ?, ?, ?, ?, ?)',
  )
  const streams = Array.from({ length: WRITERS }, () => `bench-${randomUUID()}`)
  return secondsOf(() => {
    for (let revision = 0; revision < APPENDS_EACH; revision++) {
      db.exec('BEGIN IMMEDIATE')
      for (const stream of streams) {
        const { type, version, data, meta } = eventOf()
        insert.run(stream, revision, meta.eventId, type, version, JSON.stringify(data), JSON.stringify(meta))
      }
      db.exec('COMMIT')
    }
  })
}

/** Durable appends of one event by 64 writers, compared with raw SQLite with the same table, durability and batch. */
export function durableAppend(): Promise<readonly Figure[]> {
  return withDirectory(async (directory) => {
    const log = await openSqliteEventLog(join(directory, 'events.db'))
    const db = new DatabaseSync(join(directory, 'raw.db'))
    db.exec('PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA wal_autocheckpoint=4000')
    db.exec(EVENT_LAYOUT.tables)
    const pairs = await alternate(
      async () => ROUNDS / (await appendAll(log)),
      async () => ROUNDS / (await insertAll(db)),
    )
    await log.close()
    db.close()
    return [figureOf('durable append, 64 writers', 'appends/s', { atLeast: 0.5 }, pairs)]
  })
}
