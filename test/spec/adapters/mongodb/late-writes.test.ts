import { randomUUID } from 'node:crypto'
import { type Collection, MongoClient } from 'mongodb'
import { expect, test } from 'vitest'
import { writeDocuments } from '../../../../src/adapters/mongodb/commit.ts'
import type { Row } from '../../../../src/adapters/mongodb/filters.ts'
import { openMongoReadStore } from '../../../../src/adapters/mongodb/read-store.ts'
import type { DocumentWrite } from '../../../../src/ports/read-store.ts'
import { documentWrite } from '../../../support/fixtures/documents.ts'
import { databaseOf, mongoUrl } from '../../../support/servers.ts'

const url = mongoUrl()
const CHECKPOINTS = 5

/** A collection whose bulk writes wait until they are let go. */
function heldBack(rows: Collection<Row>) {
  const { promise, resolve } = Promise.withResolvers<void>()
  let held = 0
  const late = new Proxy(rows, {
    get(target, method) {
      const value = Reflect.get(target, method, target)
      if (typeof value !== 'function') return value
      if (method !== 'bulkWrite') return value.bind(target)
      return async (...given: unknown[]) => {
        held += 1
        await promise
        return value.apply(target, given)
      }
    },
  })
  return { rows: late, letGo: resolve, isHeld: () => held > 0 }
}

/** The owner of a build reads the positions of its batch, and loses its lease; the batch lands after the next owner's. */
test.runIf(url).each([
  ['inserts', false],
  ['replaces', true],
])(
  'a bulk write that lands late, which %s a document, does not bring it back once it is removed',
  async (_what, stored) => {
    const database = databaseOf(url ?? '', `late-${randomUUID()}`)
    const [store, client] = [await openMongoReadStore(database), new MongoClient(database)]
    const collection = 'docs_v1'
    await store.ensure([{ name: collection, indexes: [], columns: [] }])
    const write = (position: number, doc: { readonly n: number } | null, id = 'gone') =>
      documentWrite(collection, { id, doc: doc && { workspaceId: 'w1', ...doc }, workspaceId: 'w1' }, position)
    let expected: number | null = null
    const commit = async (...writes: readonly DocumentWrite[]) => {
      const position: number = Math.max(...writes.map((each) => each.position))
      expect(await store.commit(writes, { name: 'docs@1', expected, next: { position, at: null } })).toBe(true)
      expected = position
    }
    if (stored) await commit(write(5, { n: 1 }))

    const { rows, letGo, isHeld } = heldBack(client.db().collection<Row>(collection))
    const landing = writeDocuments(rows, [write(10, { n: 2 })])
    while (!isHeld()) await rows.estimatedDocumentCount()
    await commit(write(10, { n: 2 }))
    await commit(write(20, null))
    for (let n = 0; n < CHECKPOINTS; n++) await commit(write(30 + n, { n }, 'other'))
    letGo()
    await landing

    expect(await store.get(collection, 'gone')).toBeNull()
    expect(await store.count(collection, {})).toBe(1)
    await client.db().dropDatabase()
    await Promise.all([store.close(), client.close()])
  },
)
