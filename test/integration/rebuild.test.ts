import { createHash } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openSqliteEventReader } from '../../src/adapters/sqlite/event-log.ts'
import { openSqliteReadStore } from '../../src/adapters/sqlite/read-store.ts'
import { projectionNames, rebuild } from '../../src/main/rebuild.ts'
import { followed, projections, upcasts } from '../../src/main/registry.ts'
import { systemClock as clock } from '../../src/main/system.ts'
import { readActiveCollections } from '../../src/runtime/projections/build-alias.ts'
import { runProjections } from '../../src/runtime/projections/projection-runner.ts'
import { catchUp } from '../bench/catch-up.ts'
import { openEngine } from '../bench/engine.ts'
import { enterStores } from '../support/fixtures/member.ts'

let directory = ''
const fileOf = (name: string) => join(directory, `${name}.db`)

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'ringledger-rebuild-'))
  const engine = await openEngine(directory)
  await engine.play(12, 4)
  const head = await engine.log.head()
  await engine.close()
  await catchUp(await openSqliteEventReader(fileOf('events')), fileOf('views'), head)
})
afterEach(() => rm(directory, { recursive: true, force: true }))

/** For each projection, the collection that is read and a hash of all it holds. */
async function readModels() {
  const store = await openSqliteReadStore(fileOf('views'))
  const models = new Map<string, { readonly collection: string; readonly documents: number; readonly hash: string }>()
  for (const [name, collection] of await readActiveCollections(store, projections)) {
    const stored = (await store.find(collection, { filter: {} })).toSorted((a, b) => (a.id < b.id ? -1 : 1))
    const hash = createHash('sha256').update(JSON.stringify(stored)).digest('hex')
    models.set(name, { collection, documents: stored.length, hash })
  }
  await store.close()
  return models
}

const hashesOf = (models: Awaited<ReturnType<typeof readModels>>) =>
  [...models].map(([name, { documents, hash }]) => ({ name, documents, hash }))

const rebuildAll = (onProgress: Parameters<typeof rebuild>[2] = () => undefined) =>
  rebuild({ DATA_DIR: directory }, projectionNames, onProgress, new AbortController().signal)

test('a rebuild leaves identical read models in new collections', async () => {
  const before = await readModels()
  const seen: number[] = []
  await rebuildAll(({ done, total }) => seen.push(done / total))
  const after = await readModels()
  expect(after.get('call-log')?.documents).toBe(12)
  expect(hashesOf(after)).toEqual(hashesOf(before))
  for (const name of projectionNames) {
    expect(after.get(name)?.collection).not.toBe(before.get(name)?.collection)
  }
  expect(seen.at(-1)).toBe(1)
})

test('a rebuild beside a running server leaves the same', async () => {
  const before = await readModels()
  const log = await openSqliteEventReader(fileOf('events'))
  const store = await openSqliteReadStore(fileOf('views'))
  const stop = new AbortController()
  const member = await enterStores(`sqlite:${fileOf('views')}`)
  const ownership = member.openOwnership()
  const server = runProjections({
    log,
    store,
    ownership,
    projections,
    upcasts,
    indexedByPosition: followed,
    clock,
    signal: stop.signal,
  })
  await rebuildAll()
  stop.abort()
  await server.done
  await ownership.close()
  await member.leave()
  await Promise.all([log.close(), store.close()])
  expect(hashesOf(await readModels())).toEqual(hashesOf(before))
})

test('an unknown name is refused in one sentence', async () => {
  const requests = rebuild({ DATA_DIR: directory }, ['call-lag'], () => undefined, new AbortController().signal)
  await expect(requests).rejects.toThrow('There is no projection "call-lag"')
})
