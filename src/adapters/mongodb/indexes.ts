import { type Db, type IndexDescription, MongoServerError } from 'mongodb'
import { markFormat } from './database.ts'

const NAMESPACE_EXISTS = 48

/** A collection, and the indexes that it must have. */
export interface IndexedCollection {
  readonly name: string
  readonly indexes: readonly IndexDescription[]
}

/** Names of a database's collections. */
export async function namesIn(db: Db): Promise<readonly string[]> {
  return (await db.listCollections({}, { nameOnly: true }).toArray()).map(({ name }) => name)
}

/** Creates collections and indexes that are missing; in a database that was emptied meanwhile, the mark of its format first. */
export async function ensureIndexes(db: Db, wanted: readonly IndexedCollection[]): Promise<void> {
  const there = new Set(await namesIn(db))
  if (wanted.some(({ name }) => !there.has(name))) await markFormat(db)
  await Promise.all(
    wanted.map(async ({ name, indexes }) => {
      if (!there.has(name)) await create(db, name)
      await db.collection(name).createIndexes([...indexes])
    }),
  )
}

/**
 * Names of the collections that are missing or lack an index. Sequential, because no request needs the answer and parallel
 * commands delay the writes of requests.
 */
export async function missingIndexes(db: Db, wanted: readonly IndexedCollection[]): Promise<readonly string[]> {
  const there = new Set(await namesIn(db))
  const missing: string[] = []
  for (const one of wanted) if (!there.has(one.name) || (await lacksIndex(db, one))) missing.push(one.name)
  return missing.toSorted()
}

/** Indexes of the same paths in another order are different ones. */
const textOf = (key: IndexDescription['key']) => JSON.stringify(Object.entries(key))

async function lacksIndex(db: Db, { name, indexes }: IndexedCollection): Promise<boolean> {
  const listed = await db.collection(name).listIndexes().toArray()
  const there = new Set(listed.map(({ key }) => textOf(key)))
  return indexes.some(({ key }) => !there.has(textOf(key)))
}

/** Creates a collection; another process may create it at the same time. */
async function create(db: Db, name: string): Promise<void> {
  try {
    await db.createCollection(name)
  } catch (error) {
    if (!(error instanceof MongoServerError && error.code === NAMESPACE_EXISTS)) throw error
  }
}
