import { createHash } from 'node:crypto'
import { followed, projections, upcasts } from '../../../src/main/registry.ts'
import { systemClock } from '../../../src/main/system.ts'
import type { EventLog } from '../../../src/ports/event-log.ts'
import type { ReadStore } from '../../../src/ports/read-store.ts'
import { readActiveCollections } from '../../../src/runtime/projections/build-alias.ts'
import { runProjections } from '../../../src/runtime/projections/projection-runner.ts'
import { waitUntil } from '../e2e/server.ts'
import { ownEverything } from '../memory/ownership.ts'

const CATCH_UP_MS = 120_000

/** Projects the rest of a log into a store. */
export async function catchUp(log: EventLog, store: ReadStore): Promise<void> {
  const stop = new AbortController()
  const head = await log.head()
  const runner = runProjections({
    log,
    store,
    ownership: ownEverything(),
    projections,
    upcasts,
    clock: systemClock,
    signal: stop.signal,
    indexedByPosition: followed,
  })
  const caughtUp = async () => {
    const statuses = runner.status()
    return statuses.length === projections.length && statuses.every(({ position }) => position >= head)
  }
  await waitUntil('The read models have caught up', caughtUp, CATCH_UP_MS).catch((cause: Error) => {
    const behind = runner.status().filter(({ position }) => position < head)
    throw new Error(`${cause.message}; head ${head}, ${JSON.stringify(behind)}`, { cause })
  })
  stop.abort()
  await runner.done
}

/** One hash for each read model, over its documents and their ids in order of id. */
export async function readModelHashes(store: ReadStore): Promise<Readonly<Record<string, string>>> {
  const collections = await readActiveCollections(store, projections)
  const hashed = projections.map(async ({ name }) => {
    const collection = collections.get(name) ?? ''
    const hash = createHash('sha256')
    let documents = 0
    for (let skip = 0, rows = 5_000; rows === 5_000; skip += rows) {
      const page = await store.find(collection, { filter: {}, skip, limit: 5_000 })
      for (const { id, doc } of page) hash.update(`${id}\n${canonical(doc)}\n`)
      rows = page.length
      documents += rows
    }
    return [name, `${documents} ${hash.digest('hex')}`] as const
  })
  return Object.fromEntries(await Promise.all(hashed))
}

/** JSON with sorted keys. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).toSorted(([one], [other]) => (one < other ? -1 : 1)))
      : inner,
  )
}
