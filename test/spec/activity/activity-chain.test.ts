import { createHash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { activity } from '../../../projections/activity/activity.ts'
import { activityBatches, activityExportQuery } from '../../../queries/activity/activity-export.ts'
import { listActivity } from '../../../queries/activity/list-activity.ts'
import { verifyActivity } from '../../../queries/activity/verify-activity.ts'
import { canonicalJson } from '../../../src/domain/activity/activity-entry.ts'
import { ACTIVITY, EXPORT } from '../../../src/domain/shared/limits.ts'
import { buildNames } from '../../../src/runtime/projections/build-names.ts'
import { buyerChanges, createActivityLog, minuteOf, recordedMinutely } from '../../support/fixtures/audit-fixture.ts'
import { fillStore, runQuery } from '../../support/fixtures/query-fixture.ts'
import { idOf, WORKSPACE } from '../../support/fixtures/spec.ts'
import { createMemoryReadStore } from '../../support/memory/read-store.ts'

type Log = Awaited<ReturnType<typeof createActivityLog>>
type Page = {
  readonly data: readonly { readonly hash: string; readonly id: string; readonly position: number }[]
  readonly total: number
}

const stranger = idOf(77)

/** Manipulations of the store, and the position (from 1) at which the check reports them. */
const tampering: readonly (readonly [string, (log: Log) => Promise<unknown>, number])[] = [
  [
    'an entry says something else',
    (log) => log.put({ ...log.row(5), doc: { ...log.row(5).doc, summary: 'Nothing.' } }),
    5,
  ],
  [
    'an entry names somebody else',
    (log) =>
      log.put({ ...log.row(5), doc: { ...log.row(5).doc, actor: { type: 'system', id: null, name: 'Nobody' } } }),
    5,
  ],
  ['an entry says more', (log) => log.put({ ...log.row(5), doc: { ...log.row(5).doc, extra: true } }), 5],
  [
    'an entry bears another id',
    (log) => log.put({ ...log.row(5), doc: null }, { id: stranger, doc: log.row(5).doc }),
    5,
  ],
  [
    'an entry bears another hash',
    (log) => log.put({ ...log.row(5), doc: { ...log.row(5).doc, hash: 'f'.repeat(64) } }),
    5,
  ],
  ['the first is gone', (log) => log.put({ ...log.row(1), doc: null }), 2],
  ['one in the middle is gone', (log) => log.put({ ...log.row(5), doc: null }), 6],
  [
    'one is gone and the rest moved up',
    (log) =>
      log.put(
        { id: log.row(5).id, doc: null },
        ...[6, 7, 8, 9, 10].map((n) => ({ id: log.row(n).id, doc: { ...log.row(n).doc, seq: n - 1 } })),
      ),
    5,
  ],
  ['the newest is gone', (log) => log.put({ ...log.row(10), doc: null }), 10],
  ['all are gone', (log) => log.put(...Array.from({ length: 10 }, (_, n) => ({ ...log.row(n + 1), doc: null }))), 10],
  [
    'two have changed places',
    (log) =>
      log.put(
        { id: log.row(4).id, doc: { ...log.row(4).doc, seq: 5 } },
        { id: log.row(5).id, doc: { ...log.row(5).doc, seq: 4 } },
      ),
    4,
  ],
  [
    'one has come in between',
    (log) => log.put({ id: stranger, doc: { ...log.row(5).doc, seq: 5.5, summary: 'Forged.' } }),
    5.5,
  ],
  [
    'one claims the place of another',
    (log) => log.put({ id: stranger, doc: { ...log.row(5).doc, summary: 'Forged.' } }),
    5,
  ],
  ['one stands before the first', (log) => log.put({ id: stranger, doc: { ...log.row(5).doc, seq: 0 } }), 0],
  ['one stands behind the newest', (log) => log.put({ id: stranger, doc: { ...log.row(10).doc, seq: 11 } }), 11],
  [
    'the head says something else',
    async (log) => log.put({ id: WORKSPACE, doc: { ...(await log.head()), hash: 'f'.repeat(64) } }),
    10,
  ],
  ['the head is gone', (log) => log.put({ id: WORKSPACE, doc: null }), 1],
]

describe('the chain of the activity log', () => {
  test('is SHA-256 over the previous hash and the entry’s canonical JSON, so that anybody can recompute it', async () => {
    const { store } = await createActivityLog(12)
    const { data } = await runQuery<Page>(listActivity, store)
    let previous = ''
    for (const { hash, ...entry } of data.toReversed()) {
      const next = createHash('sha256')
        .update(previous + canonicalJson(entry))
        .digest('hex')
      expect(hash).toBe(next)
      previous = next
    }
    expect(await runQuery(verifyActivity, store)).toEqual({ ok: true, entries: 12, head: previous, brokenAt: null })
  })

  test('is over canonical JSON, which does not depend on the order of fields', () => {
    expect(canonicalJson({ b: [1, { d: null, c: 'é"' }], a: true })).toBe('{"a":true,"b":[1,{"c":"é\\"","d":null}]}')
  })

  test('is valid over more entries than one batch, and empty for an unknown workspace', async () => {
    const log = await createActivityLog(2 * ACTIVITY.verifyBatch + 5)
    expect(await log.check()).toMatchObject({ entries: 2 * ACTIVITY.verifyBatch + 5, broken: null })
    expect(await runQuery(verifyActivity, log.store, { workspaceId: idOf(5) })).toEqual({
      ok: true,
      entries: 0,
      head: null,
      brokenAt: null,
    })
  })

  test('is broken by a forged entry right after a batch', async () => {
    for (const id of [idOf(1), 'ffffffff-0000-7000-8000-000000000000']) {
      const log = await createActivityLog(ACTIVITY.verifyBatch + 5)
      await log.put({ id, doc: { ...log.row(ACTIVITY.verifyBatch).doc, summary: 'Forged.' } })
      expect((await log.check()).broken).toMatchObject({ seq: ACTIVITY.verifyBatch })
    }
  })

  test.each(tampering)('is broken when %s', async (_what, tamper, place) => {
    const log = await createActivityLog(10)
    await tamper(log)
    const { broken, entries } = await log.check()
    expect(broken?.seq).toBe(place)
    expect(entries).toBeLessThanOrEqual(10)
    expect(await runQuery(verifyActivity, log.store)).toMatchObject({
      ok: false,
      brokenAt: { id: expect.stringMatching(/^[0-9a-f-]{36}$/) },
    })
  })

  test('is checked in a window together with its neighbours, and counts only entries of the window', async () => {
    const log = await createActivityLog(10)
    const window = { from: minuteOf(3), to: minuteOf(6) }
    expect(await log.check(window)).toMatchObject({ entries: 3, broken: null, last: { seq: 6 } })
    expect(await log.check({ from: minuteOf(3) })).toMatchObject({ entries: 7, broken: null, last: { seq: 10 } })
    expect(await log.check({ to: minuteOf(3) })).toMatchObject({ entries: 3, broken: null, last: { seq: 3 } })
    expect(await log.check({ from: minuteOf(20) })).toMatchObject({ entries: 0, broken: null, last: null })
    await log.put({ ...log.row(9), doc: { ...log.row(9).doc, summary: 'Nothing.' } })
    expect((await log.check(window)).broken).toBeNull()
    expect((await log.check({ from: minuteOf(8) })).broken).toMatchObject({ seq: 9 })
  })

  test.each([1, 4, 5, 6, 7, 10])('is broken in a window whose entry %i is missing, even the only one', async (n) => {
    const log = await createActivityLog(10)
    await log.put({ ...log.row(n), doc: null })
    expect((await log.check({ from: minuteOf(n - 1), to: minuteOf(n) })).broken).not.toBeNull()
    expect((await log.check({ from: minuteOf(n - 1) })).broken).not.toBeNull()
    expect((await log.check({ to: minuteOf(n) })).broken).not.toBeNull()
  })

  test('ignores entries beyond the head, which are being written', async () => {
    const log = await createActivityLog(10)
    const head = { ...log.row(9).doc, head: true }
    await log.put({ id: WORKSPACE, doc: head })
    expect(await runQuery(verifyActivity, log.store)).toMatchObject({ ok: true, entries: 9 })
    expect(await runQuery<Page>(listActivity, log.store)).toMatchObject({ total: 9 })
  })
})

describe('an export of the activity log', () => {
  const taken = async (log: Log, query: object) => {
    const sizes: number[] = []
    const ids = new Set<string>()
    for await (const batch of activityBatches(log.store, WORKSPACE, activityExportQuery.parse(query))) {
      sizes.push(batch.length)
      for (const { id } of batch) ids.add(id)
    }
    return { sizes, ids }
  }

  test('returns the newest entries up to the limit, in batches', async () => {
    const log = await createActivityLog(EXPORT.activity.default + 1)
    const usual = await taken(log, {})
    expect(usual.ids.size).toBe(EXPORT.activity.default)
    expect(Math.max(...usual.sizes)).toBe(EXPORT.batch)
    expect(usual.ids.has(log.row(1).id)).toBe(false)
    expect((await taken(log, { limit: String(EXPORT.activity.max) })).ids.size).toBe(EXPORT.activity.default + 1)
    expect((await taken(log, { limit: '3' })).ids).toEqual(new Set([10_001, 10_000, 9_999].map((n) => log.row(n).id)))
    expect((await taken(log, { from: minuteOf(10_000) })).ids.size).toBe(1)
  })

  test('is refused for a limit above the maximum, or of 0', () => {
    for (const limit of ['0', '-1', '1.5', 'x', String(EXPORT.activity.max + 1)])
      expect(activityExportQuery.safeParse({ limit }).success, limit).toBe(false)
    for (const limit of ['1', String(EXPORT.activity.max)])
      expect(activityExportQuery.safeParse({ limit }).success).toBe(true)
  })

  test('is not shifted by new entries', async () => {
    const store = createMemoryReadStore()
    const events = recordedMinutely(buyerChanges(EXPORT.batch + 10))
    await fillStore(store, [activity], events.slice(0, -5))
    const batches = activityBatches(store, WORKSPACE, activityExportQuery.parse({}))
    const first = await batches.next()
    const { collection, checkpoint } = buildNames(activity)
    await store.drop(collection, checkpoint)
    await fillStore(store, [activity], events)
    const second = await batches.next()
    const seen = [...(first.value ?? []), ...(second.value ?? [])].map(({ id }) => id)
    expect(new Set(seen).size).toBe(EXPORT.batch + 5)
  })
})
