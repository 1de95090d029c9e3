import { expect, test } from 'vitest'
import { BLOCK_ROWS } from '../../../../src/runtime/columns/column-source.ts'
import { layoutOf } from '../../../../src/runtime/columns/column-spec.ts'
import type { ReadRow } from '../../../../src/runtime/columns/read-rows.ts'
import { addRows, createRowBuffer, putRows } from '../../../../src/runtime/columns/row-buffer.ts'
import { writeSegments } from '../../../../src/runtime/columns/write-segments.ts'
import { createMemoryFiles } from '../../../support/memory/files.ts'

const layout = layoutOf({
  collection: 'calls_v1',
  key: 'seq',
  time: 'at',
  removes: false,
  columns: { at: 'number', cents: 'number', buyer: 'code' },
})

/** Numbers without nulls and with some, and texts with nulls. */
const rowOf = (key: number): ReadRow => [
  key,
  key * 1_000,
  key % 5 === 0 ? null : key % 90,
  key % 7 ? `b${key % 3}` : null,
]

async function namesOf(rows: readonly ReadRow[], segmentRows: number): Promise<readonly string[]> {
  const buffer = createRowBuffer(layout)
  expect(putRows(buffer, addRows(buffer, rows.length), rows)).toBe(true)
  const segments = await writeSegments(createMemoryFiles(), 'f', 0, buffer, segmentRows)
  return segments.map(({ name }) => name)
}

// A segment is named by its checksum.
test.each([1, BLOCK_ROWS, BLOCK_ROWS + 1, 2 * BLOCK_ROWS + 300])(
  'segments of %i rows are the same whichever row is read first',
  async (count) => {
    const rows = Array.from({ length: count }, (_, key) => rowOf(key))
    const shuffled = rows.toSorted((one, other) => (Number(one[0]) % 11) - (Number(other[0]) % 11))
    for (const segmentRows of [count, Math.ceil(count / 2)]) {
      const names = await namesOf(rows, segmentRows)
      expect(await namesOf(rows.toReversed(), segmentRows)).toEqual(names)
      expect(new Set(names).size).toBe(names.length)
      expect(await namesOf(shuffled, segmentRows)).toEqual(names)
    }
  },
)
