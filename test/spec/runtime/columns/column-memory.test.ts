import { describe, expect, test } from 'vitest'
import { COLUMN_LIMITS } from '../../../../src/runtime/columns/column-spec.ts'
import { createColumnWorld, SMALL_LIMITS, WORLD_SPEC, type WorldCall } from '../../../support/fixtures/column-world.ts'

const SPEC = { ...WORLD_SPEC, removes: false }
const CALLS = 400
const workspaces = Array.from({ length: 6 }, (_, n) => `w-${n}`)

const callsOf = (workspaceId: string): readonly WorldCall[] =>
  Array.from({ length: CALLS }, (_, n) => ({
    workspaceId,
    seq: n + 1,
    cents: n,
    talk: n % 7,
    buyer: n % 3 === 0 ? 'a' : 'b',
    status: 'done',
  }))

/** A world of six workspaces with segments on disk, and the sum that each is asked for. */
async function openWorld() {
  const world = createColumnWorld(SPEC)
  for (const workspaceId of workspaces) await world.put(callsOf(workspaceId))
  const ask = (store: ReturnType<typeof world.open>, workspaceId: string) =>
    store.sum(world.collection(), { workspaceId, 'buyer.id': 'b' }, ['status'], ['cents', 'talk'])
  const first = world.open()
  for (const workspaceId of workspaces) await ask(first, workspaceId)
  await first.settled()
  return { world, ask }
}

/** Bytes that one question loads of each workspace: two numbers of 2 bytes and 1, two codes of 1 for each call. */
const LEAST = CALLS * 3

describe('columns in memory', () => {
  test('are loaded by need: only the columns that a question needs, and none twice', async () => {
    const { world, ask } = await openWorld()
    const store = world.open({ ...SMALL_LIMITS, memoryBytes: COLUMN_LIMITS.memoryBytes })
    await store.count(world.collection(), { workspaceId: 'w-0' })
    const opened = world.files.bytesRead()
    await store.count(world.collection(), { workspaceId: 'w-0' })
    expect(world.files.bytesRead()).toBe(opened)
    await ask(store, 'w-0')
    const loaded = world.files.bytesRead() - opened
    expect(loaded).toBeGreaterThanOrEqual(LEAST)
    expect(loaded).toBeLessThan(CALLS * 8)
    await ask(store, 'w-0')
    expect(world.files.bytesRead() - opened).toBe(loaded)
  })

  test('stay when all fit under the bound', async () => {
    const { world, ask } = await openWorld()
    const store = world.open({ ...SMALL_LIMITS, memoryBytes: 16 * 1024 * 1024 })
    for (const workspaceId of workspaces) await ask(store, workspaceId)
    const read = world.files.bytesRead()
    for (const workspaceId of workspaces) await ask(store, workspaceId)
    expect(world.files.bytesRead()).toBe(read)
  })

  test('never pass the bound, and make room for what is asked now', async () => {
    const { world, ask } = await openWorld()
    const whole = world.open({ ...SMALL_LIMITS, memoryBytes: 64 * 1024 * 1024 })
    const expected = new Map<string, Awaited<ReturnType<typeof ask>>>()
    for (const workspaceId of workspaces) expected.set(workspaceId, await ask(whole, workspaceId))
    const memoryBytes = Math.floor(whole.columnBytes() / 3)
    const store = world.open({ ...SMALL_LIMITS, memoryBytes })
    let most = 0
    for (let round = 0; round < 2; round++) {
      for (const workspaceId of workspaces) {
        expect(await ask(store, workspaceId)).toEqual(expected.get(workspaceId))
        most = Math.max(most, store.columnBytes())
      }
    }
    expect(most).toBeLessThanOrEqual(memoryBytes)
    expect(most).toBeGreaterThan(memoryBytes / 2)
    const read = world.files.bytesRead()
    await ask(store, 'w-5')
    expect(world.files.bytesRead()).toBe(read)
    await ask(store, 'w-0')
    expect(world.files.bytesRead()).toBeGreaterThan(read)
  })

  test('count the rows that are in no segment', async () => {
    const world = createColumnWorld(SPEC)
    const store = world.open({ ...SMALL_LIMITS, mergeRows: 10_000, memoryBytes: 64 * 1024 * 1024 })
    await store.count(world.collection(), { workspaceId: 'w-0' })
    const empty = store.columnBytes()
    await world.put(callsOf('w-0'))
    expect(await store.count(world.collection(), { workspaceId: 'w-0' })).toBe(CALLS)
    expect(store.columnBytes() - empty).toBeGreaterThan(CALLS * 8 * 4)
    expect(world.files.stored.size).toBe(0)
  })
})
