import { describe, expect, it } from 'vitest'
import { anyEntityOf, streamOf } from '../../../../src/kernel/entity.ts'
import { getEntry } from '../../../../src/kernel/windowed-map.ts'
import type { OperationalStore } from '../../../../src/ports/operational-store.ts'
import { StoreUnavailable } from '../../../../src/ports/read-store.ts'
import { HEADS, headKey, headsOf, snapshotIdOf } from '../../../../src/runtime/write/snapshots/head.ts'
import { OUTDATED_MS } from '../../../../src/runtime/write/snapshots/outdated.ts'
import { PIECE_BYTES } from '../../../../src/runtime/write/snapshots/piece.ts'
import type { StreamWriter } from '../../../../src/runtime/write/stream-writer.ts'
import { notebook, notebookCommands } from '../../../support/fixtures/notebook.ts'
import { plainState } from '../../../support/fixtures/snapshots.ts'
import { idOf } from '../../../support/fixtures/spec.ts'
import {
  acceptedOutcome,
  createWriterFixture,
  execute,
  withAppendFaults,
} from '../../../support/fixtures/writer-fixture.ts'
import { flushEventLoop } from '../../../support/memory/clock.ts'

const { note, recall } = notebookCommands()
const notebookId = idOf(1)
const STREAM = streamOf(notebook, notebookId)
const next = { ...notebook, version: 2 }
const nextNote = notebookCommands(next).note

const add = (writer: StreamWriter, key: string, text = 'text', command = note) =>
  acceptedOutcome(execute(writer, command, { notebookId, texts: { [key]: text } }))

/** Adds so many notes, one after another. */
async function addNotes(writer: StreamWriter, count: number, command = note): Promise<void> {
  for (let n = 0; n < count; n++) await add(writer, `key ${n}`, `text ${n}`, command)
}

/** The keys of a store's snapshots, without their versions. */
async function storedHeads(ops: OperationalStore, prefix = HEADS): Promise<readonly string[]> {
  return (await ops.list(prefix, 0)).map(({ key }) => key)
}

/** A log that notes from which revisions the stream is read. */
function withReads({ log }: Pick<ReturnType<typeof createWriterFixture>, 'log'>) {
  const reads: number[] = []
  return {
    reads,
    log: {
      ...log,
      read(stream: string, from: number, limit: number) {
        if (stream === STREAM) reads.push(from)
        return log.read(stream, from, limit)
      },
    },
  }
}

/** A store whose writes fail while `isDown`. */
function withOutage(ops: OperationalStore) {
  const outage = { isDown: false }
  const down = async () => {
    throw new StoreUnavailable('The store is unavailable.')
  }
  const store: OperationalStore = {
    ...ops,
    put: (...args) => (outage.isDown ? down() : ops.put(...args)),
    putIf: (...args) => (outage.isDown ? down() : ops.putIf(...args)),
    list: (...args) => (outage.isDown ? down() : ops.list(...args)),
  }
  return { store, outage }
}

describe('a long stream', () => {
  it('is saved at its marks, and read from the last one on by a fresh process', async () => {
    const fixture = createWriterFixture()
    const one = fixture.writer({ markEvery: 10 })
    await addNotes(one, 25)
    await one.close()
    const { log, reads } = withReads(fixture)
    const fresh = fixture.writer({ log })
    expect(plainState(await fresh.stateOf(notebook, notebookId))).toEqual(
      plainState(await one.stateOf(notebook, notebookId)),
    )
    expect(reads).toEqual([20])
  })

  it('is saved while its mailbox is never empty', async () => {
    const { log, ops, writer } = createWriterFixture()
    const { promise, resolve } = Promise.withResolvers<undefined>()
    const one = writer({ log: withAppendFaults(log, { 3: promise }).log, markEvery: 10 })
    const first = Promise.all(Array.from({ length: 10 }, (_, n) => add(one, `key ${n}`)))
    await flushEventLoop(1)
    const second = add(one, 'another')
    await flushEventLoop()
    expect(await storedHeads(ops)).toHaveLength(1)
    resolve(undefined)
    await Promise.all([first, second])
  })

  it('is saved as it is when its process ends, unless it grew by a few events alone', async () => {
    for (const [events, from] of [
      [99, 0],
      [100, 100],
    ] as const) {
      const fixture = createWriterFixture()
      const one = fixture.writer()
      await addNotes(one, events)
      await one.close()
      const { log, reads } = withReads(fixture)
      await fixture.writer({ log }).stateOf(notebook, notebookId)
      expect(reads).toEqual([from])
    }
  })

  it('is continued by other processes, none of which writes what another has written', async () => {
    const { ops, writer } = createWriterFixture()
    let bytes = 0
    const counted: OperationalStore = {
      ...ops,
      put(key, value, expiresAt) {
        if (value instanceof Uint8Array) bytes += value.byteLength
        return ops.put(key, value, expiresAt)
      },
    }
    const writers = [0, 1, 2].map(() => writer({ ops: counted, markEvery: 10 }))
    const texts = Object.fromEntries(Array.from({ length: 400 }, (_, n) => [`first ${n}`, 'x'.repeat(500)]))
    for (const one of writers) await one.stateOf(notebook, notebookId)
    await acceptedOutcome(execute(writers[0] as StreamWriter, recall, { notebookId, texts }))
    await flushEventLoop(50)
    const first = bytes
    expect(first).toBeGreaterThan(100_000)
    for (let n = 0; n < 30; n++) {
      await add(writers[n % 3] as StreamWriter, `key ${n}`, 'text', recall)
      await flushEventLoop(10)
    }
    expect(bytes - first).toBeLessThan(10_000)
    const fresh = await writer().stateOf(notebook, notebookId)
    expect(getEntry(fresh.recent, 'first 399')?.text).toHaveLength(500)
    expect(getEntry(fresh.recent, 'key 29')).toMatchObject({ text: 'text' })
  })

  it('is stored in values of at most 1 MB, of which a snapshot writes what is new', async () => {
    const { ops, writer } = createWriterFixture()
    const sizes: number[] = []
    const spied: OperationalStore = {
      ...ops,
      put(key, value, expiresAt) {
        sizes.push(value instanceof Uint8Array ? value.byteLength : JSON.stringify(value).length)
        return ops.put(key, value, expiresAt)
      },
    }
    const one = writer({ ops: spied, markEvery: 500 })
    const noteMany = async (from: number, length: number) => {
      const entries = Array.from({ length: 500 }, (_, n) => [`key ${from + n}`, `${'é'.repeat(length)} ${from + n}`])
      await acceptedOutcome(execute(one, note, { notebookId, texts: Object.fromEntries(entries) }))
      await one.close()
    }
    for (let from = 0; from < 2_500; from += 500) await noteMany(from, 500)
    expect(Math.max(...sizes)).toBeLessThanOrEqual(PIECE_BYTES)
    expect(sizes.reduce((sum, size) => sum + size)).toBeGreaterThan(2 * PIECE_BYTES)
    const before = sizes.length
    await noteMany(1_000, 1)
    expect(sizes.slice(before).reduce((sum, size) => sum + size)).toBeLessThan(PIECE_BYTES / 10)
    expect(plainState(await writer().stateOf(notebook, notebookId))).toEqual(
      plainState(await one.stateOf(notebook, notebookId)),
    )
  })
})

describe('a failed snapshot', () => {
  it('is reported and counted, and tried again after ten seconds', async () => {
    const { ops, clock, writer } = createWriterFixture()
    const { store, outage } = withOutage(ops)
    const failures: string[] = []
    const one = writer({ ops: store, markEvery: 10, onSnapshotFailure: (stream) => failures.push(stream) })
    outage.isDown = true
    await addNotes(one, 12)
    await flushEventLoop()
    expect(failures).toEqual([STREAM])
    expect(one.snapshotStatus()).toEqual({ missing: 0, failing: 1 })
    outage.isDown = false
    await clock.advance(9_999)
    await addNotes(one, 1)
    await flushEventLoop()
    expect(await storedHeads(ops)).toEqual([])
    await clock.advance(1)
    await addNotes(one, 1)
    await flushEventLoop()
    expect(await storedHeads(ops)).toHaveLength(1)
    expect(one.snapshotStatus().failing).toBe(0)
  })

  it('of a damaged piece is reported; the stream is read from its start, and the snapshot replaced', async () => {
    const fixture = createWriterFixture()
    const { ops, writer } = fixture
    const first = writer({ markEvery: 10 })
    await addNotes(first, 25)
    await first.close()
    const [piece] = await ops.list('piece:', 0)
    await ops.put(piece?.key ?? '', Uint8Array.of(1, 2, 3), null)
    const { log, reads } = withReads(fixture)
    const failures: unknown[] = []
    const second = writer({ log, markEvery: 10, onSnapshotFailure: (_stream, error) => failures.push(error) })
    await addNotes(second, 10)
    await second.close()
    expect(reads[0]).toBe(0)
    expect(failures).toHaveLength(1)
    const third = withReads(fixture)
    const { notes } = await writer({ log: third.log }).stateOf(notebook, notebookId)
    expect(notes.size).toBe(25)
    expect(third.reads).toEqual([30])
  })
})

describe('folds in memory', () => {
  it('beyond their bytes are dropped, those used longest ago first, and saved before', async () => {
    const fixture = createWriterFixture()
    const { ops } = fixture
    const one = fixture.writer({ maxFoldBytes: 20 * 32 * 1024 })
    const idsOf = (from: number, count: number) => Array.from({ length: count }, (_, n) => idOf(from + n))
    const touch = async (ids: readonly string[]) => {
      for (const id of ids) await one.stateOf(notebook, id)
    }
    await addNotes(one, 150)
    await touch(idsOf(100, 15))
    const isKnown = (id: string) => one.cachedStateOf(notebook, id) !== null
    expect([notebookId, idOf(100)].map(isKnown)).toEqual([true, true])
    await touch(idsOf(200, 35))
    await flushEventLoop(40)
    expect([notebookId, idOf(100), idOf(200), idOf(234)].map(isKnown)).toEqual([false, false, true, true])
    expect(await storedHeads(ops, headsOf(STREAM))).toHaveLength(1)
    await addNotes(one, 1)
    expect((await one.stateOf(notebook, notebookId)).notes.size).toBe(150)
  })
})

describe('two versions of a state', () => {
  it('keep their snapshots side by side', async () => {
    const fixture = createWriterFixture()
    const [old, young] = [fixture.writer({ markEvery: 10 }), fixture.writer({ markEvery: 10 })]
    for (let n = 0; n < 15; n++) {
      await add(old, `key ${n}`, 'old')
      await add(young, `key ${n}`, 'young', nextNote)
    }
    await old.close()
    await young.close()
    // Either has read as far as it wrote.
    for (const [entity, from] of [
      [notebook, 20],
      [next, 30],
    ] as const) {
      const { log, reads } = withReads(fixture)
      expect((await fixture.writer({ log }).stateOf(entity, notebookId)).notes.get('key 14')?.text).toBe('young')
      expect(reads).toEqual([from])
    }
    expect(await storedHeads(fixture.ops)).toEqual(
      [notebook, next].map((entity) => headKey(snapshotIdOf(entity, STREAM))),
    )
  })

  it('are built before they are needed: those that another version has, and no others', async () => {
    const fixture = createWriterFixture()
    const { ops, writer } = fixture
    const old = writer({ markEvery: 10 })
    await addNotes(old, 25)
    await old.close()
    const young = writer({ markEvery: 10 })
    const building = young.buildSnapshots([anyEntityOf(next)], new AbortController().signal)
    expect(young.snapshotStatus().missing).toBe(1)
    await building
    expect(young.snapshotStatus()).toEqual({ missing: 0, failing: 0 })
    expect(await storedHeads(ops)).toHaveLength(2)
    const { log, reads } = withReads(fixture)
    await writer({ log, markEvery: 10 }).buildSnapshots([anyEntityOf(next)], new AbortController().signal)
    expect(reads).toEqual([])
    await writer({ log }).stateOf(next, notebookId)
    expect(reads).toEqual([20])
  })

  it('are built as soon as the store can be reached', async () => {
    const { ops, clock, writer } = createWriterFixture()
    const old = writer({ markEvery: 10 })
    await addNotes(old, 10)
    await old.close()
    const { store, outage } = withOutage(ops)
    outage.isDown = true
    const young = writer({ ops: store, markEvery: 10 })
    const building = young.buildSnapshots([anyEntityOf(next)], new AbortController().signal)
    await flushEventLoop()
    expect(young.snapshotStatus().missing).toBe(1)
    outage.isDown = false
    await clock.advance(60_000)
    await building
    expect(await storedHeads(ops)).toHaveLength(2)
  })

  it.each([
    ['kept for a week', 0, 2],
    ['deleted with their pieces after a week', 1, 1],
  ])('are %s after the last one of theirs', async (_what, ms, left) => {
    const { ops, clock, writer } = createWriterFixture()
    const old = writer({ markEvery: 10 })
    await addNotes(old, 10)
    await old.close()
    await clock.advance(OUTDATED_MS - 1 + ms)
    const young = writer({ markEvery: 10 })
    await young.buildSnapshots([anyEntityOf(next)], new AbortController().signal)
    expect(await storedHeads(ops)).toHaveLength(left)
    expect(await ops.list(`piece:${STREAM}@`, 0)).toHaveLength(left)
  })
})
