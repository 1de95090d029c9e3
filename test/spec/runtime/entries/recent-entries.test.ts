import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Entries } from '../../../../src/ports/operational-store.ts'
import { openEntryCache } from '../../../../src/runtime/entries/entry-cache.ts'
import { createManualClock } from '../../../support/memory/clock.ts'
import { createMemoryOperationalStore } from '../../../support/memory/operational-store.ts'

const START = 1_000

async function setUp(max: number) {
  const clock = createManualClock(START)
  const memory = createMemoryOperationalStore()
  const reads: string[] = []
  const ops: typeof memory = {
    ...memory,
    async get(key, now) {
      reads.push(key)
      return memory.get(key, now)
    },
  }
  const open = () => openEntryCache({ ops, clock }, ['a:'], { prefixes: ['r:'], max })
  return { clock, ops, reads, open }
}

test('entries that were used last are read from memory, the others from the store', async () => {
  const { clock, ops, reads, open } = await setUp(2)
  for (const key of ['r:1', 'r:2', 'r:3']) await ops.put(key, key, null)
  const cache = await open()
  expect(reads).toEqual([])
  for (const key of ['r:1', 'r:1', 'r:2', 'r:3', 'r:1'])
    expect(await cache.get(key, START)).toMatchObject({ value: key })
  expect(reads).toEqual(['r:1', 'r:2', 'r:3', 'r:1'])
  expect(await cache.get('r:4', START)).toBeNull()
  await clock.advance(10)
})

test('what is not stored yet is seen though it is no longer kept', async () => {
  const { clock, ops, open } = await setUp(1)
  const cache = await open()
  await cache.put('r:1', 'new', null)
  await cache.put('r:2', 'other', null)
  expect(await cache.get('r:1', START)).toMatchObject({ value: 'new' })
  await clock.advance(50)
  expect(await ops.get('r:1', START)).toMatchObject({ value: 'new' })
})

test('of two that set an entry at the same time one does, whether it is kept or read', async () => {
  const { ops, open } = await setUp(1)
  await ops.put('r:1', 0, null)
  const cache = await open()
  const version = (await cache.get('r:1', START))?.version ?? 0
  await cache.get('r:2', START)
  const set = (value: number) => cache.putIf('r:1', version, value, null, START)
  // It was read anew, and has another version.
  expect(await Promise.all([set(1), set(2)])).toEqual([false, false])
  const again = (await cache.get('r:1', START))?.version ?? 0
  expect(await Promise.all([1, 2].map((value) => cache.putIf('r:1', again, value, null, START)))).toEqual([true, false])
  expect(await Promise.all([1, 2].map((value) => cache.putIf('r:9', 0, value, null, START)))).toEqual([true, false])
})

const key = fc.constantFrom('r:1', 'r:2', 'r:3')
const expiresAt = fc.option(fc.integer({ min: START - 1, max: START + 1 }), { nil: null })
const step = fc.oneof(
  fc.record({ kind: fc.constant('put' as const), key, value: fc.integer(), expiresAt }),
  fc.record({ kind: fc.constant('set' as const), key, value: fc.integer(), expiresAt, isCurrent: fc.boolean() }),
  fc.record({ kind: fc.constant('delete' as const), key }),
)

test('answers as the store does, however few are kept', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step), fc.integer({ min: 1, max: 3 }), async (steps, max) => {
      const { clock, ops, open } = await setUp(max)
      const [cache, plain] = [await open(), createMemoryOperationalStore()]
      const run = async (entries: Pick<Entries, 'get' | 'put' | 'putIf' | 'delete'>, one: (typeof steps)[number]) => {
        if (one.kind === 'put') return entries.put(one.key, one.value, one.expiresAt)
        if (one.kind === 'delete') return entries.delete(one.key)
        const version = (await entries.get(one.key, START))?.version ?? 0
        return entries.putIf(one.key, one.isCurrent ? version : -1, one.value, one.expiresAt, START)
      }
      for (const one of steps) expect(await run(cache, one)).toBe(await run(plain, one))
      const done = cache.stored()
      for (let group = 0; group < 3; group++) await clock.advance(10)
      await done
      for (const id of ['r:1', 'r:2', 'r:3']) {
        const { value } = (await plain.get(id, START)) ?? { value: null }
        expect((await cache.get(id, START))?.value ?? null).toBe(value)
        expect((await ops.get(id, START))?.value ?? null).toBe(value)
      }
    }),
  )
})
