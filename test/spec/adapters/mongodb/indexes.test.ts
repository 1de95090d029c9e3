import { randomUUID } from 'node:crypto'
import { MongoClient } from 'mongodb'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { openMongoOperationalStore } from '../../../../src/adapters/mongodb/operational-store.ts'
import { openMongoReadStore } from '../../../../src/adapters/mongodb/read-store.ts'
import type { OperationalStore } from '../../../../src/ports/operational-store.ts'
import type { CollectionSpec, ReadStore } from '../../../../src/ports/read-store.ts'
import { databaseOf, mongoUrl } from '../../../support/servers.ts'

const url = mongoUrl()
const SPECS: readonly CollectionSpec[] = [
  { name: 'calls_v1', indexes: [{ workspaceId: 1, at: -1 }], columns: [] },
  { name: 'buyers_v1', indexes: [{ 'buyer.id': 1 }, { name: 1 }], columns: [] },
]

describe.runIf(url)('indexes of a MongoDB database', () => {
  let store: ReadStore
  let ops: OperationalStore
  let client: MongoClient
  let database = ''
  beforeEach(async () => {
    database = databaseOf(url ?? '', `indexes-${randomUUID()}`)
    store = await openMongoReadStore(database)
    ops = await openMongoOperationalStore(database)
    client = new MongoClient(database)
    await store.ensure(SPECS)
  })
  afterEach(() => Promise.all([store.close(), ops.close(), client.close()]))

  const missing = async () => [...(await store.missingIndexes(SPECS)), ...(await ops.missingIndexes())]
  const ensure = () => Promise.all([store.ensure(SPECS), ops.ensure()])

  test.each([
    ['calls_v1', 'w_1_d.at_-1'],
    ['buyers_v1', 'd.name_1'],
    ['_notes', 's_1_l_1_t_-1_i_-1'],
  ])('one of %s that was dropped is missing until it is ensured', async (collection, index) => {
    expect(await missing()).toEqual([])
    await client.db().collection(collection).dropIndex(index)
    expect(await missing()).toEqual([collection])
    await ensure()
    expect(await missing()).toEqual([])
  })

  test('of the same paths in another order does not count', async () => {
    const collection = client.db().collection('calls_v1')
    await collection.dropIndex('w_1_d.at_-1')
    await collection.createIndex({ 'd.at': -1, w: 1 })
    expect(await missing()).toEqual(['calls_v1'])
    await ensure()
    expect(await missing()).toEqual([])
  })

  test('are all missing after the database was dropped, and are ensured with the mark of its format', async () => {
    await client.db().dropDatabase()
    expect(await missing()).toEqual(['buyers_v1', 'calls_v1', '_notes', '_operational'])
    await ensure()
    expect(await missing()).toEqual([])
    await (await openMongoReadStore(database)).close()
  })
})
