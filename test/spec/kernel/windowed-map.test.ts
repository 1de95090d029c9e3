import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  createWindowedMap,
  deleteEntry,
  entriesOf,
  freezeWindowedMap,
  getEntry,
  setWindowedEntry,
  type WindowedMap,
} from '../../../src/kernel/windowed-map.ts'
import { createPace } from '../../../src/runtime/write/snapshots/pace.ts'
import { packLayers } from '../../../src/runtime/write/snapshots/pack-layers.ts'

const HOUR = 3_600_000
const START = Date.UTC(2026, 2, 10)

type Step =
  | { readonly kind: 'set'; readonly key: string; readonly value: number; readonly afterMs: number }
  | { readonly kind: 'delete'; readonly key: string }
  | { readonly kind: 'freeze' | 'pack' }

const key = fc.nat({ max: 9 }).map(String)
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    arbitrary: fc.record({ kind: fc.constant('set'), key, value: fc.nat(), afterMs: fc.nat({ max: HOUR / 2 }) }),
    weight: 4,
  },
  fc.record({ kind: fc.constant('delete'), key }),
  fc.record({ kind: fc.constantFrom('freeze', 'pack') }),
)

/** Plays steps; `changes` leaves out the steps that change no entry. */
async function play(steps: readonly Step[], changes: boolean): Promise<readonly WindowedMap<number>[]> {
  let map = createWindowedMap<number>()
  let ms = START
  const maps = [map]
  for (const [n, one] of steps.entries()) {
    if (one.kind === 'set') {
      ms += one.afterMs
      map = setWindowedEntry(map, one.key, one.value, new Date(ms).toISOString(), HOUR)
    } else if (one.kind === 'delete') map = deleteEntry(map, one.key)
    else if (one.kind === 'freeze' && !changes) map = freezeWindowedMap(map, n)
    else if (!changes) await packLayers({ map }, createPace())
    maps.push(map)
  }
  return maps
}

describe('a windowed map', () => {
  it('has the same entries at every step, however it is frozen and packed, and never changes afterwards', () =>
    fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
        const plain = await play(steps, true)
        const packed = await play(steps, false)
        packed.forEach((map, n) => {
          const expected = plain[n] ?? createWindowedMap<number>()
          expect(new Map(entriesOf(map))).toEqual(new Map(entriesOf(expected)))
          for (let k = 0; k < 10; k++) expect(getEntry(map, String(k))).toBe(getEntry(expected, String(k)))
          expect([map.newer.since, map.older.since]).toEqual([expected.newer.since, expected.older.since])
        })
      }),
    ))
})
