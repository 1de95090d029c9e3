import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { partitionOf } from '../../../../src/kernel/partition.ts'
import type { Doc, DocumentWrite, Filter, ReadStore } from '../../../../src/ports/read-store.ts'
import type { ColumnSpec } from '../../../../src/runtime/columns/column-spec.ts'
import { withColumns } from '../../../../src/runtime/columns/column-store.ts'
import { folderOf, MANIFEST } from '../../../../src/runtime/columns/manifest.ts'
import { withFaults } from '../../../support/faults/with-faults.ts'
import { columnParts } from '../../../support/fixtures/column-parts.ts'
import { createManualClock } from '../../../support/memory/clock.ts'
import { wholeCheckpoint } from '../../../support/memory/ownership.ts'
import { createMemoryReadStore } from '../../../support/memory/read-store.ts'

const spec: ColumnSpec = {
  collection: 'calls_v1',
  key: 'seq',
  time: 'at',
  removes: false,
  columns: {
    at: 'number',
    cents: 'number',
    talk: 'number',
    'buyer.id': 'code',
    status: 'code',
    live: 'code',
    hour: 'code',
  },
  derived: {
    margin: { plus: 'cents', minus: 'talk' },
    steps: { of: 'status', numbers: { open: 1, done: 3 } },
  },
}

const CHECKPOINT = wholeCheckpoint('calls@1')

const STEPS: ReadonlyMap<unknown, number> = new Map([
  ['open', 1],
  ['done', 3],
])
const read = fc.record({
  workspaceId: fc.constantFrom('w1', 'w2'),
  seq: fc.integer({ min: 1, max: 40 }),
  at: fc.integer({ min: 0, max: 20 }),
  cents: fc.option(fc.integer({ min: -5, max: 5 })),
  talk: fc.double({ min: 0, max: 4, noNaN: true }).map((n) => Math.round(n * 4) / 4),
  buyer: fc.option(fc.record({ id: fc.constantFrom('a', 'b', '\u{1F600}', '\uFFFD') })),
  status: fc.constantFrom('open', 'done', null, 1, true),
  live: fc.boolean(),
  hour: fc.integer({ min: 0, max: 3 }),
})

const doc = read.map((one) => ({
  ...one,
  margin: (one.cents ?? 0) - one.talk,
  steps: STEPS.get(one.status) ?? 0,
}))

const scalar = fc.constantFrom('a', 'b', '\u{1F600}', 'open', 'done', 0, 1, 3, -2, 10, true, false, null)
const bound = fc.constantFrom<string | number>('a', 'b', '\uFFFD', 0, 1, 3, -2, 10)
const conditions = fc
  .record(
    {
      $eq: scalar,
      $ne: scalar,
      $in: fc.array(scalar, { maxLength: 3 }),
      $nin: fc.array(scalar, { maxLength: 3 }),
      $gt: bound,
      $gte: bound,
      $lt: bound,
      $lte: bound,
    },
    { requiredKeys: [] },
  )
  .map((record) => Object.fromEntries(Object.entries(record).slice(0, 2)))
const path = fc.constantFrom(...Object.keys({ ...spec.columns, ...spec.derived }), 'unknown')
const part: fc.Arbitrary<Filter> = fc
  .tuple(path, fc.oneof(scalar, conditions))
  .map(([name, condition]): Filter => ({ [name]: condition }))
const filter = fc
  .tuple(fc.constantFrom('w1', 'w2', 'w3'), fc.array(part, { maxLength: 3 }))
  .map(([workspaceId, parts]): Filter => ({ workspaceId, $and: parts }))
const groupBy = fc.subarray(['buyer.id', 'status', 'hour', 'live', 'cents'], { maxLength: 3 })
const fields = fc.subarray(['cents', 'talk', 'at', 'margin', 'steps', 'unknown'])

function writer(store: ReadStore) {
  let position = 0
  let checkpoint: number | null = null
  return async (docs: readonly Doc[]) => {
    const writes = docs.map((one): DocumentWrite => {
      position += 1
      return { collection: spec.collection, id: `${one.workspaceId}:${one.seq}`, doc: one, position }
    })
    const next = { position, at: null }
    await store.commit(writes, { name: CHECKPOINT, expected: checkpoint, next })
    checkpoint = position
  }
}

const sorted = (groups: Awaited<ReturnType<ReadStore['sum']>>) =>
  groups.toSorted((a, b) => (JSON.stringify(a.key) < JSON.stringify(b.key) ? -1 : 1))

describe('columns', () => {
  test('give the same answers as the store, for any documents, changes, filters and groups', () =>
    fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(doc, { maxLength: 30 }), { minLength: 1, maxLength: 3 }),
        fc.array(fc.tuple(filter, groupBy, fields), { minLength: 1, maxLength: 6 }),
        async (batches, questions) => {
          const store = createMemoryReadStore()
          const columns = withColumns(store, columnParts([spec]))
          const write = writer(columns)
          for (const batch of batches) {
            await write(batch)
            for (const [wanted, groups, sums] of questions) {
              expect(sorted(await columns.sum(spec.collection, wanted, groups, sums))).toEqual(
                sorted(await store.sum(spec.collection, wanted, groups, sums)),
              )
              expect(await columns.count(spec.collection, wanted)).toBe(await store.count(spec.collection, wanted))
            }
          }
        },
      ),
      { numRuns: 200 },
    ))

  test('read the store again only after the projection has written', async () => {
    const store = createMemoryReadStore()
    let looks = 0
    const watched = withFaults<ReadStore>(
      store,
      () => new Error('never'),
      (method) => {
        if (method === 'select') looks += 1
        return undefined
      },
    )
    let moves = 0
    const requests: string[] = []
    const columns = withColumns(watched, {
      ...columnParts([spec]),
      changesOf(projection, workspaceId) {
        requests.push(`${projection} ${workspaceId}`)
        return moves
      },
    })
    const write = writer(store)
    const row = { workspaceId: 'w1', at: 1, cents: 2, talk: 1, status: 'open', live: true, hour: 1 }
    const count = () => columns.count(spec.collection, { workspaceId: 'w1' })
    await write([{ ...row, seq: 1 }])
    expect(await count()).toBe(1)
    const before = looks
    expect(await count()).toBe(1)
    expect(looks).toBe(before)
    await write([{ ...row, seq: 2 }])
    moves += 1
    expect(await count()).toBe(2)
    expect(looks).toBeGreaterThan(before)
    expect(new Set(requests)).toEqual(new Set(['calls w1']))
  })

  test('answer the queries that they support, and leave the others to the store', async () => {
    const store = createMemoryReadStore()
    let requests = 0
    const watched = withFaults<ReadStore>(
      store,
      () => new Error('never'),
      (method) => {
        if (method === 'sum' || method === 'count') requests += 1
        return undefined
      },
    )
    const columns = withColumns(watched, columnParts([spec]))
    await writer(store)([{ workspaceId: 'w1', seq: 1, at: 1, cents: 2, talk: 1, status: 'open', live: true, hour: 1 }])
    const own: readonly Filter[] = [
      { workspaceId: 'w1' },
      { workspaceId: 'w1', at: { $gte: 0, $lt: 9 }, status: { $in: ['open', null] }, 'buyer.id': null },
      { $and: [{ workspaceId: { $eq: 'w1' } }, { cents: { $ne: 5 } }] },
    ]
    for (const one of own) {
      expect(await columns.count(spec.collection, one)).toBe(1)
      expect(await columns.sum(spec.collection, one, [], ['cents'])).toEqual([{ key: [], count: 1, sums: [2] }])
    }
    expect(requests).toBe(0)
    const others: readonly Filter[] = [
      {},
      { workspaceId: 'w1', $or: [{ status: 'open' }] },
      { workspaceId: 'w1', status: { $regex: 'open' } },
      { workspaceId: 'w1', seq: 1 },
    ]
    for (const one of others) expect(await columns.count(spec.collection, one)).toBe(1)
    expect(requests).toBe(others.length)
  })

  test('include the documents of a batch that is not atomic as soon as they are visible, in any order', async () => {
    const store = createMemoryReadStore({ atomic: false })
    const columns = withColumns(store, columnParts([spec]))
    const one = (seq: number, cents: number): Doc => ({ workspaceId: 'w1', seq, at: 0, cents, talk: 0 })
    const put = (seq: number, position: number, cents: number, to: number | null) =>
      store.commit([{ collection: spec.collection, id: `${seq}`, doc: one(seq, cents), position }], {
        name: CHECKPOINT,
        // A checkpoint that nobody has leaves the document written and the checkpoint where it was.
        expected: to === null ? -99 : null,
        next: { position: to ?? 0, at: null },
      })
    const total = async () => (await columns.sum(spec.collection, { workspaceId: 'w1' }, [], ['cents']))[0]?.sums[0]
    expect(await columns.count(spec.collection, { workspaceId: 'w1' })).toBe(0)
    await put(2, 20, 5, null)
    expect(await total()).toBe(5)
    await put(1, 10, 7, 20)
    expect(await total()).toBe(12)
    await put(1, 30, 1, null)
    expect(await total()).toBe(6)
  })

  test("read again only what is past the range of the workspace's partition", async () => {
    const store = createMemoryReadStore()
    const asked: unknown[] = []
    const watched: ReadStore = {
      ...store,
      async select(collection, paths, page) {
        asked.push(page.filter._position)
        return store.select(collection, paths, page)
      },
    }
    const move = (range: string, position: number) =>
      store.commit([], { name: `calls@1/${range}`, expected: null, next: { position, at: null } })
    const isLow = partitionOf('w1') < 128
    await move('00-7f', isLow ? 9 : 5)
    await move('80-ff', isLow ? 5 : 9)
    const columns = withColumns(watched, columnParts([spec]))
    for (let n = 0; n < 2; n++) await columns.count(spec.collection, { workspaceId: 'w1' })
    expect(asked).toEqual([undefined, { $gt: 9 }, { $gt: 9 }])
  })

  test('load more documents than fit in one page, many of them at one position', async () => {
    const store = createMemoryReadStore()
    const writes = Array.from({ length: 12_000 }, (_, n): DocumentWrite => {
      const doc = { workspaceId: 'w1', seq: n + 1, at: n, cents: 1, talk: 0 }
      return { collection: spec.collection, id: `${n}`, doc, position: n < 11_000 ? 1 : n }
    })
    await store.commit(writes, { name: CHECKPOINT, expected: null, next: { position: 20_000, at: null } })
    const columns = withColumns(store, columnParts([spec]))
    expect(await columns.sum(spec.collection, { workspaceId: 'w1' }, [], ['cents'])).toEqual([
      { key: [], count: 12_000, sums: [12_000] },
    ])
  })

  test('leave a collection to the store when one of its documents does not fit the columns', async () => {
    const store = createMemoryReadStore()
    const columns = withColumns(store, columnParts([spec]))
    await writer(store)([{ workspaceId: 'w1', seq: 1, at: 1, cents: 'many', status: ['a'] }])
    expect(await columns.count(spec.collection, { workspaceId: 'w1', status: 'a' })).toBe(1)
  })
})

describe('columns of documents that expire', () => {
  const DAY = 86_400_000
  const expiring: ColumnSpec = {
    collection: 'pings_v1',
    key: 'seq',
    time: 'at',
    removes: false,
    retentionMs: 30 * DAY,
    columns: { at: 'number', cents: 'number' },
  }
  const limits = { memoryBytes: 65_536, segmentRows: 8, mergeRows: 4, pageRows: 3 }
  const start = Date.UTC(2026, 0, 5)

  async function storeOf(instants: readonly number[]) {
    const store = createMemoryReadStore()
    const writes = instants.map(
      (at, seq): DocumentWrite => ({
        collection: expiring.collection,
        id: `p${seq}`,
        position: seq,
        doc: { workspaceId: 'w1', seq, at, cents: 1 },
        expiresAt: at + 30 * DAY,
      }),
    )
    const next = { position: writes.length, at: null }
    await store.commit(writes, { name: wholeCheckpoint('pings@1'), expected: null, next })
    return store
  }
  const asked = [expiring.collection, { workspaceId: 'w1' }, [], ['cents']] as const

  test('answer without the store what has not expired by an instant, to the millisecond', async () => {
    const store = await storeOf(Array.from({ length: 6 }, (_, n) => start + n))
    const unasked: ReadStore = {
      ...store,
      sum: () => Promise.reject(new Error('The store was asked.')),
    }
    const columns = withColumns(unasked, { ...columnParts([expiring]), limits })
    expect(await columns.sum(...asked, start + 30 * DAY + 2)).toEqual([{ key: [], count: 3, sums: [3] }])
    await expect(columns.sum(...asked)).rejects.toThrow('The store was asked.')
  })

  test('drop the segments whose rows have all expired, when rows are merged', async () => {
    const store = await storeOf(Array.from({ length: 8 }, (_, n) => start + n * DAY))
    const parts = columnParts([expiring])
    const clock = createManualClock(start + 9 * DAY)
    const columns = withColumns(store, { ...parts, clock, limits })
    await columns.count(expiring.collection, { workspaceId: 'w1' }, clock.now())
    const months = async () =>
      (await parts.files.list(folderOf(expiring.collection, 'w1'))).filter((name) => name !== MANIFEST)
    const before = await months()
    expect(before.length).toBeGreaterThan(0)
    await clock.jump(60 * DAY)
    const late = Array.from({ length: 5 }, (_, n): DocumentWrite => {
      const [seq, at] = [100 + n, clock.now() - n]
      const doc = { workspaceId: 'w1', seq, at, cents: 1 }
      return { collection: expiring.collection, id: `p${seq}`, position: seq, doc, expiresAt: at + 30 * DAY }
    })
    const next = { position: 200, at: null }
    await store.commit(late, { name: wholeCheckpoint('pings@1'), expected: 8, next })
    expect(await columns.count(expiring.collection, { workspaceId: 'w1' }, clock.now())).toBe(5)
    await columns.settled()
    const after = await months()
    expect(after.filter((name) => before.includes(name))).toEqual([])
    expect(after).toHaveLength(1)
  })
})
