import { readFileSync, writeFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { activity } from '../../projections/activity/activity.ts'
import { callLog } from '../../projections/calls/call-log.ts'
import { walletEntries } from '../../projections/money/wallet-entries.ts'
import { capCounters } from '../../projections/routing/cap-counters.ts'
import { openConnection } from '../../src/adapters/sqlite/database.ts'
import { collectionOf } from '../../src/kernel/projection.ts'
import { timers } from '../../src/main/registry.ts'
import { BUILD_ALIASES } from '../../src/runtime/projections/build-alias.ts'
import { plantedWorld } from '../support/fixtures/planted-world.ts'

const world = plantedWorld()

/** How many rows of a table have bytes flipped, evenly over the table. */
const ROWS = 6

type Row = Readonly<Record<string, unknown>>

function rowsOf(file: string, sql: string): readonly Row[] {
  const db = openConnection(world.fileOf(file))
  const rows = db.prepare(sql).all()
  db.close()
  return rows
}

/** Places in a file where a text stands. */
function placesOf(bytes: Buffer, text: string): readonly number[] {
  const places: number[] = []
  for (let at = bytes.indexOf(text); at >= 0; at = bytes.indexOf(text, at + 1)) places.push(at)
  return places
}

/** Characters of a part of a text, and how far the next part begins behind it. */
const [PART, STEP] = [24, 7]

/** Parts of texts, each of which stands in a file once: not across two pages, nor in other rows. Texts without one are left out. */
function uniqueParts(file: string, texts: readonly unknown[]): readonly string[] {
  const bytes = readFileSync(world.fileOf(file))
  const parts = texts.flatMap((each) => {
    const text = String(each)
    const starts = Array.from({ length: Math.ceil(text.length / STEP) }, (_, n) => n * STEP)
    const part = starts
      .map((from) => text.slice(from, from + PART))
      .find((one) => one.length === PART && placesOf(bytes, one).length === 1)
    return part ?? []
  })
  expect(parts, file).not.toEqual([])
  return parts
}

/** All that SQL reads of a file: the rows of its tables, and the entries of their whole indexes. */
function readable(path: string): string {
  const db = openConnection(path)
  const rows = (sql: string) => db.prepare(sql).all() as unknown as readonly Row[]
  const read = rows("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name").flatMap(({ name }) => [
    ...rows(`SELECT * FROM "${name}" NOT INDEXED`),
    ...rows(`PRAGMA index_list("${name}")`)
      .filter(({ partial }) => partial === 0)
      .flatMap((index) => {
        const columns = rows(`PRAGMA index_info("${index.name}")`).map((column) => `"${column.name}"`)
        return rows(`SELECT ${columns} FROM "${name}" INDEXED BY "${index.name}" ORDER BY ${columns}`)
      }),
  ])
  db.close()
  return JSON.stringify(read)
}

/**
 * Flips the lowest bit of one byte in a file, in turn in the middle of each text wherever it stands, and demands a finding each time: but
 * where the byte is in space that no row uses, so that all is read as before. Each text is found once at least.
 */
async function expectFound(file: string, texts: readonly string[]): Promise<void> {
  const path = world.fileOf(file)
  const whole = readFileSync(path)
  const before = readable(path)
  for (const text of texts) {
    const places = placesOf(whole, text)
    let found = 0
    for (const place of places) {
      const flipped = Buffer.from(whole)
      const at = place + Math.floor(text.length / 2)
      flipped[at] = (flipped[at] ?? 0) ^ 1
      world.restore()
      writeFileSync(path, flipped)
      const { total } = await world.check()
      if (total > 0) found += 1
      else expect(readable(path) === before, `${file}, byte ${at}, in ${text}`).toBe(true)
    }
    expect(found, text).toBeGreaterThan(0)
  }
}

/**
 * Rows of the second half of a table, evenly. The first ones may stand in a page of the table's tree once more, in space that no row
 * uses: they were there when the table had one page.
 */
function spread(rows: readonly Row[]): readonly Row[] {
  const half = rows.slice(Math.floor(rows.length / 2))
  const places = Array.from({ length: ROWS }, (_, n) => Math.floor((n * (half.length - 1)) / (ROWS - 1)))
  return [...new Set(places)].map((place) => half[place] ?? {})
}

test('a flipped byte of an event is found, in whatever field', async () => {
  const rows = spread(rowsOf('events.db', 'SELECT stream, id, type, data, meta FROM events ORDER BY position'))
  const parts = ['meta', 'data'].flatMap((field) =>
    uniqueParts(
      'events.db',
      rows.map((row) => row[field]),
    ),
  )
  // The fields lie behind each other: id, type, a version of 1 that takes no byte, data.
  const types = rows.slice(-2).map(({ id, type }) => String(id).slice(-4) + String(type))
  await expectFound('events.db', [...parts, ...types, ...rows.map(({ id }) => String(id))])
})

const collections = [callLog, capCounters, activity, walletEntries, timers].map(collectionOf)

test.each([...collections, BUILD_ALIASES])('a flipped byte of a row of %s is found', async (collection) => {
  const rows = spread(rowsOf('views.db', `SELECT doc FROM "view ${collection}" ORDER BY rowid`))
  await expectFound(
    'views.db',
    uniqueParts(
      'views.db',
      rows.map(({ doc }) => doc),
    ),
  )
})

test('a flipped byte of the definitions of collections and of the names of checkpoints is found', async () => {
  const [collection = {}] = rowsOf(
    'views.db',
    `SELECT columns FROM collections WHERE name = '${collectionOf(callLog)}'`,
  )
  const [checkpoint = {}] = rowsOf('views.db', "SELECT name FROM checkpoints WHERE name LIKE 'wallets@%'")
  await expectFound('views.db', [...uniqueParts('views.db', [collection.columns]), String(checkpoint.name)])
})
