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

/** A part of a text that stands in a file once: not across two pages, nor in other rows. */
function uniquePart(bytes: Buffer, text: string): string {
  for (let from = 0; from + PART <= text.length; from += STEP) {
    const part = text.slice(from, from + PART)
    if (placesOf(bytes, part).length === 1) return part
  }
  throw new Error(`No part of a row stands in the file once: ${text}`)
}

/** Flips the lowest bit of one byte in a file, in turn in the middle of each text wherever it stands, and demands a finding each time. */
async function expectFound(file: string, texts: readonly string[]): Promise<void> {
  const path = world.fileOf(file)
  const whole = readFileSync(path)
  for (const text of texts) {
    const places = placesOf(whole, text)
    expect(places, text).not.toEqual([])
    for (const place of places) {
      const flipped = Buffer.from(whole)
      const at = place + Math.floor(text.length / 2)
      flipped[at] = (flipped[at] ?? 0) ^ 1
      world.restore()
      writeFileSync(path, flipped)
      const { total } = await world.check()
      expect(total, `${file}, byte ${at}, in ${text}`).toBeGreaterThan(0)
    }
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
  const whole = readFileSync(world.fileOf('events.db'))
  for (const field of ['meta', 'data'])
    await expectFound(
      'events.db',
      rows.map((row) => uniquePart(whole, `${String(row[field])}`)),
    )
  await expectFound(
    'events.db',
    rows.map(({ id }) => String(id)),
  )
  // The fields lie behind each other: id, type, a version of 1 that takes no byte, data.
  await expectFound(
    'events.db',
    rows.slice(-2).map(({ id, type }) => String(id).slice(-4) + String(type)),
  )
})

const collections = [callLog, capCounters, activity, walletEntries, timers].map(collectionOf)

test.each([...collections, BUILD_ALIASES])('a flipped byte of a row of %s is found', async (collection) => {
  const rows = spread(rowsOf('views.db', `SELECT id, workspace, doc FROM "view ${collection}" ORDER BY rowid`))
  const whole = readFileSync(world.fileOf('views.db'))
  await expectFound(
    'views.db',
    rows.map(({ doc }) => uniquePart(whole, String(doc))),
  )
})

test('a flipped byte of the definitions of collections and of the names of checkpoints is found', async () => {
  const whole = readFileSync(world.fileOf('views.db'))
  const [collection = {}] = rowsOf(
    'views.db',
    `SELECT columns FROM collections WHERE name = '${collectionOf(callLog)}'`,
  )
  await expectFound('views.db', [uniquePart(whole, String(collection.columns))])
  const [checkpoint = {}] = rowsOf('views.db', "SELECT name FROM checkpoints WHERE name LIKE 'wallets@%'")
  await expectFound('views.db', [String(checkpoint.name)])
})
