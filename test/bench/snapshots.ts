import { fork } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { openMongoOperationalStore } from '../../src/adapters/mongodb/operational-store.ts'
import { openDatabase } from '../../src/adapters/sqlite/database.ts'
import { EVENT_LAYOUT } from '../../src/adapters/sqlite/event-table.ts'
import { openSqliteOperationalStore } from '../../src/adapters/sqlite/operational-store.ts'
import { ledger } from '../../src/domain/routing/ledger.ts'
import { type AnyEntity, anyEntityOf } from '../../src/kernel/entity.ts'
import type { RecordedEvent } from '../../src/kernel/event.ts'
import { systemClock as clock, systemRandom as random } from '../../src/main/system.ts'
import type { EventLog } from '../../src/ports/event-log.ts'
import type { OperationalStore } from '../../src/ports/operational-store.ts'
import { MARK_EVERY } from '../../src/runtime/write/fold.ts'
import { createFoldLoader } from '../../src/runtime/write/load-fold.ts'
import { createMailboxes } from '../../src/runtime/write/mailboxes.ts'
import { databaseOf } from '../support/servers.ts'
import { busyLedger } from './busy-ledger.ts'
import { type PlayedTemplates, playTemplates } from './generated-log.ts'
import { type Figure, figureOf, secondsOf } from './measure.ts'
import { withDirectory } from './temp-directory.ts'

/** Bounds of the documents (issue 15). */
const MAX = { stallMs: 20, valueBytes: 1_000_000, coldSeconds: 2 } as const
/** Calls between two looks at the stream's tail. */
const CHUNK = 100
const RUNS = 5

/** The longest time (ms) that this thread worked between two turns of its event loop until the work is done. */
async function longestStall(work: Promise<void>): Promise<number> {
  let longest = 0
  let isOver = false
  const over = work.finally(() => {
    isOver = true
  })
  const cpuMs = () => {
    // Time of this thread alone: what else the machine does at the same time does not count.
    const { user, system } = process.threadCpuUsage()
    return (user + system) / 1_000
  }
  let last = cpuMs()
  while (!isOver) {
    await new Promise((resolve) => setImmediate(resolve))
    const now = cpuMs()
    longest = Math.max(longest, now - last)
    last = now
  }
  await over
  return longest
}

interface BusyHours {
  /** The longest stalls by a snapshot (ms), longest first. */
  readonly stalls: readonly number[]
  /** Events since the last snapshot: as many as a process can leave. */
  readonly tail: readonly RecordedEvent[]
}

/** Plays simulated hours of calls into a fold that follows the stream and saves its snapshots in the store. */
async function playHours(
  played: PlayedTemplates,
  ops: OperationalStore,
  { hours, perSecond }: { readonly hours: number; readonly perSecond: number },
): Promise<BusyHours> {
  const calls = hours * 3_600 * perSecond
  const { stream, eventsAt } = busyLedger(played, calls, perSecond)
  let events: RecordedEvent[] = []
  const read: EventLog['read'] = async (_stream, from, limit) =>
    events.filter(({ revision }) => revision >= from).slice(0, limit)
  const log = { read } as EventLog
  const failures: unknown[] = []
  const mailbox = createMailboxes(() => null).mailboxOf(anyEntityOf(ledger) as AnyEntity, stream)
  const { foldOf } = createFoldLoader({
    log,
    ops,
    clock,
    owner: () => 'bench',
    markEvery: MARK_EVERY,
    onSnapshotFailure: (_stream, error) => failures.push(error),
    onChange: () => {},
  })
  const stalls: number[] = []
  for (let n = 0; n < calls; n++) {
    events.push(...eventsAt(n))
    if ((n + 1) % CHUNK !== 0) continue
    const { revision } = await foldOf(mailbox, true)
    if (mailbox.snapshots.running) stalls.push(await longestStall(mailbox.snapshots.running))
    if (failures.length > 0) throw failures[0]
    events = events.filter((event) => event.revision >= revision - MARK_EVERY)
    if (n % 36_000 === 35_999) process.stderr.write(`  ${n + 1} calls, revision ${revision}\n`)
  }
  const tail = events.filter(({ revision }) => revision > mailbox.snapshots.done)
  return { stalls: stalls.toSorted((a, b) => b - a), tail }
}

/** Replaces a stream in a log by the end of another one. */
function writeTail(directory: string, tail: readonly RecordedEvent[]): void {
  const { db } = openDatabase(join(directory, 'events.db'), EVENT_LAYOUT)
  const [stream] = tail.map((event) => event.stream)
  db.prepare('DELETE FROM events WHERE stream = ?').run(stream ?? '')
  const insert = db.prepare(
    'INSERT INTO events (stream, revision, id, type, version, data, meta) VALUES (?, ?, ?, ?, ?, ?, ?)',
  )
  for (const { stream, revision, type, version, data, meta } of tail)
    insert.run(stream, revision, random.uuid(), type, version, JSON.stringify(data), JSON.stringify(meta))
  db.close()
}

interface StoredSnapshot {
  readonly entries: readonly { readonly key: string; readonly bytes: number }[]
  readonly largest: number
  readonly sum: number
}

function storedSnapshot(path: string): StoredSnapshot {
  const db = new DatabaseSync(path, { readOnly: true })
  const rows = db
    .prepare(
      "SELECT key, length(CAST(value AS BLOB)) AS bytes FROM entries WHERE key LIKE 'piece:ledger-%' OR key LIKE 'snapshot:ledger-%'",
    )
    .all()
  db.close()
  const entries = rows.map(({ key, bytes }) => ({ key: String(key), bytes: Number(bytes) }))
  return {
    entries,
    largest: Math.max(...entries.map(({ bytes }) => bytes)),
    sum: entries.reduce((sum, { bytes }) => sum + bytes, 0),
  }
}

/** Seconds of a whole process: start, first decision, end. */
function coldProcess(directory: string, { workspaceId, dialed }: PlayedTemplates, ops: string): Promise<number> {
  return secondsOf(async () => {
    const child = fork(join(import.meta.dirname, 'cold-process.ts'), [directory, workspaceId, dialed, ops])
    const [code] = await once(child, 'exit')
    if (code !== 0) throw new Error(`The cold process ended with ${code}.`)
  })
}

async function coldProcesses(name: string, cold: () => Promise<number>): Promise<Figure> {
  await cold()
  const pairs: { ours: number; ceiling: number }[] = []
  for (let n = 0; n < RUNS; n++) pairs.push({ ours: await cold(), ceiling: MAX.coldSeconds })
  return figureOf(name, 's', { atMost: 1 }, pairs)
}

async function copyEntries(from: OperationalStore, url: string, { entries }: StoredSnapshot): Promise<void> {
  const to = await openMongoOperationalStore(url)
  for (const { key } of entries) await to.put(key, (await from.get(key, clock.now()))?.value, null)
  await to.close()
}

/**
 * Snapshots of a ledger that takes calls at a steady rate for simulated hours: what they cost the thread that answers
 * calls, what they store, and how soon a fresh process decides. Without MONGODB_URL that store is left out.
 */
export function snapshots(hours: number, perSecond: number): Promise<readonly Figure[]> {
  return withDirectory(async (directory) => {
    const played = await playTemplates(directory)
    const path = join(directory, 'views.ops.db')
    const ops = await openSqliteOperationalStore(path)
    const { stalls, tail } = await playHours(played, ops, { hours, perSecond })
    writeTail(directory, tail)
    const stored = storedSnapshot(path)
    const { heapUsed, external } = process.memoryUsage()
    process.stderr.write(
      `  ${stored.entries.length} values of ${Math.round(stored.sum / 1e6)} MB in all; ${tail.length} events behind; heap ${Math.round(heapUsed / 2 ** 20)} MB, external ${Math.round(external / 2 ** 20)} MB\n`,
    )
    const what = `${perSecond} calls/s for ${hours} h`
    const one = (name: string, unit: string, ours: readonly number[], ceiling: number) =>
      figureOf(
        name,
        unit,
        { atMost: 1 },
        ours.map((value) => ({ ours: value, ceiling })),
      )
    const figures = [
      one(`longest stall by a snapshot, ${what}`, 'ms', stalls.slice(0, 1), MAX.stallMs),
      one('largest stored value of its snapshot', 'bytes', [stored.largest], MAX.valueBytes),
      await coldProcesses('fresh process to its first decision, SQLite', () =>
        coldProcess(directory, played, 'sqlite'),
      ),
    ]
    const url = process.env.MONGODB_URL
    if (url) {
      const database = databaseOf(url, `bench-${randomUUID()}`)
      await copyEntries(ops, database, stored)
      figures.push(
        await coldProcesses('fresh process to its first decision, MongoDB', () =>
          coldProcess(directory, played, database),
        ),
      )
    } else process.stderr.write('  MONGODB_URL is not set: the fresh process over MongoDB is left out.\n')
    await ops.close()
    return figures
  })
}
