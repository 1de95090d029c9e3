import { afterEach, describe, expect, test } from 'vitest'
import { type AnyProjection, collectionOf } from '../../../../src/kernel/projection.ts'
import { type EventLog, LogUnavailable } from '../../../../src/ports/event-log.ts'
import { type ReadStore, StoreUnavailable } from '../../../../src/ports/read-store.ts'
import { pauseAfter } from '../../../../src/runtime/lanes/lane-runner.ts'
import { buildNames } from '../../../../src/runtime/projections/build-names.ts'
import type { Halt } from '../../../../src/runtime/projections/build-ports.ts'
import { withFaults } from '../../../support/faults/with-faults.ts'
import { expectedTotals, projectionFixture, stopRunners } from '../../../support/fixtures/projection-fixture.ts'
import { added, appendTo, openTallies, tallyBook, tallyTotals } from '../../../support/fixtures/sample.ts'
import { advanceUntil, flushEventLoop } from '../../../support/memory/clock.ts'

const tallies = collectionOf(openTallies)
const totals = collectionOf(tallyTotals)
// A projection of any document, to be made another by spreading it.
const anyTotals: AnyProjection = tallyTotals

afterEach(stopRunners)

describe('running projections', () => {
  test('folds existing events, then new ones, and reports its progress', async () => {
    const { log, store, start, fill } = projectionFixture()
    await fill(0, 10)
    const progress: [string, number][] = []
    const runner = start({ onProgress: ({ name, position }) => progress.push([name, position]) })
    await runner.at()
    expect(store.all(totals)).toEqual(expectedTotals(10))
    await fill(10, 20)
    await runner.at()
    expect(store.all(totals)).toEqual(expectedTotals(20))
    expect(Object.keys(store.all(tallies))).toHaveLength(13)
    expect(progress.at(-1)?.[1]).toBe(await log.head())
    expect(runner.status()).toMatchObject([{ state: 'running', lagMs: 0, problem: null }, { state: 'running' }])
  })

  test('makes the same documents whatever the size of its pages', async () => {
    const whole = projectionFixture()
    await whole.fill(0, 30)
    await whole.start().at()
    for (const pageSize of [1, 2, 7, 50]) {
      const { store, start, fill } = projectionFixture()
      await fill(0, 30)
      await start({ pageSize }).at()
      expect(store.all(tallies)).toEqual(whole.store.all(tallies))
      expect(store.all(totals)).toEqual(whole.store.all(totals))
    }
  })

  test('writes a document once a page', async () => {
    const { store, start, fill } = projectionFixture()
    await fill(0, 100)
    await start().at()
    expect(store.commits).toBeLessThan(10)
  })

  test.each([
    [true, 'from memory', 0],
    [false, 'from the store, of a projection that keeps none', 1],
  ])('takes the documents of the page before (cached: %s) %s', async (cached, _where, loads) => {
    const { store, start, fill } = projectionFixture()
    await fill(0, 5)
    const asked: string[] = []
    const watched: ReadStore = {
      ...store,
      getMany(collection, ids) {
        if (ids.includes('all')) asked.push(collection)
        return store.getMany(collection, ids)
      },
    }
    const runner = start({ projections: [{ ...anyTotals, cached }] }, { store: watched })
    await runner.at()
    const before = asked.length
    await fill(5, 10)
    await runner.at()
    expect([asked.length - before, store.all(totals)]).toEqual([loads, expectedTotals(10)])
  })

  test('rests between two pages of the tail, so that one commit takes what several would', async () => {
    const { clock, store, start, fill } = projectionFixture()
    await fill(0, 1)
    await start().at()
    await clock.advance(50)
    await fill(1, 2)
    await clock.advance(1)
    const { commits } = store
    for (let n = 2; n < 12; n += 1) {
      await fill(n, n + 1)
      await clock.advance(1)
    }
    expect([store.commits, store.all(totals)]).toEqual([commits, expectedTotals(2)])
    await clock.advance(40)
    expect(store.all(totals)).toEqual(expectedTotals(12))
    expect(store.commits - commits).toBeLessThan(10)
  })

  test.each([
    [0, 40],
    [20, 40],
    [21, 42],
    [250, 500],
    [251, 500],
  ])('pauses after a page of %i ms for %i ms', (tookMs, pauseMs) => {
    expect(pauseAfter(tookMs)).toBe(pauseMs)
  })

  test('ends its pause for a request that waits', async () => {
    const { clock, log, store, start, fill } = projectionFixture()
    const runner = start()
    await fill(0, 1)
    await runner.at()
    await clock.advance(50)
    await fill(1, 2)
    await clock.advance(1)
    await fill(2, 3)
    await flushEventLoop()
    expect(store.all(totals)).toEqual(expectedTotals(2))
    runner.hurry(await log.head())
    await flushEventLoop()
    expect(store.all(totals)).toEqual(expectedTotals(3))
  })

  test('skips pauses for a while when a request awaits an event that arrives later', async () => {
    const { clock, log, store, start, fill } = projectionFixture()
    const runner = start()
    await fill(0, 1)
    await runner.at()
    await clock.advance(50)
    /** How many tallies are folded as soon as the nth has been appended, after a while (ms). */
    const foldedAt = async (n: number, passed: number) => {
      await clock.advance(passed)
      await fill(n, n + 1)
      await flushEventLoop()
      return store.all(totals).all?.begun
    }
    runner.hurry((await log.head()) + 1)
    expect([await foldedAt(1, 0), await foldedAt(2, 1)]).toEqual([2, 2])
    await clock.advance(50)
    runner.hurry((await log.head()) + 1_000)
    expect([await foldedAt(3, 0), await foldedAt(4, 1), await foldedAt(5, 248)]).toEqual([4, 5, 6])
    expect([await foldedAt(6, 1), await foldedAt(7, 1)]).toEqual([7, 7])
  })

  test('continues from its checkpoint after a restart', async () => {
    const { store, start, fill } = projectionFixture()
    await fill(0, 5)
    const first = start()
    await first.at()
    first.stop.abort()
    await first.done
    await fill(5, 9)
    await start().at()
    expect(store.all(totals)).toEqual(expectedTotals(9))
  })

  test('folds from the start again when its documents and checkpoints are gone, although nothing is appended', async () => {
    const { clock, store, start, fill } = projectionFixture()
    await fill(0, 10)
    await start().at()
    await clock.advance(2_000)
    for (const projection of [openTallies, tallyTotals]) {
      const { collection, checkpoint } = buildNames(projection)
      await store.drop(collection, checkpoint)
    }
    expect(store.all(totals)).toEqual({})
    await clock.advance(5_000)
    expect(store.all(totals)).toEqual(expectedTotals(10))
  })

  test.each(['fail', 'lose'] as const)(
    'a store that does this to its n-th call changes no document: %s',
    async (fault) => {
      for (const method of ['getMany', 'commit', 'checkpoint', 'find', 'ensure']) {
        for (let nth = 1; nth <= 6; nth++) {
          const { store, start, fill } = projectionFixture({ atomic: nth % 2 === 0 })
          await fill(0, 8)
          const faulty = withFaults<ReadStore>(
            store,
            () => new StoreUnavailable('away'),
            (called, count) => (called === method && count === nth ? fault : undefined),
          )
          const runner = start({ pageSize: 5 }, { store: faulty })
          await runner.at()
          await fill(8, 16)
          await runner.at()
          expect(store.all(totals), `${method} ${nth}`).toEqual(expectedTotals(16))
          expect(runner.status().every(({ state }) => state === 'running')).toBe(true)
          runner.stop.abort()
        }
      }
    },
  )

  test.each(['fail', 'lose'] as const)(
    'an additional document of an event is written once, whatever the store does to its n-th commit: %s',
    async (fault) => {
      for (let nth = 1; nth <= 8; nth++) {
        const { clock, log, store, start } = projectionFixture({ atomic: nth % 2 === 0 })
        const add = () => appendTo(log, 'tally-1', clock.now(), added(1), added(2), added(3))
        const faulty = withFaults<ReadStore>(
          store,
          () => new StoreUnavailable('away'),
          (called, count) => (called === 'commit' && count === nth ? fault : undefined),
        )
        const runner = start({ pageSize: 2, projections: [tallyBook] }, { store: faulty })
        for (let round = 0; round < 3; round++) {
          await add()
          await runner.at()
        }
        const entry = (count: number) => ({
          workspaceId: 'w1',
          count,
          sum: ([0, 1, 3][count % 3] ?? 0) + 6 * Math.floor(count / 3),
        })
        const additional = Array.from({ length: 9 }, (_, place) => [`tally-1#${place}`, entry(place + 1)])
        expect(store.all(collectionOf(tallyBook)), `commit ${nth}`).toEqual({
          1: entry(9),
          ...Object.fromEntries(additional),
        })
        runner.stop.abort()
      }
    },
  )

  test('waits for a log or store that is unavailable for a long time, and halts nothing', async () => {
    const { clock, log, store, start, fill } = projectionFixture()
    await fill(0, 3)
    let away = false
    const broken = () => (away ? 'fail' : undefined)
    const runner = start(
      {},
      {
        log: withFaults<EventLog>(log, () => new LogUnavailable('gone'), broken),
        store: withFaults<ReadStore>(store, () => new StoreUnavailable('gone'), broken),
      },
    )
    await runner.at()
    away = true
    await fill(3, 6)
    await clock.advance(120_000)
    expect(runner.status().every(({ state }) => state === 'running')).toBe(true)
    expect(runner.status()[0]?.problem).toContain('Unavailable')
    away = false
    await runner.at()
    expect(store.all(totals)).toEqual(expectedTotals(6))
    await clock.advance(1_000)
    expect(runner.status()[0]?.problem).toBeNull()
  })

  test('lets projections that lag catch up with the others, and then share their pages', async () => {
    const { log, store, start, fill } = projectionFixture()
    await fill(0, 600)
    const one = start({ projections: [tallyTotals] })
    await one.at()
    one.stop.abort()
    await fill(600, 12_000)
    let pages = 0
    const counting = withFaults(
      log,
      () => new LogUnavailable('away'),
      (method) => {
        if (method === 'readAll') pages += 1
        return undefined
      },
    )
    await start({}, { log: counting }).at()
    const events = log.events.length
    expect(store.all(totals)).toEqual(expectedTotals(12_000))
    // Apart to the end they would take a thousand each at a time.
    expect(pages).toBeLessThan(events / 1_000)
  })

  test('advances the checkpoint of a projection without relevant events, without a commit for each page', async () => {
    const { clock, log, store, start } = projectionFixture()
    const runner = start({ projections: [tallyTotals], pageSize: 1 })
    for (let n = 0; n < 50; n++) await appendTo(log, 'other-1', clock.now(), { type: 'OtherThing', data: {} })
    await runner.at()
    await clock.advance(1_000)
    expect((await store.checkpoint('tally-totals@1/00-ff'))?.position).toBe(await log.head())
    expect(store.commits).toBeLessThan(10)
  })
})

describe('a reducer that throws', () => {
  const faulty: AnyProjection = {
    ...anyTotals,
    name: 'faulty',
    update: {
      ...anyTotals.update,
      TallyAdded: (doc, { data }) => {
        if (data.amount === 7) throw new RangeError('seven')
        return { ...doc, added: doc.added + data.amount }
      },
    },
  }
  const corrected: AnyProjection = { ...faulty, update: anyTotals.update }

  test('halts its projection alone, right before the event, with the reason; the fixed projection resumes there', async () => {
    const { clock, log, store, start, fill } = projectionFixture()
    await fill(0, 12)
    const halts: Halt[] = []
    const runner = start({ projections: [openTallies, faulty], onHalt: (halt) => halts.push(halt) })
    await advanceUntil(clock, () => halts.length > 0)
    await fill(12, 14)
    const head = await log.head()
    await advanceUntil(clock, () => runner.status()[0]?.position === head)
    const seven = log.events.find(({ data }) => (data as { amount?: number }).amount === 7)
    expect(halts).toEqual([
      { name: 'faulty', version: 1, position: seven?.position, eventType: 'TallyAdded', message: 'RangeError: seven' },
    ])
    const status = runner.status()[1]
    expect(status).toMatchObject({ state: 'halted', problem: `TallyAdded at ${seven?.position}: RangeError: seven` })
    expect(status?.position).toBeLessThan(seven?.position ?? 0)
    await clock.advance(10_000)
    expect(runner.status()[1]?.lagMs).toBeGreaterThan(9_000)
    expect(store.all('faulty_v1').all).toEqual({ workspaceId: 'all', begun: 8, added: 28 })
    runner.stop.abort()
    await runner.done
    await start({ projections: [openTallies, corrected] }).at()
    expect(store.all('faulty_v1')).toEqual(expectedTotals(14))
  })

  test('is retried a few times first', async () => {
    const { clock, store, start, fill } = projectionFixture()
    await fill(0, 8)
    let left = 2
    const shaky: AnyProjection = {
      ...anyTotals,
      update: {
        ...anyTotals.update,
        TallyAdded: (doc, { data }) => {
          if (data.amount === 5 && left-- > 0) throw new Error('not now')
          return { ...doc, added: doc.added + data.amount }
        },
      },
    }
    const runner = start({ projections: [shaky] })
    await runner.at()
    await clock.advance(100)
    expect(runner.status()[0]).toMatchObject({ state: 'running', problem: null })
    expect(store.all(totals)).toEqual(expectedTotals(8))
  })
})
