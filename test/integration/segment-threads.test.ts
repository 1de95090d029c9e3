import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openLocalFiles } from '../../src/adapters/files/local-files.ts'
import { createSegmentThreads, type SegmentThreads } from '../../src/main/read-side/segment-threads.ts'
import { openReadStore } from '../../src/main/stores.ts'
import { type DocumentWrite, type ReadStore, StoreUnavailable } from '../../src/ports/read-store.ts'
import { withColumns } from '../../src/runtime/columns/column-store.ts'
import { columnParts } from '../support/fixtures/column-parts.ts'
import { SMALL_LIMITS, WORLD_SPEC, worldDoc } from '../support/fixtures/column-world.ts'
import { createManualClock } from '../support/memory/clock.ts'
import { wholeCheckpoint } from '../support/memory/ownership.ts'

const COLLECTION = 'calls_v1'
const CALLS = 100

let directory: string
let store: ReadStore
let threads: SegmentThreads

const urlOf = (file: string) => `sqlite:${join(directory, file)}`
const threadsOver = (readStoreUrl: string) =>
  createSegmentThreads(
    {
      readStoreUrl,
      columnsDirectory: join(directory, 'columns'),
      ...{ eventLogUrl: '', publicUrl: '', polls: false, owner: 'test', shards: 1 },
    },
    createManualClock(),
  )

function columnsOver(builder: SegmentThreads) {
  const files = openLocalFiles(join(directory, 'columns'))
  return withColumns(store, { ...columnParts([WORLD_SPEC]), files, limits: SMALL_LIMITS, builder })
}

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'segments-'))
  store = await openReadStore(urlOf('views.db'), { follows: true })
  await store.ensure([{ name: COLLECTION, indexes: [{ workspaceId: 1, at: -1 }], columns: ['seq'] }])
  const writes = Array.from({ length: CALLS }, (_, seq): DocumentWrite => {
    const call = { workspaceId: 'w1', seq, cents: seq, talk: 1, buyer: `b${seq % 3}`, status: seq % 2 === 0 }
    return { collection: COLLECTION, id: `${seq}`, position: seq, doc: worldDoc(call) }
  })
  const next = { position: CALLS, at: null }
  await store.commit(writes, { name: wholeCheckpoint('calls@1'), expected: null, next })
  threads = threadsOver(urlOf('views.db'))
})

afterEach(async () => {
  await threads.close()
  await store.close()
  await rm(directory, { recursive: true })
})

test('segments that threads build give the sums of the documents', async () => {
  const columns = columnsOver(threads)
  const ask = { filter: { workspaceId: 'w1', status: true }, groupBy: ['buyer.id'], fields: ['cents', 'talk'] }
  const sums = await columns.sum(COLLECTION, ask.filter, ask.groupBy, ask.fields)
  const expected = await store.sum(COLLECTION, ask.filter, ask.groupBy, ask.fields)
  expect(new Set(sums)).toEqual(new Set(expected))
  const [folder = ''] = await readdir(join(directory, 'columns', COLLECTION))
  expect((await readdir(join(directory, 'columns', COLLECTION, folder))).length).toBeGreaterThan(CALLS / 8)
})

test('after the threads have ended, the next call starts others', async () => {
  const rows = { spec: WORLD_SPEC, collection: COLLECTION, workspaceId: 'w2', limits: SMALL_LIMITS }
  expect(await threads.spanBefore({ rows, to: null, count: 8 })).toEqual({ from: null, to: null })
  await threads.close()
  expect(await columnsOver(threads).count(COLLECTION, { workspaceId: 'w1' })).toBe(CALLS)
})

test('a store that threads cannot open is unavailable', async () => {
  const lost = threadsOver(`sqlite:${directory}`)
  await expect(columnsOver(lost).count(COLLECTION, { workspaceId: 'w1' })).rejects.toThrow(StoreUnavailable)
  await lost.close()
})
