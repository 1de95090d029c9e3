import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openSqliteEventLog } from '../../../../src/adapters/sqlite/event-log.ts'
import { openSqliteLogVerifier } from '../../../../src/adapters/sqlite/log-verifier.ts'
import { START } from '../../../../src/ports/event-log.ts'
import { freshStream, someEvent, someEvents } from '../../../support/fixtures/events.ts'

let directory = ''
const file = () => join(directory, 'events.db')
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'ringledger-checksums-'))
})
afterEach(() => rmSync(directory, { recursive: true, force: true }))

/** All events of the file as a check reads them, in pages of three. */
async function readChecked() {
  const verifier = await openSqliteLogVerifier(file())
  const events = []
  for (let after = START, end = false; !end; ) {
    const page = await verifier.read(after, 3)
    events.push(...page.events)
    after = page.position
    end = page.end
  }
  await verifier.close()
  return events
}

test('checksums follow from each other over two writers, conflicts and refused ids', async () => {
  const [one, other] = [await openSqliteEventLog(file()), await openSqliteEventLog(file())]
  const shared = freshStream()
  for (let n = 0; n < 6; n += 1) {
    const results = await Promise.all([
      one.append(shared, 2 * n - 1, someEvents(2)),
      other.append(shared, 2 * n - 1, someEvents(2, 'é \u{1f600}')),
      one.append(freshStream(), -1, someEvents(1)),
      other.append(freshStream(), -1, someEvents(3)),
    ])
    expect(results.filter(({ ok }) => ok)).toHaveLength(3)
  }
  const taken = someEvent()
  await one.append(freshStream(), -1, [taken])
  // The second event of the append is refused, so the first one is taken back.
  await expect(one.append(freshStream(), -1, [someEvent(), taken])).rejects.toThrow('already exists')
  await one.append(freshStream(), -1, someEvents(2))
  await Promise.all([one.close(), other.close()])
  const events = await readChecked()
  expect(events).toHaveLength(6 * 6 + 3)
  expect(events.filter(({ problem, hasChecksum }) => problem !== null || !hasChecksum)).toEqual([])
})

test('a file of an earlier program gets the column, and its events count as unchecked', async () => {
  await (await openSqliteEventLog(file())).close()
  const earlier = new DatabaseSync(file())
  earlier.exec('ALTER TABLE events DROP COLUMN checksum')
  const { type, version, data, meta } = someEvent()
  earlier
    .prepare('INSERT INTO events (stream, revision, id, type, version, data, meta) VALUES (?, 0, ?, ?, ?, ?, ?)')
    .run(freshStream(), meta.eventId, type, version, JSON.stringify(data), JSON.stringify(meta))
  earlier.close()
  const log = await openSqliteEventLog(file())
  await log.append(freshStream(), -1, someEvents(2))
  await log.close()
  expect((await readChecked()).map(({ problem, hasChecksum }) => [problem, hasChecksum])).toEqual([
    [null, false],
    [null, true],
    [null, true],
  ])
})

test.each([
  ['a changed event', 'UPDATE events SET data = \'{"n":7}\' WHERE position = 2', [2]],
  ['a missing event', 'DELETE FROM events WHERE position = 2', [3]],
  ['events that changed places', 'UPDATE events SET position = 10 WHERE position = 2', [3, 10]],
  ['a changed checksum', 'UPDATE events SET checksum = checksum + 1 WHERE position = 2', [2, 3]],
])('%s is found, at the position of the next checksum that does not follow', async (_name, sql, positions) => {
  const log = await openSqliteEventLog(file())
  await log.append(freshStream(), -1, someEvents(4))
  await log.close()
  const db = new DatabaseSync(file())
  db.exec(sql)
  db.close()
  const found = (await readChecked()).filter(({ problem }) => problem !== null)
  expect(found.map(({ position }) => position)).toEqual(positions)
})
