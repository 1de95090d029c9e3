import { mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openSqliteReadStore } from '../../src/adapters/sqlite/read-store.ts'
import { createWalCheckpoints } from '../../src/adapters/sqlite/wal-checkpoints.ts'
import type { Doc, DocumentWrite, ReadStore } from '../../src/ports/read-store.ts'
import { wholeCheckpoint } from '../support/memory/ownership.ts'

const MEBIBYTE = 1_048_576
const DOCUMENTS = 30

let directory: string
let path: string
let store: ReadStore

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'views-'))
  path = join(directory, 'views.db')
  store = await openSqliteReadStore(path)
})

afterEach(async () => {
  await store.close()
  await rm(directory, { recursive: true })
})

async function put(name: string, documents: readonly Doc[]): Promise<void> {
  await store.ensure([{ name: `${name}_v1`, indexes: [{ kind: 1 }], columns: [] }])
  const writes = documents.map((doc, n): DocumentWrite => ({ collection: `${name}_v1`, id: `${n}`, position: n, doc }))
  const next = { position: documents.length, at: null }
  await store.commit(writes, { name: wholeCheckpoint(`${name}@1`), expected: null, next })
}

test('others are served while a large collection is dropped', async () => {
  await put(
    'many',
    Array.from({ length: 3_000 }, (_, kind) => ({ kind })),
  )
  await put('kept', [{ kind: 1 }])
  const order: string[] = []
  const dropping = store.drop('many_v1', 'many@1').then(() => order.push('dropped'))
  expect(await store.get('kept_v1', '0')).not.toBeNull()
  order.push('served')
  await dropping
  expect(order).toEqual(['served', 'dropped'])
  expect(await store.collections()).toEqual(['kept_v1'])
})

test('what many writes leave in the write-ahead log is moved into the file while the store is open', async () => {
  const text = 'x'.repeat(MEBIBYTE / 10)
  await put(
    'notes',
    Array.from({ length: DOCUMENTS }, () => ({ text })),
  )
  const checkpoints = createWalCheckpoints(path)
  checkpoints.wrote(MEBIBYTE)
  await checkpoints.close()
  checkpoints.wrote(MEBIBYTE)
  await checkpoints.close()
  expect((await stat(path)).size).toBeGreaterThan((DOCUMENTS * MEBIBYTE) / 10)
  expect(await store.count('notes_v1', {})).toBe(DOCUMENTS)
})
