import fc from 'fast-check'
import { Map as PersistentMap, Set as PersistentSet } from 'immutable'
import { describe, expect, it } from 'vitest'
import { TOMBSTONE } from '../../../../../src/kernel/windowed-map.ts'
import { createPacker } from '../../../../../src/runtime/write/snapshots/packing.ts'
import { createUnpacker } from '../../../../../src/runtime/write/snapshots/unpacking.ts'

const text = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.uuid(),
  fc.date({ noInvalidDate: true }).map((date) => date.toISOString()),
  fc.tuple(fc.string(), fc.uuid(), fc.string(), fc.uuid()).map((parts) => parts.join('')),
  fc.stringMatching(/^[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}$/),
  // Lone surrogates, which UTF-8 cannot hold.
  fc.string().map((some) => `${some}\ud800`),
)
const number = fc.oneof(
  fc.integer(),
  fc.maxSafeInteger(),
  fc.double(),
  fc.constantFrom(-0, Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER, Number.NaN, Number.POSITIVE_INFINITY),
)
const { state } = fc.letrec<{ state: unknown }>((tie) => ({
  state: fc.oneof(
    { maxDepth: 4 },
    text,
    number,
    fc.boolean(),
    fc.constant(null),
    fc.array(fc.tuple(text, tie('state')), { maxLength: 10 }).map((entries) => PersistentMap(entries)),
    fc.array(text, { maxLength: 10 }).map((values) => PersistentSet(values)),
    fc.array(tie('state'), { maxLength: 3 }),
    fc.dictionary(fc.oneof(text, fc.constant('__proto__')), tie('state'), { maxKeys: 4, noNullPrototype: true }),
  ),
}))

/** Packs values; returns their places and the bytes. */
function packed(...values: readonly unknown[]) {
  const packer = createPacker()
  const places = values.map((value) => {
    const place = packer.size()
    packer.put(value)
    return place
  })
  return { places, bytes: packer.copy() }
}

describe('packed values', () => {
  it('are equal to the values that were packed, each by its place and one after another', () => {
    fc.assert(
      fc.property(fc.array(state, { maxLength: 6 }), fc.nat(), (values, some) => {
        const { places, bytes } = packed(...values)
        const unpacker = createUnpacker(bytes)
        const chosen = some % Math.max(1, values.length)
        if (values.length > 0) expect(unpacker.valueAt(places[chosen] ?? 0)).toStrictEqual(values[chosen])
        const again = createUnpacker(bytes)
        for (const value of values) expect(again.next()).toStrictEqual(value)
      }),
    )
  })

  it('leave out fields that are undefined', () => {
    const { bytes } = packed({ a: 1, b: undefined }, { a: 2 })
    const unpacker = createUnpacker(bytes)
    expect([unpacker.next(), unpacker.next()]).toStrictEqual([{ a: 1 }, { a: 2 }])
  })

  it('keep the mark of a deleted entry', () => {
    expect(createUnpacker(packed(TOMBSTONE).bytes).next()).toBe(TOMBSTONE)
  })

  it('take a few bytes for what was packed before', () => {
    const sighting = { at: '2026-03-10T15:00:00.000Z', targetId: '01900000-0000-7000-8000-00000000000a' }
    const key = 'target:01900000-0000-7000-8000-00000000000a:+14155550199'
    const { places, bytes } = packed(key, sighting, key, sighting)
    expect(bytes.byteLength - (places[2] ?? 0)).toBeLessThan(16)
  })

  it('are refused where no snapshot can hold them', () => {
    for (const value of [1n, Symbol('no'), () => 1, new Date(0), new Map()])
      expect(() => packed({ value })).toThrow(TypeError)
  })

  it('are refused where the bytes are others', () => {
    expect(() => createUnpacker(Uint8Array.of(255)).next()).toThrow(RangeError)
    expect(() => createUnpacker(packed('some text').bytes.subarray(0, 5)).next()).toThrow(RangeError)
    expect(() => createUnpacker(new Uint8Array()).next()).toThrow(RangeError)
  })
})
