import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createArchive } from '../../../../../src/runtime/write/snapshots/archive.ts'
import { createBlockBuilder, keyHash, openBlock } from '../../../../../src/runtime/write/snapshots/block.ts'
import { createEntryIndex } from '../../../../../src/runtime/write/snapshots/entry-index.ts'

const entries = fc.array(fc.tuple(fc.string({ maxLength: 2 }), fc.nat()), { maxLength: 30 })

function blockOf(list: readonly (readonly [string, unknown])[]): Uint8Array {
  const builder = createBlockBuilder()
  for (const [key, value] of list) builder.add(key, value)
  return builder.finish()
}

describe('a block', () => {
  it('has its entries in order, each under its own key alone', () => {
    fc.assert(
      fc.property(entries, (list) => {
        const block = openBlock(blockOf(list))
        expect(Array.from({ length: block.count }, (_, n) => block.entryAt(n))).toEqual(list)
        list.forEach(([key, value], n) => {
          expect([block.hashAt(n), block.valueAt(n, key)]).toEqual([keyHash(key), value])
          expect(block.valueAt(n, `${key}!`)).toBeUndefined()
        })
      }),
    )
  })
})

describe('an archive', () => {
  it('says at each freeze what was set last up to it, whatever is added later', () => {
    fc.assert(
      fc.property(fc.array(entries, { maxLength: 8 }), (lists) => {
        const archive = createArchive()
        const expected: Map<string, number>[] = []
        lists.forEach((list, upTo) => {
          archive.add(blockOf(list), upTo)
          expected.push(new Map([...(expected.at(-1) ?? []), ...list]))
        })
        const keys = new Set(lists.flatMap((list) => list.map(([key]) => key)))
        expected.forEach((known, upTo) => {
          const view = archive.viewUpTo(upTo)
          for (const key of [...keys, 'none']) expect(view.find(key)).toBe(known.get(key))
          expect(new Map([...view.entries()] as [string, number][])).toEqual(known)
        })
      }),
    )
  })
})

describe('an entry index', () => {
  it('finds the newest entry of a hash below a bound, among hashes that share their slots', () => {
    fc.assert(
      fc.property(fc.array(fc.nat({ max: 40 }), { maxLength: 300 }), fc.nat({ max: 300 }), (hashes, below) => {
        const index = createEntryIndex()
        for (const [n, hash] of hashes.entries()) index.add(hash, n)
        for (const hash of new Set(hashes)) {
          const last = hashes.slice(0, below).lastIndexOf(hash)
          expect(index.newest(hash, below, () => true)).toBe(last)
          const other = hashes.slice(0, Math.max(0, last)).lastIndexOf(hash)
          expect(index.newest(hash, below, (n) => n !== last)).toBe(other)
        }
      }),
    )
  })
})
