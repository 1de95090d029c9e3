import { createHash } from 'node:crypto'
import type { AnyProjection } from '../../../src/kernel/projection.ts'
import { followed, projections, upcasts } from '../../../src/main/registry.ts'
import { systemClock } from '../../../src/main/system.ts'
import type { EventLog } from '../../../src/ports/event-log.ts'
import type { ReadStore } from '../../../src/ports/read-store.ts'
import { readActiveCollections } from '../../../src/runtime/projections/build-alias.ts'
import { runProjections } from '../../../src/runtime/projections/projection-runner.ts'
import { rebuildProjections } from '../../../src/runtime/projections/rebuild-projections.ts'
import { waitUntil } from '../e2e/server.ts'
import { ownEverything } from '../memory/ownership.ts'

const CATCH_UP_MS = 120_000
const PAGE = 5_000

/**
 * What mongo-java-server answers to every replacement of a document whose entry in its index of ids it has lost, which it does now
 * and then on a file. MongoDB has no such answer. The read model is damaged for good: it is rebuilt, as an operator does.
 */
const LOST_INDEX_ENTRY = 'Expected one element but got zero'

type Runner = ReturnType<typeof runProjections>

/** Waits until the projections have caught up. Returns those that the store keeps from it. @throws Error when another is behind */
async function damagedProjections(runner: Runner, head: number): Promise<readonly AnyProjection[]> {
  const behind = () => runner.status().filter(({ position }) => position < head)
  const isDamaged = ({ problem }: { readonly problem: string | null }) => problem?.includes(LOST_INDEX_ENTRY) ?? false
  const caughtUp = async () => runner.status().length === projections.length && behind().every(isDamaged)
  await waitUntil('The read models have caught up', caughtUp, CATCH_UP_MS).catch((cause: Error) => {
    throw new Error(`${cause.message}; head ${head}, ${JSON.stringify(behind())}`, { cause })
  })
  const damaged = new Set(behind().map(({ name }) => name))
  return projections.filter(({ name }) => damaged.has(name))
}

/** Projects the rest of a log into a store. */
export async function catchUp(log: EventLog, store: ReadStore): Promise<void> {
  const stop = new AbortController()
  const head = await log.head()
  const options = {
    log,
    store,
    ownership: ownEverything(),
    upcasts,
    clock: systemClock,
    signal: stop.signal,
    indexedByPosition: followed,
  }
  const runner = runProjections({ ...options, projections })
  const damaged = await damagedProjections(runner, head)
  stop.abort()
  await runner.done
  if (damaged.length === 0) return
  console.warn(`The server lost entries of its indexes; rebuilt: ${damaged.map(({ name }) => name).join(', ')}`)
  const rebuilding = { ...options, ownership: ownEverything(), signal: new AbortController().signal }
  await rebuildProjections({ ...rebuilding, projections: damaged })
  await catchUp(log, store)
}

/** The documents of one read model: the hash of each by its id. */
export type DocumentHashes = ReadonlyMap<string, string>

/** The documents of every read model, by its name. */
export async function readModelHashes(store: ReadStore): Promise<Readonly<Record<string, DocumentHashes>>> {
  const collections = await readActiveCollections(store, projections)
  const hashed = projections.map(async ({ name }) => {
    const collection = collections.get(name) ?? ''
    const hashes = new Map<string, string>()
    for (let skip = 0, rows = PAGE; rows === PAGE; skip += rows) {
      const page = await store.find(collection, { filter: {}, skip, limit: PAGE })
      for (const { id, doc } of page) hashes.set(id, createHash('sha256').update(canonical(doc)).digest('hex'))
      rows = page.length
    }
    return [name, hashes] as const
  })
  return Object.fromEntries(await Promise.all(hashed))
}

/** A sentence for each read model that is not what a rebuild makes of the log, with the ids of some documents. */
export function differences(
  models: Readonly<Record<string, DocumentHashes>>,
  rebuilt: Readonly<Record<string, DocumentHashes>>,
): readonly string[] {
  return Object.entries(models).flatMap(([name, hashes]) => {
    const expected: DocumentHashes = rebuilt[name] ?? new Map()
    const ids = [...new Set([...hashes.keys(), ...expected.keys()])]
    const told = (what: string, those: readonly string[]) =>
      those.length === 0 ? [] : [`${those.length} ${what} (${those.slice(0, 3).join(', ')})`]
    const found = [
      ...told(
        'missing',
        ids.filter((id) => !hashes.has(id)),
      ),
      ...told(
        'too many',
        ids.filter((id) => !expected.has(id)),
      ),
      ...told(
        'unlike',
        ids.filter((id) => hashes.has(id) && expected.has(id) && hashes.get(id) !== expected.get(id)),
      ),
    ]
    return found.length === 0
      ? []
      : [`${name} differs from its rebuild of ${expected.size} documents: ${found.join(', ')}`]
  })
}

/** JSON with sorted keys. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).toSorted(([one], [other]) => (one < other ? -1 : 1)))
      : inner,
  )
}
