import { Map as PersistentMap } from 'immutable'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { type AnyEntity, defineEntity } from '../../../../src/kernel/entity.ts'
import type { RecordedEvent } from '../../../../src/kernel/event.ts'
import { entriesOf } from '../../../../src/kernel/windowed-map.ts'
import { emptyFold, type Fold, foldEvents } from '../../../../src/runtime/write/fold.ts'
import { findReceipt } from '../../../../src/runtime/write/processed-commands.ts'
import { loadFold, saveFold } from '../../../support/fixtures/snapshots.ts'
import { NOW, recordedEvents } from '../../../support/fixtures/spec.ts'
import { createMemoryOperationalStore } from '../../../support/memory/operational-store.ts'

const HOUR = 3_600_000
const at = (ms: number) => new Date(Date.parse(NOW) + ms).toISOString()

/** Sums that began as texts. */
const sums = defineEntity({
  name: 'sums',
  version: 2,
  events: { Added: z.object({ amount: z.int() }), Noted: z.object({}) },
  initial: 0,
  deduplicatesCommands: true,
  upcasts: { Added: [(data) => ({ amount: Number(z.object({ text: z.string() }).parse(data).text) })] },
  evolve: { Added: (sum, { data }) => sum + data.amount },
})

const added = (revision: number, commandId: string, ms = 0, amount = 1): RecordedEvent => {
  const [event] = recordedEvents(sums, [{ type: 'Added', data: { amount } }], { from: revision, at: at(ms) })
  if (!event) throw new Error('Nothing was recorded.')
  return { ...event, version: 2, meta: { ...event.meta, commandId } }
}
const traceOf = ({ commands }: Fold, commandId: string, now: string) => findReceipt(commands, commandId, now)
const fold = (...events: readonly RecordedEvent[]) => foldEvents(sums, emptyFold(sums), events)

describe('foldEvents', () => {
  it('continues from its revision, and skips events that it already has', () => {
    const events = [added(0, 'a'), added(1, 'b'), added(2, 'c')]
    const part = fold(...events.slice(0, 2))
    expect(part).toMatchObject({ state: 2, revision: 1, position: 1 })
    expect(foldEvents(sums, part, events)).toEqual(fold(...events))
    expect(part.state).toBe(2)
  })

  it('counts events that change no state', () => {
    const [noted] = recordedEvents(sums, [{ type: 'Noted', data: {} }])
    expect(noted && fold(noted)).toMatchObject({ state: 0, revision: 0 })
  })

  it('upcasts events of older versions', () => {
    expect(fold({ ...added(0, 'a'), version: 1, data: { text: '41' } }, added(1, 'b')).state).toBe(42)
  })
})

describe('command receipts', () => {
  it('hold all revisions that a command wrote', () => {
    const trace = traceOf(fold(added(0, 'a'), added(1, 'b'), added(2, 'b'), added(3, 'c')), 'b', at(0))
    expect(trace).toEqual({ from: 1, to: 2, at: at(0) })
    expect(traceOf(fold(added(0, 'a')), 'b', at(0))).toBeNull()
  })

  it.each([0, 5, 23.9, 24, 30])('last for 24 hours, when written %d hours into the stream', (hours) => {
    const written = hours * HOUR
    const folded = fold(added(0, 'a', 0), added(1, 'b', written), added(2, 'c', written + 23 * HOUR))
    expect(traceOf(folded, 'b', at(written + 24 * HOUR - 1))).toMatchObject({ from: 1, to: 1 })
    expect(traceOf(folded, 'b', at(written + 24 * HOUR))).toBeNull()
  })

  it('expire', () => {
    const folded = fold(...Array.from({ length: 200 }, (_, n) => added(n, `command-${n}`, n * HOUR)))
    expect(entriesOf(folded.commands).size).toBeLessThanOrEqual(48)
  })
})

describe('a snapshot', () => {
  const entity: AnyEntity = sums
  const folded = fold(added(0, 'a'), added(1, 'b', 25 * HOUR), added(2, 'c', 26 * HOUR))

  it('is the fold again, with the commands that it remembers', async () => {
    const ops = createMemoryOperationalStore()
    await saveFold(ops, entity, 'sums-1', folded)
    const loaded = await loadFold(ops, entity, 'sums-1')
    expect(loaded).toMatchObject({ state: 3, revision: 2, position: 2 })
    for (const id of ['b', 'c'])
      expect(loaded && traceOf(loaded, id, at(27 * HOUR))).toEqual(traceOf(folded, id, at(27 * HOUR)))
  })

  it('goes on being folded and saved, with all the commands of its day', async () => {
    const ops = createMemoryOperationalStore()
    let stored: Fold = folded
    for (let n = 3; n < 60; n++) {
      stored = foldEvents(entity, stored, [added(n, `command-${n}`, n * HOUR)])
      await saveFold(ops, entity, 'sums-1', stored)
      stored = (await loadFold(ops, entity, 'sums-1')) ?? stored
    }
    expect(stored).toMatchObject({ state: 60, revision: 59 })
    for (let n = 3; n < 60; n++) {
      const trace = n > 59 - 24 ? { from: n, to: n, at: at(n * HOUR) } : null
      expect(traceOf(stored, `command-${n}`, at(59 * HOUR))).toEqual(trace)
    }
  })

  it('is of one stream and one version of its entity', async () => {
    const ops = createMemoryOperationalStore()
    await saveFold(ops, entity, 'sums-1', folded)
    expect(await loadFold(ops, entity, 'sums-2')).toBeNull()
    expect(await loadFold(ops, { ...entity, version: 3 }, 'sums-1')).toBeNull()
  })
})

describe('the marks of a long stream', () => {
  /** Names, as many as were given. */
  const names = defineEntity({
    name: 'names',
    version: 1,
    longLived: true,
    events: { Given: z.object({ name: z.string() }) },
    initial: { all: PersistentMap<string, true>() },
    evolve: { Given: ({ all }, { data }) => ({ all: all.set(data.name, true) }) },
  })
  const marksAfter = (entries: number) => {
    const all = PersistentMap(Array.from({ length: entries - 8 }, (_, n) => [`earlier-${n}`, true as const]))
    const events = recordedEvents(
      names,
      Array.from({ length: 8 }, (_, n) => ({ type: 'Given', data: { name: `name-${n}` } })),
    )
    const { marks } = foldEvents(names, { ...emptyFold(names), state: { all } }, events, 2)
    return marks.map(({ revision }) => revision)
  }

  it('are as far apart as asked up to 4,000 entries, and further apart in a larger state', () => {
    expect(marksAfter(4_000)).toEqual([1, 3, 5, 7])
    expect(marksAfter(4_008)).toEqual([3, 7])
    expect(marksAfter(8_008)).toEqual([7])
  })
})
