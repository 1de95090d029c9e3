import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { DocumentWrite } from '../../../../src/ports/read-store.ts'
import { createSegmentBuilder, lookAtRows } from '../../../../src/runtime/columns/build-part.ts'
import type { ColumnSpec } from '../../../../src/runtime/columns/column-spec.ts'
import type { TimeSpan } from '../../../../src/runtime/columns/read-rows.ts'
import type { Segment } from '../../../../src/runtime/columns/segment.ts'
import { SMALL_LIMITS } from '../../../support/fixtures/column-world.ts'
import { createMemoryFiles } from '../../../support/memory/files.ts'
import { wholeCheckpoint } from '../../../support/memory/ownership.ts'
import { createMemoryReadStore } from '../../../support/memory/read-store.ts'

const spec: ColumnSpec = { collection: 'calls_v1', key: 'seq', time: 'at', removes: false, columns: { at: 'number' } }
const rows = { spec, collection: 'calls_v1', workspaceId: 'w1', limits: SMALL_LIMITS }
const { mergeRows, segmentRows } = SMALL_LIMITS
const DAY_MS = 86_400_000

async function builderOver(instants: readonly unknown[]) {
  const store = createMemoryReadStore()
  const writes = instants.map(
    (at, index): DocumentWrite => ({
      collection: 'calls_v1',
      id: `${index}`,
      position: index,
      doc: { workspaceId: index % 7 === 6 ? 'w2' : 'w1', seq: index, at },
    }),
  )
  await store.commit(writes, { name: wholeCheckpoint('calls@1'), expected: null, next: { position: 99, at: null } })
  return { store, ...createSegmentBuilder(store, createMemoryFiles()) }
}

/** Keys of the other workspace are every seventh. */
const ownKeys = (count: number) => Array.from({ length: count }, (_, key) => key).filter((key) => key % 7 !== 6)

describe('segments from nothing', () => {
  test('hold each document once, however many have one instant', () =>
    fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({ min: -3, max: 60 }), { minLength: mergeRows + 1, maxLength: 80 }),
        async (days) => {
          const { spanBefore, build } = await builderOver(days.map((day) => day * DAY_MS))
          const segments: Segment[] = []
          let to: number | null = null
          do {
            const span: TimeSpan = await spanBefore({ rows, to, count: segmentRows })
            segments.push(...((await build({ ...rows, span, folder: 'f' })) ?? []))
            to = span.from
          } while (to !== null)
          expect(segments.reduce((sum, { header }) => sum + header.rows, 0)).toBe(ownKeys(days.length).length)
          for (const { header } of segments) expect(header.rows).toBeLessThanOrEqual(segmentRows)
        },
      ),
      { numRuns: 100 },
    ))

  test('are not needed where rows are fewer than are merged', async () => {
    const few = await builderOver(Array.from({ length: mergeRows - 1 }, (_, at) => at))
    expect(await lookAtRows(few.store, rows)).toBe('few')
    const enough = await builderOver(Array.from({ length: mergeRows }, (_, at) => at))
    expect(await lookAtRows(enough.store, rows)).toEqual({ about: mergeRows })
  })

  test.each([null, 'yesterday', true, { on: 1 }])('are none where the instant of a document is %j', async (instant) => {
    const { store } = await builderOver(Array.from({ length: 20 }, (_, index) => (index === 9 ? instant : index)))
    expect(await lookAtRows(store, rows)).toBe('unfit')
  })
})
