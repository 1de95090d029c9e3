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

/** Places in a file where a text stands; the text must be there. */
function placesOf(bytes: Buffer, text: string): readonly number[] {
  const places: number[] = []
  for (let at = bytes.indexOf(text); at >= 0; at = bytes.indexOf(text, at + 1)) places.push(at)
  expect(places, text).not.toEqual([])
  return places
}

/** Flips the lowest bit of one byte in a file, in turn in the middle of each text wherever it stands, and demands a finding each time. */
async function expectFound(file: string, texts: readonly string[]): Promise<void> {
  const path = world.fileOf(file)
  const whole = readFileSync(path)
  for (const text of texts) {
    for (const place of placesOf(whole, text)) {
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

const spread = (rows: readonly Row[]): readonly Row[] =>
  Array.from({ length: ROWS }, (_, n) => rows[Math.floor((n * (rows.length - 1)) / (ROWS - 1))] ?? {})

/** A part of a text that is short enough to lie in one page. */
const partOf = (value: unknown) => String(value).slice(0, 40)

test('a flipped byte of an event is found, in whatever field', async () => {
  const rows = spread(rowsOf('events.db', 'SELECT stream, id, type, data, meta FROM events ORDER BY position'))
  await expectFound(
    'events.db',
    rows.map(({ meta }) => partOf(meta)),
  )
  await expectFound(
    'events.db',
    rows.map(({ id }) => String(id)),
  )
  // The fields lie behind each other: id, type, a version of 1 that takes no byte, data.
  await expectFound(
    'events.db',
    rows.slice(0, 3).map(({ id, type }) => String(id).slice(-4) + String(type)),
  )
  await expectFound(
    'events.db',
    rows.slice(0, 3).map(({ type, data }) => String(type).slice(-2) + partOf(data)),
  )
})

const collections = [callLog, capCounters, activity, walletEntries, timers].map(collectionOf)

test.each([...collections, BUILD_ALIASES])('a flipped byte of a row of %s is found', async (collection) => {
  const rows = spread(rowsOf('views.db', `SELECT id, workspace, doc FROM "view ${collection}" ORDER BY id`))
  await expectFound(
    'views.db',
    rows.map(({ doc }) => partOf(doc)),
  )
  await expectFound(
    'views.db',
    rows.slice(0, 2).map(({ id }) => String(id)),
  )
})

test('a flipped byte of the definitions of collections and of the names of checkpoints is found', async () => {
  const [collection = {}] = rowsOf(
    'views.db',
    `SELECT columns FROM collections WHERE name = '${collectionOf(callLog)}'`,
  )
  await expectFound('views.db', [partOf(collection.columns)])
  const [checkpoint = {}] = rowsOf('views.db', "SELECT name FROM checkpoints WHERE name LIKE 'wallets@%'")
  await expectFound('views.db', [String(checkpoint.name)])
})
