import { mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { openSqliteReadStore } from '../../src/adapters/sqlite/read-store.ts'
import type { Derivation, Doc, DocumentWrite, ReadStore, StoredDocument } from '../../src/ports/read-store.ts'
import { wholeCheckpoint } from '../support/memory/ownership.ts'

const MEBIBYTE = 1_048_576
const DOCUMENTS = 30

let directory: string
let path: string
let store: ReadStore

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'views-'))
  path = join(directory, 'views.db')
  store = await openSqliteReadStore(path)
})

afterEach(async () => {
  await store.close()
  await rm(directory, { recursive: true })
})

async function put(name: string, documents: readonly Doc[]): Promise<void> {
  await store.ensure([{ name: `${name}_v1`, indexes: [{ kind: 1 }], columns: [] }])
  const writes = documents.map((doc, n): DocumentWrite => ({ collection: `${name}_v1`, id: `${n}`, position: n, doc }))
  const next = { position: documents.length, at: null }
  await store.commit(writes, { name: wholeCheckpoint(`${name}@1`), expected: null, next })
}

test('others are served while a large collection is dropped', async () => {
  await put(
    'many',
    Array.from({ length: 3_000 }, (_, kind) => ({ kind })),
  )
  await put('kept', [{ kind: 1 }])
  const order: string[] = []
  const dropping = store.drop('many_v1', 'many@1').then(() => order.push('dropped'))
  expect(await store.get('kept_v1', '0')).not.toBeNull()
  order.push('served')
  await dropping
  expect(order).toEqual(['served', 'dropped'])
  expect(await store.collections()).toEqual(['kept_v1'])
})

test('what many writes leave in the write-ahead log is moved into the file while the store is open', async () => {
  const text = 'x'.repeat(MEBIBYTE / 10)
  await put(
    'notes',
    Array.from({ length: DOCUMENTS }, () => ({ text })),
  )
  const isMoved = async () => expect((await stat(path)).size).toBeGreaterThan((DOCUMENTS * MEBIBYTE) / 10)
  await vi.waitFor(isMoved, { timeout: 10_000, interval: 20 })
  expect(await store.count('notes_v1', {})).toBe(DOCUMENTS)
})

const SHARED = { name: 'shared_v1', indexes: [], columns: ['buyer', 'live'], shared: ['buyer', 'live'] }

/** Commits documents, each with its id as its number, behind those before. */
async function commit(to: ReadStore, from: number, documents: readonly Doc[], collection = SHARED.name) {
  const writes = documents.map((doc, n): DocumentWrite => ({ collection, id: `${from + n}`, position: from + n, doc }))
  const next = { position: from + documents.length, at: null }
  return to.commit(writes, { name: wholeCheckpoint('shared@1'), expected: from === 0 ? null : from, next })
}

const selected = (from: ReadStore) =>
  from.select(SHARED.name, ['_id', 'buyer', 'live'], { filter: {}, sort: { _id: 1 } })

test('values that documents share are read as they were written, by every connection', async () => {
  const other = await openSqliteReadStore(path, { follows: true })
  await store.ensure([SHARED])
  await commit(store, 0, [{ buyer: 'a', live: true }, { buyer: 'b', live: false }, { live: null }])
  await commit(other, 3, [{ buyer: 'c', live: true }, { buyer: 'a' }])
  const texts = [
    ['0', 'a', true],
    ['1', 'b', false],
    ['2', null, null],
    ['3', 'c', true],
    ['4', 'a', null],
  ]
  for (const each of [store, other]) expect(await selected(each)).toEqual(texts)
  // Neither number nor list can be read by a code.
  await commit(store, 5, [{ buyer: 7, live: ['a'] }])
  for (const each of [store, other]) expect(await selected(each)).toEqual([...texts, ['5', 7, undefined]])
  await other.close()
})

test('a text of a commit that failed is stored again with the next one', async () => {
  const other = await openSqliteReadStore(path)
  await store.ensure([SHARED])
  await commit(store, 0, [{ buyer: 'first' }])
  const lost = [
    { collection: SHARED.name, id: 'lost', position: 1, doc: { buyer: 'second' } },
    { collection: 'missing_v1', id: 'lost', position: 1, doc: {} },
  ]
  const move = { name: wholeCheckpoint('shared@1'), expected: 1, next: { position: 2, at: null } }
  await expect(store.commit(lost, move)).rejects.toThrow('missing_v1')
  await commit(other, 1, [{ buyer: 'third' }])
  await commit(store, 2, [{ buyer: 'second' }])
  const buyers = [['first'], ['third'], ['second']]
  for (const each of [store, other])
    expect(await each.select(SHARED.name, ['buyer'], { filter: {}, sort: { _id: 1 } })).toEqual(buyers)
  await other.close()
})

test('values of a collection that stands are shared from when it is asked for', async () => {
  await store.ensure([{ ...SHARED, shared: [] }])
  const documents = [{ buyer: 'a', live: true }, { buyer: null, live: false }, { buyer: 'a' }]
  await commit(store, 0, documents)
  const before = await selected(store)
  await store.ensure([SHARED])
  expect(await selected(store)).toEqual(before)
  await commit(store, 3, [{ buyer: 'b', live: ['x'] }])
  expect(await selected(store)).toEqual([...before, ['3', 'b', undefined]])
})

const CACHED_BYTES = 24 * MEBIBYTE
/** What the objects that hold a row count for. */
const OVERHEAD = 600

/** Reads a page of rows of a number of bytes each; the result is the row of each document, and how many were made for it. */
function rowsOf(bytes: number) {
  let made = 0
  const derivation: Derivation<number> = {
    of({ position }: StoredDocument) {
      made += 1
      return position
    },
    bytesOf: () => bytes,
  }
  return async (limit: number) => {
    const before = made
    const found = await store.findDerived('some_v1', { filter: {}, limit }, derivation)
    return { rows: found.map(({ value }) => value), made: made - before }
  }
}

const documents = (count: number) => Array.from({ length: count }, (_, kind) => ({ kind }))

test('what another connection defines, fills with lists, drops and defines again is found from then on', async () => {
  const other = await openSqliteReadStore(path, { follows: true })
  const found = async (name: string, kind: string) => {
    const documents = await other.find(`${name}_v1`, { filter: { kind } })
    return documents.map(({ id }) => id)
  }
  expect(await found('some', 'a')).toEqual([])
  await put('some', [{ kind: 'a' }, { kind: 'b' }])
  expect(await found('some', 'a')).toEqual(['0'])
  // From here on the path holds lists, of which each value is found.
  const checkpoint = { name: wholeCheckpoint('some@1'), expected: 2, next: { position: 3, at: null } }
  await store.commit([{ collection: 'some_v1', id: '2', position: 3, doc: { kind: ['a', 'c'] } }], checkpoint)
  expect([await found('some', 'a'), await found('some', 'c')]).toEqual([['0', '2'], ['2']])
  await store.drop('some_v1', wholeCheckpoint('some@1'))
  expect(await found('some', 'a')).toEqual([])
  await put('some', [{ kind: 'b' }])
  expect([await found('some', 'a'), await found('some', 'b')]).toEqual([[], ['0']])
  // One goes and another comes between two reads, with as many lists as it had.
  await store.drop('some_v1', wholeCheckpoint('some@1'))
  await put('more', [{ kind: 'b' }])
  expect(await found('more', 'b')).toEqual(['0'])
  await other.close()
})

test('a row is made once for each position of its document', async () => {
  await put('some', documents(3))
  const read = rowsOf(1_000)
  expect(await read(3)).toEqual({ rows: [0, 1, 2], made: 3 })
  expect(await read(3)).toEqual({ rows: [0, 1, 2], made: 0 })
  const checkpoint = { name: wholeCheckpoint('some@1'), expected: 3, next: { position: 9, at: null } }
  await store.commit([{ collection: 'some_v1', id: '1', position: 9, doc: { kind: 1 } }], checkpoint)
  expect(await read(3)).toEqual({ rows: [0, 9, 2], made: 1 })
})

test('the rows of pages of 200 are cached, those of longer ones are not', async () => {
  await put('some', documents(201))
  const read = rowsOf(1_000)
  await read(200)
  expect(await read(200)).toMatchObject({ made: 0 })
  expect(await read(201)).toMatchObject({ made: 201 })
})

test('the cached rows of a list take 24 MiB at most', async () => {
  await put('some', documents(2))
  const [half, more] = [rowsOf(CACHED_BYTES / 2 - OVERHEAD), rowsOf(CACHED_BYTES / 2 - OVERHEAD + 1)]
  await half(2)
  expect(await half(2)).toMatchObject({ made: 0 })
  await more(2)
  expect(await more(2)).toMatchObject({ made: 1 })
})
