import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { activity } from '../../projections/activity/activity.ts'
import { callLog } from '../../projections/calls/call-log.ts'
import { verticals } from '../../projections/campaigns/verticals.ts'
import { walletEntries } from '../../projections/money/wallet-entries.ts'
import { wallets } from '../../projections/money/wallets.ts'
import { capCounters } from '../../projections/routing/cap-counters.ts'
import { openConnection } from '../../src/adapters/sqlite/database.ts'
import { type AnyProjection, collectionOf } from '../../src/kernel/projection.ts'
import { plantedWorld } from '../support/fixtures/planted-world.ts'

const world = plantedWorld()
const events = () => world.fileOf('events.db')
const views = () => world.fileOf('views.db')

/** The table of a read model, as SQL. */
const tableOf = (projection: AnyProjection) => `"view ${collectionOf(projection)}"`

const check = () => world.check()

/** Runs SQL in a file, as nobody should. */
function tamper(file: string, sql: string): void {
  const db = openConnection(file)
  const { changes } = db.prepare(sql).run()
  db.close()
  expect(changes, sql).toBeGreaterThan(0)
}

/** Rewrites the checksums of the log, as one would who knows how they are made: other checks must find the fault then. */
function forgeChecksums(): void {
  tamper(events(), 'UPDATE events SET checksum = NULL')
}

const first = (type: string, more = '') =>
  `position = (SELECT position FROM events WHERE type = '${type}' ${more} ORDER BY position LIMIT 1)`
const lastOf = (type: string) => `position = (SELECT max(position) FROM events WHERE type = '${type}')`

test('a world without faults has no findings, and leaves no files behind', async () => {
  const seen: string[] = []
  const report = await world.check(({ phase }) => seen.push(phase))
  expect(report.findings).toEqual([])
  expect(report).toMatchObject({ total: 0, byCheck: {}, notes: [] })
  expect(report.events).toBeGreaterThan(200)
  expect(report.documents).toBeGreaterThan(100)
  expect([...new Set(seen)]).toEqual(['files', 'log', 'read models', 'activity', 'columns'])
  expect(readdirSync(world.directory).filter((name) => name.startsWith('verify-'))).toEqual([])
})

describe('a fault in the log', () => {
  test.each<readonly [string, () => void, RegExp]>([
    [
      'an event that is missing inside a stream',
      () => tamper(events(), `DELETE FROM events WHERE ${first('CallEnded')}`),
      /^Stream call-\w\w-[\w-]+, revision \d+ \(\w+\) follows revision \d+: revision \d+ is missing\.$/,
    ],
    [
      'the last event of a stream that is missing',
      () => tamper(events(), `DELETE FROM events WHERE ${lastOf('BuyerCreated')}`),
      /does not match its checksum: it was changed, or an event before it is missing\.$/,
    ],
    [
      'events that are missing at the end of the log',
      () => tamper(events(), 'DELETE FROM events WHERE position > (SELECT max(position) - 3 FROM events)'),
      /^The checkpoint of read model [\w-]+ stands at position \d+, and the log ends at \d+: events at its end are missing/,
    ],
    [
      'a revision that is repeated',
      () => {
        tamper(events(), `UPDATE events SET revision = revision + 500 WHERE ${first('CallSettled')}`)
        forgeChecksums()
      },
      /\(\w+\) repeats or goes back behind revision \d+|follows revision \d+: revisions \d+ to \d+ are missing/,
    ],
    [
      'an amount of a settlement',
      () => {
        tamper(
          events(),
          `UPDATE events SET data = json_set(data, '$.revenueCents', 999999) WHERE ${first('CallSettled', "AND json_extract(data, '$.converted')")}`,
        )
        forgeChecksums()
      },
      /^Stream call-.* \(CallSettled\) books "duration" \(converted, 999999 cents revenue, .*and the facts of the call give "duration"/,
    ],
    [
      'an amount that the ledger counts',
      () => {
        tamper(events(), `UPDATE events SET data = json_set(data, '$.payoutCents', 1) WHERE ${first('CallCounted')}`)
        forgeChecksums()
      },
      /^Stream ledger-.* \(CallCounted\) counts ".*1 cents payout", and the call is settled with "/,
    ],
    [
      'a claim that is released twice',
      () => {
        tamper(events(), `UPDATE events SET data = json_set(data, '$.attempt', 7) WHERE ${first('ClaimReleased')}`)
        forgeChecksums()
      },
      /^Stream ledger-.* \(ClaimReleased\) releases attempt 7, which was never claimed\.$/,
    ],
    [
      'a balance of the wallet',
      () => {
        tamper(
          events(),
          `UPDATE events SET data = json_set(data, '$.balanceCents', 5) WHERE ${first('WalletCredited')}`,
        )
        forgeChecksums()
      },
      /^Stream wallet-.* \(WalletCredited\) leaves a balance of 5 cents, and the entries up to it sum to \d+\.$/,
    ],
    [
      'an instant that goes back',
      () => {
        tamper(
          events(),
          `UPDATE events SET meta = json_set(meta, '$.at', '2020-01-01T00:00:00.000Z') WHERE ${first('CallEnded')}`,
        )
        forgeChecksums()
      },
      /\(CallEnded\) was recorded at 2020-01-01T00:00:00\.000Z, and an earlier one of its stream at /,
    ],
    [
      'a stream in a wrong partition',
      () => {
        tamper(
          events(),
          `UPDATE events SET stream = 'call-zz' || substr(stream, 8) WHERE stream = (SELECT stream FROM events WHERE type = 'CallSettled' LIMIT 1)`,
        )
        forgeChecksums()
      },
      /is in a stream with partition "zz", and [\w-]+ belongs to partition "\w\w"\.$/,
    ],
    [
      'data that do not fit the schema of their type',
      () => {
        tamper(events(), `UPDATE events SET data = json_set(data, '$.talkSeconds', 'long') WHERE ${first('CallEnded')}`)
        forgeChecksums()
      },
      /\(CallEnded\) has invalid data \(talkSeconds: /,
    ],
    [
      'a type that nobody knows',
      () => {
        tamper(events(), `UPDATE events SET type = 'CallVanished' WHERE ${first('CallEnded')}`)
        forgeChecksums()
      },
      /\(CallVanished\) has a type that this version of the platform does not know\.$/,
    ],
    [
      'a version from the future',
      () => {
        tamper(events(), `UPDATE events SET version = 99 WHERE ${first('CallEnded')}`)
        forgeChecksums()
      },
      /\(CallEnded\) has version 99, which this version of the platform does not know\.$/,
    ],
    [
      'data that are no JSON',
      () => tamper(events(), `UPDATE events SET data = substr(data, 2) WHERE ${first('CallEnded')}`),
      /\(CallEnded\) does not match its checksum/,
    ],
  ])('is found: %s', async (_name, plant, sentence) => {
    plant()
    const { findings, total } = await check()
    expect(findings.map((finding) => finding.sentence)).toContainEqual(expect.stringMatching(sentence))
    expect(total).toBeGreaterThanOrEqual(findings.length)
  })

  test('that nothing but the checksum tells is found: each field of an event', async () => {
    for (const field of ['correlationId', 'surface', 'commandId']) {
      tamper(events(), `UPDATE events SET meta = json_set(meta, '$.${field}', 'x') WHERE ${first('CallEnded')}`)
      const { byCheck, findings } = await check()
      expect(byCheck, field).toEqual({ log: 1 })
      expect(findings[0]).toMatchObject({
        check: 'log',
        stream: expect.stringMatching(/^call-/),
        revision: expect.any(Number),
      })
      world.restore()
    }
  })

  test('that keeps an event from being read leaves out the models of its kind of stream alone', async () => {
    tamper(events(), `UPDATE events SET data = substr(data, 2) WHERE ${first('CallEnded')}`)
    tamper(views(), `UPDATE ${tableOf(wallets)} SET doc = '{}'`)
    const { notes, findings } = await check()
    expect(notes).toEqual([expect.stringMatching(/^Read models are not compared .*\(streams of call\): .*call-log/)])
    expect(notes[0]).not.toContain(wallets.name)
    expect(findings.some(({ model }) => model === wallets.name)).toBe(true)
    expect(findings.some(({ model }) => model === callLog.name)).toBe(false)
  })

  test('of events without checksums is a note: an earlier version wrote them', async () => {
    forgeChecksums()
    const { total, notes, events: count } = await check()
    expect(total).toBe(0)
    expect(notes).toEqual([`${count} of ${count} events have no checksum of their own: an earlier version wrote them.`])
  })
})

describe('a fault in the read models', () => {
  test.each<readonly [string, () => void, RegExp]>([
    [
      'a changed document',
      () => tamper(views(), `UPDATE ${tableOf(callLog)} SET doc = json_set(doc, '$.revenueCents', 1) WHERE rowid = 3`),
      /^Document [\w-]+ of read model call-log differs from its rebuild in "revenueCents"\.$/,
    ],
    [
      'a counter that is off by one',
      () =>
        tamper(
          views(),
          `UPDATE ${tableOf(capCounters)} SET doc = json_set(doc, '$.total', json_extract(doc, '$.total') + 1) WHERE id LIKE 'target:%' AND rowid = (SELECT min(rowid) FROM ${tableOf(capCounters)} WHERE id LIKE 'target:%')`,
        ),
      /^Document target:[\w-]+ of read model usage differs from its rebuild in "total"\.$/,
    ],
    [
      'a document that is missing',
      () => tamper(views(), `DELETE FROM ${tableOf(walletEntries)} WHERE rowid = 1`),
      /^Document [\w:-]+ of read model wallet-entries is missing, and the events of the log make one\.$/,
    ],
    [
      'a document too many',
      () =>
        tamper(
          views(),
          `INSERT INTO ${tableOf(verticals)} (id, position, workspace, doc) SELECT 'forged', position, workspace, doc FROM ${tableOf(wallets)} LIMIT 1`,
        ),
      /^Document forged of read model verticals is there, and no event of the log makes one\.$/,
    ],
    [
      'a row of the activity log',
      () =>
        tamper(
          views(),
          `UPDATE ${tableOf(activity)} SET doc = json_set(doc, '$.summary', 'Nothing happened') WHERE rowid = (SELECT min(rowid) + 4 FROM ${tableOf(activity)})`,
        ),
      /^The activity log of workspace [\w-]+ breaks at entry [\w-]+ of \S+, which does not follow from the one before it\.$/,
    ],
    [
      'a column that says something else than its document',
      () => tamper(views(), `UPDATE ${tableOf(walletEntries)} SET "f.revision" = 99`),
      /^Document [\w:-]+ of wallet-entries_v\d+: the column of "revision" says something else than the document\.$/,
    ],
    [
      'a document that is no JSON',
      () => tamper(views(), `UPDATE ${tableOf(wallets)} SET doc = substr(doc, 2)`),
      /^Document [\w-]+ of read model wallets cannot be read: it is not JSON\.$/,
    ],
    [
      'a document of another workspace',
      () => tamper(views(), `UPDATE ${tableOf(wallets)} SET workspace = 'another'`),
      /^Document [\w-]+ of read model wallets differs from its rebuild in "workspaceId"\.$/,
    ],
    [
      'a checkpoint that is behind its documents',
      () => tamper(views(), "UPDATE checkpoints SET position = 1 WHERE name LIKE 'wallets@%'"),
      /^Document [\w-]+ of read model wallets was folded to position \d+, and the checkpoint of its model stands at 1\.$/,
    ],
    [
      'a checkpoint that is ahead of the log',
      () => tamper(views(), "UPDATE checkpoints SET position = 1000000 WHERE name LIKE 'wallets@%'"),
      /^The checkpoint of read model wallets stands at position 1000000, and the log ends at \d+/,
    ],
    [
      'a model of another version',
      () =>
        tamper(
          views(),
          `UPDATE "view active" SET doc = json_set(doc, '$.versions[0].version', 77) WHERE id = 'wallets'`,
        ),
      /^Read model wallets is stored in version 77, and this version of the platform reads version \d+\.$/,
    ],
    [
      'a model without an entry',
      () => tamper(views(), `DELETE FROM "view active" WHERE id = 'wallets'`),
      /^Read model wallets has no build: no projector has worked on this read store\.$/,
    ],
    [
      'an entry of builds that is damaged',
      () => tamper(views(), `UPDATE "view active" SET doc = '{}' WHERE id = 'wallets'`),
      /^The entry of read model wallets that names its builds cannot be read/,
    ],
  ])('is found: %s', async (_name, plant, sentence) => {
    plant()
    const { findings } = await check()
    expect(findings.map((finding) => finding.sentence)).toContainEqual(expect.stringMatching(sentence))
  })

  test('where a model lags behind the log, it is compared at its own position', async () => {
    const db = openConnection(views())
    const [name] = db.prepare("SELECT name FROM checkpoints WHERE name LIKE 'wallet-entries@%'").all()
    db.prepare(`DELETE FROM ${tableOf(walletEntries)}`).run()
    db.prepare('UPDATE checkpoints SET position = -1 WHERE name = ?').run(String(name?.name))
    db.close()
    expect((await check()).findings).toEqual([])
  })

  test('of a model that is rebuilt meanwhile is none: a note says so', async () => {
    tamper(views(), `UPDATE ${tableOf(wallets)} SET doc = '{}'`)
    let isSwitched = false
    const { notes, findings } = await world.check(({ phase }) => {
      if (phase !== 'read models' || isSwitched) return
      isSwitched = true
      const another = "json_set(doc, '$.versions[0].active.collection', 'another')"
      tamper(views(), `UPDATE "view active" SET doc = ${another} WHERE id = 'wallets'`)
    })
    expect(findings).toEqual([])
    expect(notes).toEqual(['Read model wallets has been rebuilt while it was compared; run the check again for it.'])
  })

  test('many findings are counted, and the first hundred listed', async () => {
    const db = openConnection(views())
    db.exec(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 150)
      INSERT INTO ${tableOf(verticals)} (id, position, workspace, doc)
      SELECT 'forged-' || i, 1, 'w', '{}' FROM n`)
    db.close()
    const { findings, total } = await check()
    expect(findings).toHaveLength(100)
    expect(total).toBe(150)
  })
})

describe('a fault in the columns', () => {
  const files = () => {
    const all = readdirSync(world.fileOf('columns'), { recursive: true, withFileTypes: true })
    return all.filter((entry) => entry.isFile()).map(({ parentPath, name }) => ({ path: join(parentPath, name), name }))
  }
  const flip = (path: string, at: number) => {
    const bytes = readFileSync(path)
    bytes[at] = (bytes[at] ?? 0) ^ 1
    writeFileSync(path, bytes)
  }

  test('is found: any byte of a manifest', async () => {
    const manifest = files().find(({ name }) => name === 'manifest')
    const { length } = readFileSync(manifest?.path ?? '')
    for (const at of [0, Math.floor(length / 2), length - 3]) {
      flip(manifest?.path ?? '', at)
      expect((await check()).findings[0]?.sentence).toMatch(/^The manifest of columns \S+ is damaged\.$/)
      flip(manifest?.path ?? '', at)
    }
  })

  test('is found: any byte of a segment, and a segment that is missing', async () => {
    const segment = files().find(({ name }) => name !== 'manifest')
    const { length } = readFileSync(segment?.path ?? '')
    for (const at of [0, 20, Math.floor(length / 2)]) {
      flip(segment?.path ?? '', at)
      expect((await check()).findings[0]?.sentence).toMatch(/^The column segment \S+ is damaged\.$/)
      flip(segment?.path ?? '', at)
    }
    await rm(segment?.path ?? '')
    expect((await check()).findings[0]?.sentence).toMatch(
      /^The column segment \S+ is missing, and its manifest names it\.$/,
    )
  })

  test('is none: a half-written segment that no manifest names', async () => {
    const segment = files().find(({ name }) => name !== 'manifest')
    writeFileSync(`${segment?.path}.1-0-1.draft`, readFileSync(segment?.path ?? '').subarray(0, 100))
    expect((await check()).findings).toEqual([])
  })
})
