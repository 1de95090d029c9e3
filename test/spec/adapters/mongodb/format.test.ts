import { randomUUID } from 'node:crypto'
import { MongoClient } from 'mongodb'
import { afterEach, describe, expect, test } from 'vitest'
import { openMongoOperationalStore } from '../../../../src/adapters/mongodb/operational-store.ts'
import { openMongoReadStore } from '../../../../src/adapters/mongodb/read-store.ts'
import { databaseOf, mongoUrl } from '../../../support/servers.ts'

const url = mongoUrl()
const database = databaseOf(url ?? '', `format-${randomUUID()}`)
const openings = [
  ['read store', openMongoReadStore],
  ['operational store', openMongoOperationalStore],
] as const

async function inDatabase<Result>(work: (client: MongoClient) => Promise<Result>): Promise<Result> {
  const client = new MongoClient(database)
  return work(client).finally(() => client.close())
}

/** Formats that the database is marked with. */
const marks = () => inDatabase((client) => client.db().collection('_format').find().toArray())

describe.runIf(url)('the format of a MongoDB database', () => {
  afterEach(() => inDatabase((client) => client.db().dropDatabase()))

  test('is marked once by first starts at once, of which none is refused', async () => {
    const stores = await Promise.all(
      Array.from({ length: 20 }, async (_, n) => {
        const store = await (n % 2 ? openMongoReadStore : openMongoOperationalStore)(database)
        if ('commit' in store) await store.ensure([{ name: `docs-${n}_v1`, indexes: [], columns: [] }])
        else await store.put(`key-${n}`, n, null)
        return store
      }),
    )
    expect(await marks()).toEqual([{ _id: 'format', format: 2 }])
    await Promise.all(stores.map((store) => store.close()))
    for (const [, open] of openings) await (await open(database)).close()
  })

  test.each(openings)('ends the start of the %s with one sentence when it is another', async (_store, open) => {
    for (const collection of ['_operational', '_checkpoints']) {
      await inDatabase((client) => client.db().collection(collection).insertOne({ at: 1 }))
      await expect(open(database)).rejects.toThrow(
        'The MongoDB database has format 1 of an earlier program, and this one reads format 2 alone; name an empty database in READ_STORE_URL.',
      )
      expect(await marks()).toEqual([])
      await inDatabase((client) => client.db().dropDatabase())
    }
    await inDatabase((client) =>
      client
        .db()
        .collection<{ _id: string }>('_format')
        .insertOne({ _id: 'format', format: 3 } as never),
    )
    await expect(open(database)).rejects.toThrow('has format 3 of a later program')
  })

  test('is that of a new one where only others have written', async () => {
    await inDatabase((client) => client.db().collection('theirs').insertOne({ at: 1 }))
    await (await openMongoReadStore(database)).close()
    expect(await marks()).toEqual([{ _id: 'format', format: 2 }])
  })
})
