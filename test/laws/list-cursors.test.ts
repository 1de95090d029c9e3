import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type ProjectionOf, readSlice } from '../../queries/shared/documents.ts'
import type { ListPlace } from '../../queries/shared/list-cursor.ts'
import { collectionOf } from '../../src/kernel/projection.ts'
import type { Doc } from '../../src/ports/read-store.ts'
import { orders } from '../support/fixtures/documents.ts'
import { createMemoryReadStore } from '../support/memory/read-store.ts'

const projection = { name: 'rows', version: 1 } as unknown as ProjectionOf<Doc>
const collection = collectionOf(projection)

const row = fc.record({
  at: fc.option(fc.constantFrom('2026-01-01', '2026-01-02', '2026-01-03')),
  state: fc.option(fc.constantFrom('a', 'b', 'é')),
  note: fc.option(fc.constantFrom('', 'x')),
  revenueCents: fc.option(fc.integer({ min: -1, max: 2 })),
  score: fc.option(fc.integer({ min: 0, max: 1 })),
})
const rowId = fc.integer({ min: 0, max: 30 }).map((n) => `row-${n}`)
/** Rows written, or removed (null), between two pages. */
const changes = fc.array(fc.tuple(rowId, fc.option(row, { freq: 3 })), { maxLength: 4 })

test('a row that stands throughout is shown once, whatever is added, changed or removed between two pages', () => {
  const history = fc.record({
    first: fc.uniqueArray(fc.tuple(rowId, row), { maxLength: 25, selector: ([id]) => id }),
    between: fc.array(changes, { maxLength: 12 }),
    sort: orders,
    limit: fc.integer({ min: 1, max: 5 }),
  })
  return fc.assert(
    fc.asyncProperty(history, async ({ first, between, sort, limit }) => {
      const store = createMemoryReadStore()
      await store.ensure([{ name: collection, indexes: [], columns: [] }])
      let position = 0
      const write = async (rows: readonly (readonly [string, Doc | null])[]) => {
        for (const [id, doc] of rows) {
          const written = { collection, id, position: position + 1 }
          const removed = { ...written, doc: null, workspaceId: '', expiresAt: 8e15 }
          const [expected, next] = [position || null, { position: position + 1, at: null }]
          await store.commit([doc === null ? removed : { ...written, doc }], { name: 'rows', expected, next })
          position += 1
        }
      }
      await write(first)
      const standing = new Set(first.map(([id]) => id))
      const shown: string[] = []
      let after: ListPlace | null = null
      for (let n = 0; ; n += 1) {
        const slice: Awaited<ReturnType<typeof readSlice>> = await readSlice(
          store,
          projection,
          {},
          {
            sort,
            skip: 0,
            limit,
            after,
          },
        )
        shown.push(...slice.docs.map(({ id }) => id))
        if (slice.next === null) break
        after = slice.next
        const changed = between[n] ?? []
        for (const [id] of changed) standing.delete(id)
        await write(changed)
      }
      for (const id of standing) expect(shown.filter((each) => each === id)).toEqual([id])
    }),
    { numRuns: 300 },
  )
})
