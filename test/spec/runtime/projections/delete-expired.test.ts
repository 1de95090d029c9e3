import { afterEach, describe, expect, test } from 'vitest'
import type { AnyProjection } from '../../../../src/kernel/projection.ts'
import type { StoredDocument } from '../../../../src/ports/read-store.ts'
import { StoreUnavailable } from '../../../../src/ports/read-store.ts'
import {
  deleteExpiredDocuments,
  LATE_MS,
  runDocumentCleaner,
} from '../../../../src/runtime/projections/delete-expired.ts'
import { GUARD_MS } from '../../../../src/runtime/projections/fold-batch.ts'
import { withExpiredHidden } from '../../../../src/runtime/queries/hide-expired.ts'
import { withFaults } from '../../../support/faults/with-faults.ts'
import { projectionFixture, stopRunners } from '../../../support/fixtures/projection-fixture.ts'
import { added, appendTo, closed, openTallies, tallyBegun } from '../../../support/fixtures/sample.ts'

const MINUTE = 60_000
const collection = 'open-tallies_v1'
const anyTallies: AnyProjection = openTallies

afterEach(stopRunners)

/** Tallies that expire; each addition prolongs one until that many minutes after the start. */
function setUp() {
  const fixture = projectionFixture()
  const { clock, log, store } = fixture
  const start = clock.now()
  const expiring: AnyProjection = { ...anyTallies, expiresAt: ({ sum }) => (sum === 0 ? null : start + sum * MINUTE) }
  const views = withExpiredHidden(store, [expiring], clock)
  const append = (id: string, ...events: Parameters<typeof appendTo>[3][]) =>
    appendTo(log, `tally-${id}`, clock.now(), ...events)
  /** Folds everything that is in the log. */
  const fold = async () => {
    const runner = fixture.start({ projections: [expiring] })
    await runner.at()
    runner.stop.abort()
    await runner.done
  }
  const goTo = (minute: number) => clock.jump(start + minute * MINUTE - clock.now())
  const shown = async () => (await views.find(collection, { filter: {} })).map(({ id }) => id)
  const stored = () => Object.keys(store.all(collection))
  const clean = () => deleteExpiredDocuments({ log, store }, clock.now())
  return { ...fixture, views, append, fold, goTo, shown, stored, clean }
}

describe('documents that expire', () => {
  test('are hidden from every read from that instant on', async () => {
    const { views, append, fold, goTo, shown } = setUp()
    await append('a', tallyBegun('a'), added(3))
    await append('b', tallyBegun('b'), added(5))
    await append('c', tallyBegun('c'))
    await fold()
    await goTo(2.9)
    expect(await shown()).toEqual(['a', 'b', 'c'])
    await goTo(3)
    expect(await shown()).toEqual(['b', 'c'])
    expect(await views.get(collection, 'a')).toBeNull()
    expect(await views.getMany(collection, ['a', 'b'])).toHaveLength(1)
    expect(await views.count(collection, {})).toBe(2)
    const ids = { of: ({ id }: StoredDocument) => id, bytesOf: ({ length }: string) => length }
    const derived = await views.findDerived(collection, { filter: {} }, ids)
    expect(derived.map(({ value }) => value)).toEqual(['b', 'c'])
    expect(await views.pluck(collection, 'name', { filter: {} })).toEqual(['b', 'c'])
    expect(await views.sum(collection, {}, [], ['sum'])).toEqual([{ key: [], count: 2, sums: [5] }])
  })

  test('are deleted a minute later, while every event is folded', async () => {
    const { append, fold, goTo, stored, clean } = setUp()
    await append('a', tallyBegun('a'), added(3))
    await append('b', tallyBegun('b'), added(8))
    await fold()
    await goTo(3 + (LATE_MS - 1) / MINUTE)
    expect(await clean()).toBe(0)
    await goTo(3 + LATE_MS / MINUTE)
    expect(await clean()).toBe(1)
    expect(stored()).toEqual(['b'])
    await goTo(9)
    await append('b', added(1))
    await goTo(10)
    expect(await clean()).toBe(1)
    await append('c', tallyBegun('c'), added(11))
    await goTo(12)
    await fold()
    expect(stored()).toEqual(['c'])
  })

  test('are kept by a build that lags, until it has folded the event that prolongs them', async () => {
    const { append, fold, goTo, shown, clean } = setUp()
    await append('a', tallyBegun('a'), added(1))
    await fold()
    await goTo(0.5)
    await append('a', added(9))
    await goTo(5)
    expect(await clean()).toBe(0)
    expect(await shown()).toEqual([])
    await fold()
    expect(await clean()).toBe(0)
    expect(await shown()).toEqual(['a'])
  })

  test('are deleted up to where every partition is folded, whatever checkpoints earlier shards left', async () => {
    const { clock, log, store, append, fold, goTo, clean } = setUp()
    const expiresAt = clock.now() + MINUTE
    await append('a', tallyBegun('a'), added(1))
    await goTo(2)
    await append('b', tallyBegun('b'))
    await goTo(4)
    const head = await log.head()
    const doc = { workspaceId: 'w1', name: 'a', sum: 1 }
    const write = { collection, id: 'a', doc, position: 2, expiresAt }
    const move = async (range: string, expected: number | null, position: number) =>
      store.commit(range === '00-7f' ? [write] : [], {
        name: `open-tallies@1/${range}`,
        expected,
        next: { position, at: null },
      })
    await fold()
    await store.drop(collection, 'open-tallies@1')
    await move('00-7f', null, head)
    expect(await clean()).toBe(0)
    await move('80-bf', null, 0)
    await move('c0-ff', null, head)
    expect(await clean()).toBe(0)
    await move('80-ff', null, head)
    expect(await clean()).toBe(1)
  })
})

test('the guard of a removed document outlives late writes by an hour', async () => {
  const { store, append, fold, goTo, clean } = setUp()
  await append('a', tallyBegun('a'), closed)
  await append('b', tallyBegun('b'))
  await fold()
  await append('b', closed)
  await fold()
  let lanes = 0
  /** A write of an owner that lost its lease, at the position of the first event. */
  const isRefused = async () => {
    const doc = { workspaceId: 'w1', name: 'b', sum: 0 }
    lanes += 1
    const next = { position: 6, at: null }
    await store.commit([{ collection, id: 'b', doc, position: 6 }], { name: `late-${lanes}`, expected: null, next })
    return (await store.get(collection, 'b')) === null
  }
  for (const minute of [1, 59]) {
    await goTo(minute)
    await append('c', tallyBegun('c'))
    await fold()
    expect(await clean()).toBe(0)
    expect(await isRefused()).toBe(true)
  }
  await goTo(GUARD_MS / MINUTE + 1)
  await append('c', tallyBegun('c'))
  await fold()
  expect(await clean()).toBe(1)
  expect(await isRefused()).toBe(false)
})

test('the cleaner deletes once a minute, and again when the store was unavailable', async () => {
  const { clock, log, store, append, fold, stored } = setUp()
  await append('a', tallyBegun('a'), added(1))
  await fold()
  await clock.advance(MINUTE)
  await append('b', tallyBegun('b'))
  await fold()
  let away = true
  const failing = withFaults(
    store,
    () => new StoreUnavailable('away'),
    (method) => (method === 'checkpoints' && away ? 'fail' : undefined),
  )
  const stop = new AbortController()
  const cleaning = runDocumentCleaner({ log, store: failing, clock, signal: stop.signal })
  await clock.advance(MINUTE - 1)
  expect(stored()).toEqual(['a', 'b'])
  away = false
  await clock.advance(1)
  expect(stored()).toEqual(['b'])
  stop.abort()
  await cleaning
})
