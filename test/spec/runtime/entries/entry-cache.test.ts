import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Entries } from '../../../../src/ports/operational-store.ts'
import { StoreUnavailable } from '../../../../src/ports/read-store.ts'
import { openEntryCache } from '../../../../src/runtime/entries/entry-cache.ts'
import { createManualClock, type ManualClock } from '../../../support/memory/clock.ts'
import { createMemoryOperationalStore } from '../../../support/memory/operational-store.ts'

const START = 1_000
const GROUP_MS = 10

/** A cache over a store whose writes are counted, and fail on demand. */
async function setUp() {
  const clock = createManualClock(START)
  const memory = createMemoryOperationalStore()
  const stored: string[] = []
  const fault = { isDown: false }
  const writeAll: typeof memory.writeAll = async (writes) => {
    if (fault.isDown) throw new StoreUnavailable('The store is unavailable.')
    stored.push(...writes.map(({ key }) => key))
    await memory.writeAll(writes)
  }
  const ops = { ...memory, writeAll }
  return { clock, ops, stored, fault, open: () => openEntryCache({ ops, clock }, ['a:', 'b:']) }
}

/** Waits until every write is stored, however many groups they make. */
async function store(cache: Entries, clock: ManualClock): Promise<void> {
  const done = cache.stored()
  // Whoever waits sees the error.
  done.catch(() => undefined)
  for (let group = 0; group < 3; group++) await clock.advance(GROUP_MS)
  await done
}

const valuesOf = async (entries: Pick<Entries, 'list'>, prefix: string) =>
  (await entries.list(prefix, START)).map(({ key, value }) => [key, value])

test('a write is seen at once, and by the next process once it is stored', async () => {
  const { clock, ops, open } = await setUp()
  const cache = await open()
  await cache.put('a:1', { n: 1 }, null)
  await cache.put('a:2', 2, null)
  expect(await valuesOf(cache, 'a:')).toEqual([
    ['a:1', { n: 1 }],
    ['a:2', 2],
  ])
  expect(await valuesOf(ops, 'a:')).toEqual([['a:1', { n: 1 }]])
  await store(cache, clock)
  expect(await valuesOf(await open(), 'a:')).toEqual([
    ['a:1', { n: 1 }],
    ['a:2', 2],
  ])
})

test('opens with the entries of its prefixes alone', async () => {
  const { ops, open } = await setUp()
  for (const key of ['a:1', 'b:x:2', 'c:3']) await ops.put(key, key, null)
  const cache = await open()
  expect(await cache.get('b:x:2', START)).toMatchObject({ value: 'b:x:2' })
  expect(await cache.get('c:3', START)).toBeNull()
})

test('writes that follow each other are stored together, of one entry the last', async () => {
  const { clock, ops, stored, open } = await setUp()
  const cache = await open()
  await cache.put('a:1', 1, null)
  await cache.stored()
  for (const n of [2, 3]) await cache.put('a:1', n, null)
  await cache.put('a:2', 2, null)
  const done = cache.stored()
  await clock.advance(GROUP_MS - 1)
  expect(stored).toEqual(['a:1'])
  await clock.advance(1)
  await done
  expect(stored).toEqual(['a:1', 'a:1', 'a:2'])
  expect(await ops.get('a:1', START)).toMatchObject({ value: 3 })
})

test('what could not be stored is stored by the next try, unless it was written again', async () => {
  const { clock, ops, fault, open } = await setUp()
  const cache = await open()
  fault.isDown = true
  await cache.put('a:1', 'old', null)
  await cache.put('a:2', 'kept', null)
  await expect(store(cache, clock)).rejects.toThrow(StoreUnavailable)
  await cache.put('a:1', 'new', null)
  fault.isDown = false
  await store(cache, clock)
  expect(await valuesOf(ops, 'a:')).toEqual([
    ['a:1', 'new'],
    ['a:2', 'kept'],
  ])
})

test('an expired entry is absent, and its key is free', async () => {
  const { open } = await setUp()
  const cache = await open()
  await cache.put('a:1', 1, START + 5)
  expect(await cache.get('a:1', START + 4)).not.toBeNull()
  expect(await cache.get('a:1', START + 5)).toBeNull()
  expect(await cache.list('a:', START + 5)).toEqual([])
  expect(await cache.putIf('a:1', 0, 2, null, START + 4)).toBe(false)
  expect(await cache.putIf('a:1', 0, 2, null, START + 5)).toBe(true)
})

test('removes what has expired as more is written', async () => {
  const { clock, open } = await setUp()
  const cache = await open()
  for (let n = 0; n < 500; n++) await cache.put(`a:${n}`, n, START + 1)
  await clock.advance(1)
  for (let n = 500; n < 1_000; n++) await cache.put(`a:${n}`, n, null)
  // As it was before they expired.
  expect(await cache.list('a:', START)).toHaveLength(500)
})

test('lists by group alone', async () => {
  const cache = await (await setUp()).open()
  await expect(cache.list('a:1', START)).rejects.toThrow('a:1 ends with no colon')
})

const key = fc.constantFrom('a:1', 'a:2', 'a:x:1', 'b:1')
const expiry = fc.option(fc.integer({ min: START - 1, max: START + 1 }), { nil: null })
const step = fc.oneof(
  fc.record({ kind: fc.constant('put' as const), key, value: fc.integer(), expiresAt: expiry }),
  fc.record({
    kind: fc.constant('putIf' as const),
    key,
    version: fc.integer({ min: 0, max: 2 }),
    value: fc.integer(),
    expiresAt: expiry,
  }),
  fc.record({ kind: fc.constant('delete' as const), key }),
)

test('answers as the store does, and stores the same', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step), async (steps) => {
      const { clock, ops, open } = await setUp()
      const [cache, plain] = [await open(), createMemoryOperationalStore()]
      const run = (entries: Pick<Entries, 'put' | 'putIf' | 'delete'>, one: (typeof steps)[number]) => {
        if (one.kind === 'put') return entries.put(one.key, one.value, one.expiresAt)
        if (one.kind === 'delete') return entries.delete(one.key)
        return entries.putIf(one.key, one.version, one.value, one.expiresAt, START)
      }
      for (const one of steps) expect(await run(cache, one)).toBe(await run(plain, one))
      await store(cache, clock)
      for (const prefix of ['a:', 'a:x:', 'b:']) {
        const group = (await plain.list(prefix, START)).filter(
          (entry) => entry.key.lastIndexOf(':') === prefix.length - 1,
        )
        const listed = group.map((entry) => [entry.key, entry.value])
        expect(await valuesOf(cache, prefix)).toEqual(listed)
      }
      expect(await valuesOf(ops, '')).toEqual(await valuesOf(plain, ''))
    }),
  )
})

test('a large group is listed in the order of its keys, and shrinks again', async () => {
  const { open } = await setUp()
  const cache = await open()
  const keys = Array.from({ length: 40 }, (_, n) => `a:${String(n).padStart(2, '0')}`)
  for (const key of keys.toReversed()) await cache.put(key, key, null)
  const listed = async () => (await cache.list('a:', START)).map(({ key }) => key)
  expect(await listed()).toEqual(keys)
  expect(await cache.putIf('a:07', 1, 'again', null, START)).toBe(true)
  expect(await cache.get('a:07', START)).toMatchObject({ value: 'again', version: 2 })
  for (const key of keys.slice(2)) await cache.delete(key)
  expect(await listed()).toEqual(keys.slice(0, 2))
  for (const key of keys.slice(0, 2)) await cache.delete(key)
  expect(await listed()).toEqual([])
})
