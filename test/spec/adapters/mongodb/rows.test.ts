import { randomUUID } from 'node:crypto'
import { MongoClient } from 'mongodb'
import { expect, test } from 'vitest'
import { openMongoReadStore } from '../../../../src/adapters/mongodb/read-store.ts'
import type { DocumentWrite } from '../../../../src/ports/read-store.ts'
import { databaseOf, mongoUrl } from '../../../support/servers.ts'

const url = mongoUrl()

test.runIf(url)('the workspace of a document is stored once, and in guards as well', async () => {
  const database = databaseOf(url ?? '', `rows-${randomUUID()}`)
  const [store, client] = [await openMongoReadStore(database), new MongoClient(database)]
  const collection = `rows-${randomUUID()}_v1`
  await store.ensure([{ name: collection, indexes: [{ workspaceId: 1, at: 1 }], columns: [] }])
  const commit = (writes: readonly DocumentWrite[], expected: number | null, position: number) =>
    store.commit(writes, { name: collection, expected, next: { position, at: null } })
  const at = Date.UTC(2026, 10, 23)
  const docs = [{ workspaceId: 'w1', at: 1 }, { workspaceId: 'w1', at: 2 }, { at: 3 }]
  await commit(
    docs.map((doc, n) => ({ collection, id: `id-${n}`, doc, position: 1 })),
    null,
    1,
  )
  await commit([{ collection, id: 'id-1', doc: null, workspaceId: 'w1', position: 2, expiresAt: at }], 1, 2)
  const rows = client.db().collection(collection)
  expect(await rows.find().sort({ _id: 1 }).toArray()).toEqual([
    { _id: 'id-0', w: 'w1', p: 1, d: { at: 1 } },
    { _id: 'id-1', w: 'w1', p: 2, x: new Date(at) },
    { _id: 'id-2', w: '', p: 1, d: { at: 3 } },
  ])
  const keys = (await rows.indexes()).map(({ key }) => Object.keys(key).join())
  expect(keys).toContain('w,d.at')
  await store.drop(collection, collection)
  await Promise.all([store.close(), client.close()])
})
