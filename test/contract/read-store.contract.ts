import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type ProjectionOf, readSlice } from '../../queries/shared/documents.ts'
import type { ListPlace } from '../../queries/shared/list-cursor.ts'
import {
  type Checkpoint,
  type Doc,
  type DocumentWrite,
  deriveFrom,
  type Filter,
  type ReadStore,
  type StoredDocument,
  workspaceOf,
} from '../../src/ports/read-store.ts'
import { documents, filters, orders, pages, pluckPaths, SPEC, summaries } from '../support/fixtures/documents.ts'
import { findIn, matches, pluckIn, selectIn, sumIn } from '../support/memory/read-store-reference.ts'

/** A store under test: two sessions of one store, as two processes would have them. */
export interface ReadStoreSetup {
  readonly store: ReadStore
  readonly other: ReadStore
  readonly close: () => Promise<void>
}

const AT = '2026-03-01T12:00:00.000Z'
const REMOVED_AT = Date.parse(AT)

type Slice = Awaited<ReturnType<typeof readSlice<Doc>>>

/** A projection as readers of its collection see it. */
const projectionOf = (collection: string) =>
  ({ name: collection.replace(/_v1$/, ''), version: 1 }) as unknown as ProjectionOf<Doc>

/** What every read store does. */
export function readStoreContract(name: string, start: () => Promise<ReadStoreSetup>): void {
  describe(`read store on ${name}`, () => {
    let under: ReadStoreSetup
    let store: ReadStore
    beforeAll(async () => {
      under = await start()
      store = under.store
    })
    afterAll(() => under.close())

    /** A fresh collection that holds these documents. */
    async function createCollectionWith(stored: readonly StoredDocument[]): Promise<string> {
      const collection = `docs-${randomUUID()}_v1`
      await store.ensure([{ name: collection, ...SPEC }])
      const writes = stored.map((each) => ({ collection, ...each }))
      expect(await store.commit(writes, checkpointMove(collection, null, 1_000))).toBe(true)
      return collection
    }

    test('finds, pages and counts documents by a filter, in order', async () => {
      await fc.assert(
        fc.asyncProperty(documents, fc.array(pages, { minLength: 8, maxLength: 8 }), async (stored, asked) => {
          const collection = await createCollectionWith(stored)
          for (const page of asked) {
            expect(await store.find(collection, page)).toEqual(findIn(stored, page))
            expect(await store.count(collection, page.filter)).toBe(findIn(stored, { filter: page.filter }).length)
          }
          await store.drop(collection, collection)
        }),
        { numRuns: 25 },
      )
    }, 60_000)

    test('finds what a derivation makes of the documents of a page, as they are at each read', async () => {
      const derivation = {
        of: ({ id, position, doc }: StoredDocument) => JSON.stringify([id, position, doc]),
        bytesOf: (value: string) => value.length,
      }
      const askings = fc.array(pages, { minLength: 4, maxLength: 4 })
      await fc.assert(
        fc.asyncProperty(documents, askings, async (stored, asked) => {
          const collection = await createCollectionWith(stored)
          const expectAll = async () => {
            for (const page of asked) {
              const found = await store.find(collection, page)
              expect(await store.findDerived(collection, page, derivation)).toEqual(deriveFrom(found, derivation))
            }
          }
          await expectAll()
          const changed = stored
            .filter((_, n) => n % 2 === 0)
            .map((each) => ({ ...each, position: each.position + 1_000 }))
          const writes = changed.map((each) => ({ collection, ...each, doc: { ...each.doc, changed: true } }))
          expect(await under.other.commit(writes, checkpointMove(collection, 1_000, 2_000))).toBe(true)
          await expectAll()
          await store.drop(collection, collection)
        }),
        { numRuns: 15 },
      )
      expect(await store.findDerived(`unheard-of-${randomUUID()}_v1`, { filter: {} }, derivation)).toEqual([])
    }, 60_000)

    test('plucks one value of each document of a page, in the order of the page', async () => {
      const askings = fc.array(fc.tuple(pluckPaths, pages), { minLength: 12, maxLength: 12 })
      await fc.assert(
        fc.asyncProperty(documents, askings, async (stored, asked) => {
          const collection = await createCollectionWith(stored)
          for (const [path, page] of asked)
            expect(await store.pluck(collection, path, page)).toEqual(pluckIn(stored, path, page))
          await store.drop(collection, collection)
        }),
        { numRuns: 25 },
      )
      expect(await store.pluck(`unheard-of-${randomUUID()}_v1`, 'state', { filter: {} })).toEqual([])
    }, 60_000)

    test('selects values of each document of a page, in the order of the page', async () => {
      const paths = fc.uniqueArray(fc.oneof(pluckPaths, fc.constantFrom('_id', 'workspaceId')), {
        minLength: 1,
        maxLength: 6,
      })
      const askings = fc.array(fc.tuple(paths, pages), { minLength: 12, maxLength: 12 })
      await fc.assert(
        fc.asyncProperty(documents, askings, async (stored, asked) => {
          const collection = await createCollectionWith(stored)
          for (const [chosen, page] of asked)
            expect(await store.select(collection, chosen, page)).toEqual(selectIn(stored, chosen, page))
          await store.drop(collection, collection)
        }),
        { numRuns: 25 },
      )
      expect(await store.select(`unheard-of-${randomUUID()}_v1`, ['state'], { filter: {} })).toEqual([])
    }, 60_000)

    test('pages on after the last document of a page as if those before were skipped, in any order', async () => {
      const askings = fc.array(fc.tuple(filters, orders, fc.integer({ min: 1, max: 4 })), {
        minLength: 6,
        maxLength: 6,
      })
      await fc.assert(
        fc.asyncProperty(documents, askings, async (stored, asked) => {
          const collection = await createCollectionWith(stored)
          const projection = projectionOf(collection)
          for (const [filter, sort, limit] of asked) {
            const pages: (readonly { readonly id: string }[])[] = []
            for (let after: ListPlace | null = null; ; ) {
              const { docs, next }: Slice = await readSlice(store, projection, filter, { sort, skip: 0, limit, after })
              pages.push(docs)
              if (next === null) break
              after = next
            }
            const whole = findIn(stored, { filter, sort })
            expect(pages.flat().map(({ id }) => id)).toEqual(whole.map(({ id }) => id))
            expect(pages.slice(0, -1).every(({ length }) => length === limit)).toBe(true)
            expect(pages).toHaveLength(Math.max(1, Math.ceil(whole.length / limit)))
          }
          await store.drop(collection, collection)
        }),
        { numRuns: 20 },
      )
    }, 60_000)

    test('pages through the documents of one value by id', async () => {
      const stored = Array.from({ length: 9 }, (_, n) => ({ id: `id-${n}`, position: n, doc: { n: n < 7 ? 1 : 0 } }))
      const collection = await createCollectionWith(stored)
      const after = (id: string): Filter => ({ n: { $lte: 1 }, $or: [{ n: { $lt: 1 } }, { _id: { $gt: id } }] })
      const page = { filter: after('id-4'), sort: { n: -1 } as const, limit: 3 }
      expect(await store.select(collection, ['_id', 'n'], page)).toEqual([
        ['id-5', 1],
        ['id-6', 1],
        ['id-7', 0],
      ])
    })

    test('sums by group over a filter', async () => {
      await fc.assert(
        fc.asyncProperty(documents, fc.array(summaries, { minLength: 6, maxLength: 6 }), async (stored, asked) => {
          const collection = await createCollectionWith(stored)
          for (const { filter, groupBy, fields } of asked) {
            const groups = await store.sum(collection, filter, groupBy, fields)
            expect(byKey(groups)).toEqual(byKey(sumIn(stored, filter, groupBy, fields)))
          }
          await store.drop(collection, collection)
        }),
        { numRuns: 20 },
      )
    }, 60_000)

    test('never finds or counts a removed document', async () => {
      await fc.assert(
        fc.asyncProperty(documents, fc.array(filters, { minLength: 6, maxLength: 6 }), async (stored, asked) => {
          const collection = await createCollectionWith(stored)
          const [gone, left] = [stored.filter((_, n) => n % 2 === 0), stored.filter((_, n) => n % 2 === 1)]
          await store.commit(
            gone.map(({ id, doc }) => remove(collection, id, 1_500, workspaceOf(doc))),
            checkpointMove(collection, 1_000, 2_000),
          )
          for (const filter of asked) {
            const expected = left.filter((each) => matches(each, filter)).length
            expect(await store.count(collection, filter)).toBe(expected)
            expect(await store.find(collection, { filter })).toHaveLength(expected)
          }
          expect(await store.count(collection, { state: null, _id: { $gt: '' } })).toBe(
            left.filter((each) => matches(each, { state: null })).length,
          )
          const ids = stored.map(({ id }) => id)
          expect(byId(await store.getMany(collection, ids))).toEqual(byId(left))
          await store.drop(collection, collection)
        }),
        { numRuns: 15 },
      )
    }, 60_000)

    test('stores documents unchanged, and gets them by id', async () => {
      const doc = {
        workspaceId: 'w1',
        at: null,
        live: false,
        tags: ['a', null, 1, true, { deep: [] }],
        buyer: { id: 'Zoë 🇨🇭', talk: -0.5, more: { empty: {}, big: 9_007_199_254_740_991 } },
        'dotted.key': 1,
        $dollar: 'x',
        text: 'é'.repeat(200_000),
      }
      const collection = await createCollectionWith([{ id: 'one', position: 7, doc }])
      expect(await store.get(collection, 'one')).toEqual({ id: 'one', position: 7, doc })
      expect(await store.getMany(collection, ['two', 'one', 'one'])).toEqual([{ id: 'one', position: 7, doc }])
      expect(await store.get(collection, 'two')).toBeNull()
      expect(await store.getMany(collection, [])).toEqual([])
    })

    test('commits documents and the checkpoint, which another session then reads', async () => {
      const collection = await createCollectionWith([])
      const next = { position: 2_000, at: AT }
      const writes = Array.from({ length: 300 }, (_, n) => put(collection, `id-${n}`, { n }, 1_001 + n))
      expect(await store.commit(writes, { name: collection, expected: 1_000, next })).toBe(true)
      expect(await under.other.count(collection, {})).toBe(300)
      expect(await under.other.checkpoint(collection)).toEqual(next)
      expect((await under.other.checkpoints())[collection]).toEqual(next)
      expect(await store.checkpoint('unheard-of')).toBeNull()
    })

    test('keeps a document at the same or a higher position', async () => {
      const collection = await createCollectionWith([
        { id: 'same', position: 20, doc: { n: 1 } },
        { id: 'older', position: 19, doc: { n: 1 } },
        { id: 'newer', position: 21, doc: { n: 1 } },
      ])
      const writes = ['same', 'older', 'newer', 'fresh'].map((id) => put(collection, id, { n: 2 }, 20))
      expect(await store.commit(writes, checkpointMove(collection, 1_000, 1_001))).toBe(true)
      const found = await store.find(collection, { filter: {} })
      expect(found.map(({ id, doc, position }) => [id, doc.n, position])).toEqual([
        ['fresh', 2, 20],
        ['newer', 1, 21],
        ['older', 2, 20],
        ['same', 1, 20],
      ])
    })

    test('writes the same whatever the writer believes to be stored', async () => {
      const collection = await createCollectionWith([
        { id: 'newer', position: 21, doc: { n: 1 } },
        { id: 'older', position: 19, doc: { n: 1 } },
        { id: 'unseen', position: 19, doc: { n: 1 } },
      ])
      const found = ['gone', 'newer', 'older'].map((id) => ({ ...put(collection, id, { n: 2 }, 20), isStored: true }))
      const unseen = ['fresh', 'unseen'].map((id) => ({ ...put(collection, id, { n: 2 }, 20), isStored: false }))
      expect(await store.commit([...found, ...unseen], checkpointMove(collection, 1_000, 1_001))).toBe(true)
      const stored = await store.find(collection, { filter: {} })
      expect(stored.map(({ id, doc, position }) => [id, doc.n, position])).toEqual([
        ['fresh', 2, 20],
        ['gone', 2, 20],
        ['newer', 1, 21],
        ['older', 2, 20],
        ['unseen', 2, 20],
      ])
    })

    test('changes nothing when a batch is repeated after a crash before its checkpoint', async () => {
      const collection = await createCollectionWith([{ id: 'kept', position: 5, doc: { n: 0 } }])
      const batch = [
        put(collection, 'kept', { n: 1 }, 1_100),
        put(collection, 'new', { n: 1 }, 1_100),
        remove(collection, 'kept-not', 1_100),
      ]
      // A commit that fails its checkpoint is what a crash in between leaves behind, or less.
      await store.commit(batch, checkpointMove(collection, 999, 1_200))
      expect(await store.commit(batch, checkpointMove(collection, 1_000, 1_200))).toBe(true)
      const after = await store.find(collection, { filter: {} })
      expect(await store.commit(batch, checkpointMove(collection, 1_000, 1_200))).toBe(false)
      expect(await store.commit(batch, checkpointMove(collection, 1_200, 1_300))).toBe(true)
      expect(await store.find(collection, { filter: {} })).toEqual(after)
      expect(after.map(({ id, position }) => [id, position])).toEqual([
        ['kept', 1_100],
        ['new', 1_100],
      ])
    })

    test('has stored what is first in a batch when it fails at the rest, unless commits are atomic', async () => {
      const collection = await createCollectionWith([])
      // No server takes so large a document; files do.
      const large = put(collection, 'large', { text: 'x'.repeat(17_000_000) }, 1_100)
      const first = { ...put(collection, 'first', { n: 1 }, 1_100), isFirst: true }
      const committed = await store.commit([large, first], checkpointMove(collection, 1_000, 1_100)).catch(() => false)
      expect(committed || !store.atomic).toBe(true)
      expect((await store.find(collection, { filter: {} })).map(({ id }) => id)).toEqual(
        committed ? ['first', 'large'] : ['first'],
      )
    })

    test('lets one of two committers move the checkpoint, from any position', async () => {
      const collection = await createCollectionWith([])
      for (const expected of [null, 0, 999, 1_001]) {
        expect(await store.commit([], checkpointMove(collection, expected, 5_000))).toBe(false)
        expect(await store.checkpoint(collection)).toEqual({ position: 1_000, at: null })
      }
      for (const name of [collection, `fresh-${randomUUID()}`]) {
        const expected = name === collection ? 1_000 : null
        const race = await Promise.all(
          Array.from({ length: 12 }, (_, n) =>
            (n % 2 ? store : under.other).commit(
              [put(collection, `racer-${n}`, { n }, 2_000 + n)],
              checkpointMove(name, expected, 2_000 + n),
            ),
          ),
        )
        expect(race.filter((won) => won)).toHaveLength(1)
        expect((await store.checkpoint(name))?.position).toBe(2_000 + race.indexOf(true))
      }
    })

    test('moves a checkpoint only while no later epoch is stored', async () => {
      const collection = await createCollectionWith([])
      const move = (expected: number | null, position: number, epoch: number, session = store) =>
        session.commit([], { name: collection, expected, next: { position, at: AT, epoch } })
      expect(await move(1_000, 1_000, 3)).toBe(true)
      expect(await under.other.checkpoint(collection)).toEqual({ position: 1_000, at: AT, epoch: 3 })
      expect(await move(1_000, 1_100, 2, under.other)).toBe(false)
      expect(await store.commit([], checkpointMove(collection, 1_000, 1_100))).toBe(false)
      expect(await move(1_000, 1_100, 3)).toBe(true)
      expect(await move(1_000, 1_100, 4, under.other)).toBe(false)
      expect(await move(1_100, 1_200, 4, under.other)).toBe(true)
      expect(await move(1_200, 1_300, 3)).toBe(false)
      expect((await store.checkpoints())[collection]).toEqual({ position: 1_200, at: AT, epoch: 4 })
    })

    test('moves each of many checkpoints at once by its own guard, and reads many documents and checkpoints at once', async () => {
      const collection = await createCollectionWith([{ id: 'there', position: 900, doc: { n: 1 } }])
      const names = Array.from({ length: 8 }, (_, n) => `${collection}/${n}`)
      const moves = (expectedOf: (n: number) => number | null, next: number) =>
        Promise.all(names.map((name, n) => store.commit([], checkpointMove(name, expectedOf(n), next))))
      expect(await moves(() => null, 10)).toEqual(names.map(() => true))
      expect(await moves((n) => (n % 2 ? null : 10), 20)).toEqual(names.map((_, n) => n % 2 === 0))
      expect(await moves((n) => (n % 3 ? 10 : 20), 30)).toEqual([true, true, false, false, false, true, true, true])
      expect(await moves(() => 99, 40)).toEqual(names.map(() => false))
      const checkpoints = await Promise.all([...names, 'unheard-of'].map((name) => under.other.checkpoint(name)))
      const positions = checkpoints.map((checkpoint) => checkpoint?.position ?? null)
      expect(positions).toEqual([30, 30, 20, 10, 20, 30, 30, 30, null])
      const ids = ['there', 'missing', 'there']
      const found = await Promise.all(ids.map((id) => under.other.get(collection, id)))
      expect(found.map((document) => document?.doc ?? null)).toEqual([{ n: 1 }, null, { n: 1 }])
    })

    test('lists the checkpoints of a prefix, and drops those of the ranges with their collection', async () => {
      const collection = await createCollectionWith([])
      const names = [`${collection}/00-7f`, `${collection}/80-ff`, `${collection}~2/00-ff`]
      for (const name of names) await store.commit([], checkpointMove(name, null, 5))
      expect(Object.keys(await under.other.checkpoints(`${collection}/`)).toSorted()).toEqual(names.slice(0, 2))
      await store.drop(collection, collection)
      expect(Object.keys(await under.other.checkpoints(collection))).toEqual(names.slice(2))
    })

    test('keeps the document at the highest position when two runners write at once', async () => {
      const collection = await createCollectionWith([{ id: 'old', position: 1, doc: { n: 1 } }])
      await Promise.all(
        Array.from({ length: 10 }, (_, n) =>
          (n % 2 ? store : under.other).commit(
            ['old', 'new'].map((id) => put(collection, id, { n }, 1_010 + n)),
            checkpointMove(`runner-${n}-${collection}`, null, 1_010 + n),
          ),
        ),
      )
      for (const id of ['old', 'new'])
        expect(await store.get(collection, id)).toEqual({ id, position: 1_019, doc: { n: 9 } })
    })

    test('refuses late writes of a removed document until its guard expires, whatever checkpoints pass', async () => {
      const doc = { workspaceId: 'w1', n: 1 }
      const collection = await createCollectionWith([{ id: 'gone', position: 5, doc }])
      await store.commit([remove(collection, 'gone', 1_050, 'w1')], checkpointMove(collection, 1_000, 1_100))
      const writeLate = async (n: number) => {
        const late = [put(collection, 'gone', doc, 1_040), put(collection, `late-${n}`, doc, 1_040)]
        await under.other.commit(late, checkpointMove(`late-${n}-${collection}`, null, 1_045))
        expect(await store.get(collection, `late-${n}`)).not.toBeNull()
        return (await store.get(collection, 'gone')) !== null
      }
      for (let n = 0; n < 5; n++) {
        const [from, to] = [1_100 + n * 100, 1_200 + n * 100]
        const writes = [put(collection, `at-${n}`, doc, to), remove(collection, `at-${n - 1}`, to, 'w1')]
        await store.commit(writes, checkpointMove(collection, from, to))
        expect(await writeLate(n)).toBe(false)
      }
      expect(await store.deleteExpired(collection, REMOVED_AT + 3_599_999)).toBe(0)
      expect(await writeLate(5)).toBe(false)
      expect(await store.deleteExpired(collection, REMOVED_AT + 3_600_000)).toBeGreaterThan(0)
      expect(await writeLate(6)).toBe(true)
    })

    test('leaves out what has expired for readers that say when, and deletes it', async () => {
      const collection = await createCollectionWith([])
      const [before, after] = [REMOVED_AT, REMOVED_AT + 1]
      const writes = [null, after, undefined, before, REMOVED_AT + 5].map(
        (expiresAt, n): DocumentWrite => ({
          ...put(collection, `id-${n}`, { workspaceId: 'w1', at: AT, revenueCents: 10 ** n }, 1_010),
          ...(expiresAt === undefined ? {} : { expiresAt }),
        }),
      )
      await store.commit(writes, checkpointMove(collection, 1_000, 1_010))
      const read = async (now?: number) => {
        const filter = { workspaceId: 'w1' }
        const page = { filter, ...(now === undefined ? {} : { now }) }
        const found = (await store.find(collection, page)).map(({ id }) => id)
        const all = writes.map(({ id }) => id)
        expect((await store.getMany(collection, all, now)).map(({ id }) => id).toSorted()).toEqual(found)
        for (const id of all) expect((await store.get(collection, id, now)) !== null).toBe(found.includes(id))
        expect(await store.pluck(collection, 'at', { ...page, limit: 10 })).toEqual(found.map(() => AT))
        expect(await store.count(collection, filter, now)).toBe(found.length)
        const sum = found.reduce((total, id) => total + 10 ** Number(id.slice(3)), 0)
        const [group] = await store.sum(collection, filter, [], ['revenueCents'], now)
        expect(group).toEqual({ key: [], count: found.length, sums: [sum] })
        return found
      }
      expect(await read()).toEqual(['id-0', 'id-1', 'id-2', 'id-3', 'id-4'])
      expect(await read(before - 1)).toEqual(['id-0', 'id-1', 'id-2', 'id-3', 'id-4'])
      expect(await read(before)).toEqual(['id-0', 'id-1', 'id-2', 'id-4'])
      expect(await read(after)).toEqual(['id-0', 'id-2', 'id-4'])
      // A later write prolongs a document that has expired, and one that never does.
      const prolonged = [
        put(collection, 'id-3', { workspaceId: 'w1', at: AT, revenueCents: 1_000 }, 1_020),
        { ...put(collection, 'id-4', { workspaceId: 'w1', at: AT, revenueCents: 10_000 }, 1_020), expiresAt: before },
      ]
      await store.commit(prolonged, checkpointMove(collection, 1_010, 1_020))
      expect(await read(after)).toEqual(['id-0', 'id-2', 'id-3'])
      expect(await store.deleteExpired(collection, after)).toBe(2)
      expect(await read()).toEqual(['id-0', 'id-2', 'id-3'])
      expect(await store.deleteExpired(`unheard-of-${randomUUID()}_v1`, after)).toBe(0)
    })

    test('puts a document again after its removal, and ignores the removal of a newer one', async () => {
      const collection = await createCollectionWith([{ id: 'back', position: 5, doc: { n: 1 } }])
      await store.commit([remove(collection, 'back', 1_010)], checkpointMove(collection, 1_000, 1_020))
      await store.commit([put(collection, 'back', { n: 2 }, 1_030)], checkpointMove(collection, 1_020, 1_040))
      await store.commit([remove(collection, 'back', 1_025)], checkpointMove(collection, 1_040, 1_050))
      expect(await store.get(collection, 'back')).toEqual({ id: 'back', position: 1_030, doc: { n: 2 } })
    })

    test('creates a collection once for many requests, and keeps its documents', async () => {
      const collection = await createCollectionWith([{ id: 'a', position: 1, doc: { state: 'x' } }])
      await Promise.all([store, under.other].map((each) => each.ensure([{ name: collection, ...SPEC }])))
      expect(await store.count(collection, { state: 'x' })).toBe(1)
      expect(await store.collections()).toContain(collection)
    })

    test('names the collections that are not there, until they are ensured', async () => {
      const there = await createCollectionWith([])
      const specs = [there, `docs-${randomUUID()}_v1`, `docs-${randomUUID()}_v1`].map((name) => ({ name, ...SPEC }))
      const absent = specs.slice(1).map((spec) => spec.name)
      expect((await store.missingIndexes(specs)).toSorted()).toEqual(absent.toSorted())
      await under.other.ensure(specs)
      expect(await store.missingIndexes(specs)).toEqual([])
      await under.other.drop(there)
      expect(await store.missingIndexes(specs)).toEqual([there])
    })

    test('drops a collection and its checkpoint, and nothing else', async () => {
      const [dropped, kept] = [
        await createCollectionWith([{ id: 'a', position: 1, doc: {} }]),
        await createCollectionWith([]),
      ]
      await store.drop(dropped)
      expect(await store.collections()).not.toContain(dropped)
      expect(await store.checkpoint(dropped)).not.toBeNull()
      await store.drop(dropped, dropped)
      expect(await store.checkpoint(dropped)).toBeNull()
      expect(await store.checkpoint(kept)).not.toBeNull()
      expect(await store.collections()).toContain(kept)
      await store.ensure([{ name: dropped, ...SPEC }])
      expect(await store.count(dropped, {})).toBe(0)
    })
  })
}

function put(collection: string, id: string, doc: Doc, position: number): DocumentWrite & { readonly doc: Doc } {
  return { collection, id, doc, position }
}

/** Removes a document at `REMOVED_AT`; its guard lasts an hour. */
function remove(collection: string, id: string, position: number, workspaceId = ''): DocumentWrite {
  return { collection, id, doc: null, workspaceId, position, expiresAt: REMOVED_AT + 3_600_000 }
}

function checkpointMove(name: string, expected: number | null, position: number) {
  const next: Checkpoint = { position, at: null }
  return { name, expected, next }
}

function byId(stored: readonly StoredDocument[]): readonly StoredDocument[] {
  return stored.toSorted((one, other) => (one.id < other.id ? -1 : 1))
}

function byKey<Group extends { readonly key: readonly unknown[] }>(groups: readonly Group[]): readonly Group[] {
  const text = (group: Group) => JSON.stringify(group.key)
  return groups.toSorted((one, other) => (text(one) < text(other) ? -1 : 1))
}
