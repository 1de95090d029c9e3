import { join } from 'node:path'
import { DatabaseSync, type SQLInputValue } from 'node:sqlite'
import { inTransaction, openConnection, openDatabase } from '../../src/adapters/sqlite/database.ts'
import { openSqliteEventReader } from '../../src/adapters/sqlite/event-log.ts'
import { VIEW_LAYOUT } from '../../src/adapters/sqlite/view-layout.ts'
import { projections } from '../../src/main/registry.ts'
import { START } from '../../src/ports/event-log.ts'
import { catchUp } from './catch-up.ts'
import { fillLog, playTemplates } from './generated-log.ts'
import { type Figure, figureOf, type Pair, secondsOf } from './measure.ts'
import { withDirectory } from './temp-directory.ts'

const PAIRS = 9
/** Fresh rebuilds of the first tenth, beside which the whole log is rebuilt in as many slices. */
const SLICES = 5
const ROWS_PER_TRANSACTION = 1_000

/** Reads and parses the same rows and does nothing else; returns seconds. */
function parseRows(events: string, head: number): Promise<number> {
  const db = new DatabaseSync(events, { readOnly: true })
  const page = db.prepare(
    'SELECT position, stream, revision, type, version, data, meta FROM events WHERE position > ? AND position <= ? ORDER BY position LIMIT 1000',
  )
  page.setReturnArrays(true)
  const rowsAfter = (after: number) =>
    page.all(after, head) as unknown as readonly (readonly [number, string, number, string, number, string, string])[]
  return secondsOf(() => {
    let parsed = 0
    for (let rows = rowsAfter(START); rows.length > 0; rows = rowsAfter(rows.at(-1)?.[0] ?? head)) {
      for (const row of rows) if (JSON.parse(row[5]) && JSON.parse(row[6])) parsed += 1
    }
    db.close()
    if (parsed === 0) throw new Error('There was nothing to parse.')
  })
}

interface Table {
  readonly name: string
  readonly columns: readonly string[]
}

/** The tables of documents of a file of read models. */
function documentTables(db: DatabaseSync): readonly Table[] {
  const names = db.prepare(`SELECT name FROM sqlite_schema WHERE type = 'table' AND name LIKE 'view %'`).all()
  return names.map(({ name }) => ({
    name: String(name),
    columns: db
      .prepare(`PRAGMA table_info("${name}")`)
      .all()
      .map((column) => String(column.name)),
  }))
}

/** A row to insert: its table, its position, and its values. */
type FinalRow = readonly [table: string, position: number, values: readonly SQLInputValue[]]

/** Every document that a rebuild left in a file, in the order of their last changes. */
function finalRows(db: DatabaseSync): readonly FinalRow[] {
  const rows = documentTables(db).flatMap(({ name, columns }) => {
    const all = db.prepare(`SELECT * FROM "${name}"`)
    all.setReturnArrays(true)
    const at = columns.indexOf('position')
    return (all.all() as unknown as readonly SQLInputValue[][]).map(
      (values): FinalRow => [name, Number(values[at]), values],
    )
  })
  return rows.toSorted(([, a], [, b]) => a - b)
}

/** Inserts each document that a rebuild left in one file into another, once, with the same indexes; returns seconds. */
async function insertOnce(rebuilt: string, path: string): Promise<number> {
  const from = openConnection(rebuilt)
  const { db } = openDatabase(path, VIEW_LAYOUT)
  const schema = from.prepare(`SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL AND tbl_name LIKE 'view %'`).all()
  for (const { sql } of schema) db.exec(String(sql))
  const inserts = new Map(
    documentTables(from).map(({ name, columns }) => [
      name,
      db.prepare(`INSERT INTO "${name}" VALUES (${columns.map(() => '?').join(', ')})`),
    ]),
  )
  const rows = finalRows(from)
  from.close()
  const seconds = await secondsOf(() => {
    for (let n = 0; n < rows.length; n += ROWS_PER_TRANSACTION) {
      inTransaction(db, () => {
        for (const [table, , values] of rows.slice(n, n + ROWS_PER_TRANSACTION)) inserts.get(table)?.run(...values)
      })
    }
  })
  db.close()
  return seconds
}

/**
 * Replay into all projections on one thread, compared with reading and parsing the same rows and inserting each final document
 * once; and the cost of an event in a rebuild of the whole log, in slices measured alternately with fresh rebuilds of its first tenth.
 */
export function replay(events: number): Promise<readonly Figure[]> {
  return withDirectory(async (directory) => {
    const played = await playTemplates(directory)
    fillLog(directory, played, events)
    const path = join(directory, 'events.db')
    const [tenth, slice] = [Math.round(events / 10), Math.round(events / SLICES)]
    const bare: Pair[] = []
    const parsing: Pair[] = []
    const fresh: number[] = []
    let grown = 0
    // The first pair is a warm-up.
    for (let n = 0; n <= PAIRS; n++) {
      const rebuilt = join(directory, `short-${n}.db`)
      const replayed = await catchUp(await openSqliteEventReader(path), rebuilt, tenth)
      const parsed = await parseRows(path, tenth)
      const inserted = await insertOnce(rebuilt, join(directory, `bare-${n}.db`))
      if (n === 0) continue
      bare.push({ ours: tenth / replayed, ceiling: tenth / (parsed + inserted) })
      parsing.push({ ours: tenth / replayed, ceiling: tenth / parsed })
      if (n > SLICES) continue
      fresh.push(replayed / tenth)
      grown += await catchUp(await openSqliteEventReader(path), join(directory, 'long.db'), slice * n)
    }
    const name = `replay into ${projections.length} projections, one thread`
    const whole = `rebuild of ${events.toLocaleString('en-US')} events beside a tenth`
    const scaling = fresh.map((each) => ({ ours: (grown / events) * 1e6, ceiling: each * 1e6 }))
    return [
      figureOf(`${name}, beside parsing and bare inserts`, 'events/s', { atLeast: 0.6 }, bare),
      figureOf(`${name}, beside parsing alone`, 'events/s', { atLeast: 0.25 }, parsing),
      figureOf(whole, 'µs/event', { atMost: 1.3 }, scaling),
    ]
  })
}
