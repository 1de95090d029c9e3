import fc from 'fast-check'
import { Map as PersistentMap } from 'immutable'
import { expect, it } from 'vitest'
import { TOMBSTONE } from '../../../../../src/kernel/windowed-map.ts'
import { openBlock } from '../../../../../src/runtime/write/snapshots/block.ts'
import { createPace } from '../../../../../src/runtime/write/snapshots/pace.ts'
import { type PackedBlock, packChanges, packMap } from '../../../../../src/runtime/write/snapshots/pack-entries.ts'

/** Entries by which one map becomes another; null removes a key. */
type Changes = Readonly<Record<string, number | null>>

const key = fc.constantFrom('a', 'b', 'c', 'd', 'e')
const entries = fc.dictionary(key, fc.integer({ min: 0, max: 3 }))
const changes = fc.dictionary(key, fc.option(fc.integer({ min: 0, max: 3 })))

const changed = (map: PersistentMap<string, unknown>, by: Changes) =>
  map.withMutations((all) => {
    for (const [name, value] of Object.entries(by)) value === null ? all.delete(name) : all.set(name, value)
  })

/** A map with the entries of packed blocks applied. */
function applied(map: PersistentMap<string, unknown>, blocks: readonly PackedBlock[]) {
  const packed = blocks.flatMap(({ bytes }) => {
    const block = openBlock(bytes)
    return Array.from({ length: block.count }, (_, n) => block.entryAt(n))
  })
  return packed.reduce((all, [name, value]) => (value === TOMBSTONE ? all.delete(name) : all.set(name, value)), map)
}

it('the changes between two maps, applied to the earlier one, make the later one', async () => {
  await fc.assert(
    fc.asyncProperty(entries, changes, async (first, by) => {
      const before = PersistentMap<string, unknown>(first)
      const after = changed(before, by)
      expect(applied(before, await packChanges(after, before, createPace())).toJS()).toEqual(after.toJS())
    }),
  )
})

it('a key that leaves while another one comes is removed', async () => {
  const before = PersistentMap<string, unknown>({ stays: 1, leaves: 2 })
  const after = before.delete('leaves').set('comes', 3)
  const blocks = await packChanges(after, before, createPace())
  expect(applied(before, blocks).toJS()).toEqual({ stays: 1, comes: 3 })
  expect(blocks.map(({ entries }) => entries)).toEqual([2])
})

it('no change takes no block, and an empty map takes one', async () => {
  const map = PersistentMap<string, unknown>({ one: 1 })
  expect(await packChanges(map, map, createPace())).toEqual([])
  expect((await packMap(PersistentMap<string, unknown>(), createPace())).map(({ entries }) => entries)).toEqual([0])
})
