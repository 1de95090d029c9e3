import { v7 } from 'uuid'
import { type AnyProjection, collectionOf } from '../../../src/kernel/projection.ts'
import { readConfig } from '../../../src/main/config.ts'
import { openReadStore } from '../../../src/main/stores.ts'
import type { Doc, DocumentWrite, ReadStore } from '../../../src/ports/read-store.ts'
import { buildNames } from '../../../src/runtime/projections/build-names.ts'
import { wholeCheckpoint } from '../memory/ownership.ts'
import { databaseOf } from '../servers.ts'
import type { Server, StoreSetup } from './server.ts'

const BATCH = 5_000

/** Environment of a suite with read models of its own, because they contain documents without events. */
export function ownReadModels({ connectionStrings }: StoreSetup): Readonly<Record<string, string>> {
  const { READ_STORE_URL: url } = connectionStrings()
  return url === undefined ? {} : { READ_STORE_URL: databaseOf(url, `own-${v7()}`) }
}

/** Opens the read models of a stopped platform. */
export async function inViews(env: Server['env'], work: (views: ReadStore) => Promise<void>): Promise<void> {
  const views = await openReadStore(readConfig(env).readStoreUrl)
  await work(views)
  await views.close()
}

/** Writes documents with new ids, as a projection does. */
export async function storeDocuments(views: ReadStore, projection: AnyProjection, docs: Iterable<Doc>): Promise<void> {
  const collection = collectionOf(projection)
  const name = wholeCheckpoint(buildNames(projection).checkpoint)
  const stands = await views.checkpoint(name)
  if (!stands) throw new Error(`${projection.name} has not begun.`)
  const { position } = stands
  let writes: DocumentWrite[] = []
  const write = async () => {
    if (!(await views.commit(writes, { name, expected: position, next: stands })))
      throw new Error(`${projection.name} was written by another process.`)
    writes = []
  }
  for (const doc of docs) {
    if (writes.push({ collection, id: v7(), doc, position }) === BATCH) await write()
  }
  await write()
}
