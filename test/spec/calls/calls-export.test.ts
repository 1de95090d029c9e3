import { describe, expect, it } from 'vitest'
import { callLog } from '../../../projections/calls/call-log.ts'
import { type ExportBatchRequest, readCallsExport } from '../../../queries/calls/calls-export.ts'
import { linesOf } from '../../../src/api/writes/calls-export.ts'
import { call } from '../../../src/domain/calls/call.ts'
import { callRef } from '../../../src/domain/routing/decision.ts'
import { EXPORT } from '../../../src/domain/shared/limits.ts'
import { collectionOf, withDerivedFields } from '../../../src/kernel/projection.ts'
import { type Doc, StoreUnavailable } from '../../../src/ports/read-store.ts'
import { callWorld, nthCallId } from '../../support/fixtures/call-world.ts'
import { playCalls } from '../../support/fixtures/play-call.ts'
import { project } from '../../support/fixtures/project.ts'
import { NOW, recordedEvents, WORKSPACE } from '../../support/fixtures/spec.ts'
import { createMemoryReadStore } from '../../support/memory/read-store.ts'

const NOW_MS = Date.parse(NOW)
const projected = await project(callLog, recordedEvents(call, playCalls(callWorld(), {}).calls))
const template = callLog.doc.parse(projected[nthCallId(1)])

/** A store of calls that started the given milliseconds before now, with CSV rows or what an earlier version stored instead. */
async function storeOfCalls(before: readonly number[], stored: (csvRow: string) => object = (csvRow) => ({ csvRow })) {
  const store = createMemoryReadStore()
  const collection = collectionOf(callLog)
  const writes = before.map((ms, n) => {
    const [seq, startedMs] = [n + 1, NOW_MS - ms]
    const at = { seq, ref: callRef(seq), startedMs, startedAt: new Date(startedMs).toISOString() }
    const { csvRow, ...facts } = withDerivedFields(callLog, { ...template, ...at })
    const doc: Doc = { ...facts, ...stored(csvRow) }
    return { collection, id: `c${n}`, position: n, doc }
  })
  await store.commit(writes, { name: 'calls', expected: null, next: { position: before.length, at: null } })
  return store
}

/** The refs of each batch, and the whole text. */
async function read(store: Awaited<ReturnType<typeof storeOfCalls>>, most: number = EXPORT.calls) {
  const batches: (readonly string[])[] = []
  let text = ''
  let belowMs: number | null = NOW_MS + 1
  for (let left = most; belowMs !== null; ) {
    const requests = { filter: { workspaceId: WORKSPACE }, fromMs: 0, belowMs, timezone: 'Asia/Kolkata', most: left }
    const lines = await readCallsExport(store, requests)
    const part = new TextDecoder().decode(lines.bytes)
    text += part
    const refs = part.match(/(?<=^")CA-\d+/gm) ?? []
    expect(refs).toHaveLength(lines.rows)
    batches.push(refs)
    left -= lines.rows
    belowMs = lines.belowMs
  }
  return { batches, text }
}

const refsOf = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, n) => callRef(from + n))
const sizes = ({ batches }: { readonly batches: readonly (readonly string[])[] }) => batches.map((refs) => refs.length)
const each = (count: number, msOf: (n: number) => number) => Array.from({ length: count }, (_, n) => msOf(n))

describe('rows of the call export', () => {
  it('come newest first in batches, each call once', async () => {
    const count = EXPORT.batch * 2 + 10
    const found = await read(await storeOfCalls(each(count, (n) => n)))
    expect(sizes(found)).toEqual([EXPORT.batch, EXPORT.batch, 10])
    expect(found.batches.flat()).toEqual(refsOf(1, count))
  })

  it('never split the calls of one millisecond between batches', async () => {
    const found = await read(await storeOfCalls(each(EXPORT.batch + 20, (n) => Math.floor(n / 3))))
    expect(sizes(found)).toEqual([
      Math.floor(EXPORT.batch / 3) * 3,
      EXPORT.batch + 20 - Math.floor(EXPORT.batch / 3) * 3,
    ])
    expect(new Set(found.batches.flat()).size).toBe(EXPORT.batch + 20)
  })

  it('come in a larger batch when one millisecond fills it', async () => {
    const found = await read(await storeOfCalls(each(EXPORT.batch + 700, (n) => (n < EXPORT.batch + 500 ? 0 : n))))
    expect(new Set(found.batches.flat()).size).toBe(EXPORT.batch + 700)
    expect(sizes(found)[0]).toBeGreaterThanOrEqual(EXPORT.batch + 500)
  })

  it('are the newest ones up to the limit', async () => {
    const store = await storeOfCalls(each(EXPORT.batch + 20, (n) => Math.floor(n / 3)))
    for (const most of [1, 7, EXPORT.batch, EXPORT.batch + 1]) {
      const { batches } = await read(store, most)
      expect(batches.flat()).toHaveLength(most)
    }
    expect((await read(await storeOfCalls([]))).batches).toEqual([[]])
  })

  it.each<readonly [string, (csvRow: string) => object]>([
    ['no rows', () => ({})],
    ['rows without quotes', (csvRow) => ({ csvRow: csvRow.replaceAll('"', '') })],
  ])('are the same from an earlier version of the call log, which stored %s', async (_what, stored) => {
    const before = each(40, (n) => n * 900_000)
    expect((await read(await storeOfCalls(before, stored))).text).toBe((await read(await storeOfCalls(before))).text)
  })
})

describe('batches of the call export', () => {
  const window = { file: 'a', filter: { workspaceId: WORKSPACE }, fromMs: 0, belowMs: NOW_MS + 1, timezone: 'UTC' }
  const drained = () => new Promise((resolve) => setImmediate(resolve))

  it('are prefetched one ahead of the reader', async () => {
    const store = await storeOfCalls(each(EXPORT.batch * 4, (n) => n))
    const asks: ExportBatchRequest[] = []
    const batches = linesOf((ask) => {
      asks.push(ask)
      return readCallsExport(store, ask)
    }, window)
    for (const created of [2, 3, 4, 4]) {
      expect((await batches.next()).done).toBe(false)
      await drained()
      expect(asks).toHaveLength(created)
    }
    expect((await batches.next()).done).toBe(true)
    expect(asks.map(({ most }) => EXPORT.calls - most)).toEqual([0, 1, 2, 3].map((n) => n * EXPORT.batch))
  })

  it('fail when they are read, not before', async () => {
    const store = await storeOfCalls(each(EXPORT.batch * 2, (n) => n))
    let requests = 0
    const batches = linesOf(async (ask) => {
      requests += 1
      if (requests > 1) throw new StoreUnavailable('away')
      return readCallsExport(store, ask)
    }, window)
    expect((await batches.next()).done).toBe(false)
    await drained()
    await expect(batches.next()).rejects.toThrow(StoreUnavailable)
  })
})
