import { expect, test } from 'vitest'
import { createColumnMemory } from '../../../../src/runtime/columns/column-memory.ts'
import { BLOCK_ROWS } from '../../../../src/runtime/columns/column-source.ts'
import { layoutOf } from '../../../../src/runtime/columns/column-spec.ts'
import type { ReadRow } from '../../../../src/runtime/columns/read-rows.ts'
import { addRows, createRowBuffer, putRows } from '../../../../src/runtime/columns/row-buffer.ts'
import { createSegmentReader, openSegment } from '../../../../src/runtime/columns/segment.ts'
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

test('a segment knows the bounds of each block of its numbers', async () => {
  const count = 2 * BLOCK_ROWS + 300
  const rows = Array.from({ length: count }, (_, key) => rowOf(key))
  const buffer = createRowBuffer(layout)
  putRows(buffer, addRows(buffer, rows.length), rows)
  const files = createMemoryFiles()
  const [written] = await writeSegments(files, 'f', 0, buffer, count)
  const segment = await openSegment(files, 'f', written?.name ?? '', layout)
  if (!segment) return expect.fail('The segment is missing.')
  const reader = createSegmentReader(
    files,
    createColumnMemory(1_000_000, () => 0),
  )
  const source = await reader.load(segment, [0, 1, 2], null)
  for (const [column, place] of [
    [0, 1],
    [1, 2],
  ] as const)
    for (let block = 0; block < 3; block++) {
      const values = rows.slice(block * BLOCK_ROWS, (block + 1) * BLOCK_ROWS).map((row) => Number(row[place] ?? 0))
      expect(source.bounds?.(column, block)).toEqual({ min: Math.min(...values), max: Math.max(...values) })
    }
  expect(source.bounds?.(2, 0)).toBe(null)
})
