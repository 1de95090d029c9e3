import { afterEach, describe, expect, test } from 'vitest'
import { collectionOf } from '../../../../src/kernel/projection.ts'
import { type ReadStore, StoreUnavailable } from '../../../../src/ports/read-store.ts'
import type { ProjectionRunnerOptions } from '../../../../src/runtime/projections/projection-runner.ts'
import { withFaults } from '../../../support/faults/with-faults.ts'
import { expectedTotals, projectionFixture, stopRunners } from '../../../support/fixtures/projection-fixture.ts'
import {
  added,
  appendTo,
  metaAt,
  openTallies,
  tallyBegun,
  tallyBook,
  tallyTotals,
} from '../../../support/fixtures/sample.ts'
import { advanceUntil } from '../../../support/memory/clock.ts'

const MINUTES = 60_000
const totals = collectionOf(tallyTotals)
const tallies = collectionOf(openTallies)
const whole = [tallyTotals] satisfies ProjectionRunnerOptions['projections']

afterEach(stopRunners)

type Fixture = ReturnType<typeof projectionFixture>
type Process = Awaited<ReturnType<Fixture['join']>>

const owns = (process: Process) => process.ownership.owned().size > 0

describe('processes that share projections', () => {
  test.each([true, false])('fold each in one of them (atomic batches: %s)', async (atomic) => {
    const { clock, store, join, fill } = projectionFixture({ atomic })
    await fill(0, 5)
    const processes = [await join('a:1'), await join('b:1')]
    await clock.advance(3_000)
    const states = processes.flatMap(({ status }) => status().map(({ name, state }) => `${name} ${state}`))
    expect(states.filter((state) => state.endsWith('running')).toSorted()).toEqual([
      'open-tallies running',
      'tally-totals running',
    ])
    expect(states.filter((state) => state.endsWith('standby'))).toHaveLength(2)
    for (let n = 5; n < 20; n++) {
      await fill(n, n + 1)
      await clock.advance(500)
    }
    expect(store.all(totals)).toEqual(expectedTotals(20))
    expect(Object.keys(store.all(tallies))).toHaveLength(13)
  })

  test.each([
    [0, true],
    [5 * MINUTES, false],
    [-5 * MINUTES, false],
  ])('take over from a killed one within 5 s, by a clock that is off by %d ms', async (skewMs, atomic) => {
    const { clock, store, join, fill } = projectionFixture({ atomic })
    await fill(0, 5)
    const first = await join('a:1', { projections: whole })
    await clock.advance(1_000)
    const second = await join('b:1', { projections: whole }, {}, skewMs)
    await clock.advance(1_300)
    first.kill()
    first.stop.abort()
    await fill(5, 10)
    const killedAt = clock.now()
    await advanceUntil(clock, () => JSON.stringify(store.all(totals)) === JSON.stringify(expectedTotals(10)))
    expect(clock.now() - killedAt).toBeLessThan(5_000)
    expect(owns(second)).toBe(true)
  })

  test('go on at once after a restart, and after one that stops', async () => {
    const { clock, store, join, fill } = projectionFixture()
    await fill(0, 5)
    const first = await join('a:1', { projections: whole })
    await clock.advance(1_000)
    first.kill()
    first.stop.abort()
    await fill(5, 10)
    const again = await join('a:1', { projections: whole })
    await clock.advance(200)
    expect(store.all(totals)).toEqual(expectedTotals(10))
    await join('b:1', { projections: whole })
    await clock.advance(1_000)
    await again.end()
    await fill(10, 12)
    await clock.advance(700)
    expect(store.all(totals)).toEqual(expectedTotals(12))
  })

  test('a commit that takes 20 s loses no lease', async () => {
    const { clock, store, join, fill } = projectionFixture({ atomic: false })
    await fill(0, 5)
    const slow = Promise.withResolvers<void>()
    let isSlow = false
    const lagging = withFaults<ReadStore>(
      store,
      () => new StoreUnavailable('away'),
      (method) => (isSlow && method === 'commit' ? slow.promise : undefined),
    )
    const first = await join('a:1', { projections: whole }, { store: lagging })
    await clock.advance(1_000)
    await join('b:1', { projections: whole })
    isSlow = true
    await fill(5, 10)
    await clock.advance(20_000)
    expect(owns(first)).toBe(true)
    isSlow = false
    slow.resolve()
    await clock.advance(100)
    expect(store.all(totals)).toEqual(expectedTotals(10))
    expect(owns(first)).toBe(true)
    expect((await store.checkpoint('tally-totals@1/00-ff'))?.epoch).toBe(1)
  })

  test.each([true, false])('a late commit of a lost owner is refused (atomic batches: %s)', async (atomic) => {
    const { clock, log, store, join, fill } = projectionFixture({ atomic })
    await fill(0, 5)
    const late = Promise.withResolvers<void>()
    let isLate = false
    const moved: boolean[] = []
    const lagging: ReadStore = {
      ...store,
      async commit(writes, move) {
        if (!isLate) return store.commit(writes, move)
        await late.promise
        const outcome = await store.commit(writes, move)
        moved.push(outcome)
        return outcome
      },
    }
    const first = await join('a:1', { projections: [tallyBook] }, { store: lagging })
    await clock.advance(1_000)
    isLate = true
    await appendTo(log, 'tally-1', clock.now(), added(100))
    await clock.advance(500)
    first.kill()
    await join('b:1', { projections: [tallyBook] })
    await clock.advance(5_000)
    await appendTo(log, 'tally-1', clock.now(), added(1_000))
    await clock.advance(1_000)
    const before = [store.all(collectionOf(tallyBook)), await store.checkpoint('tally-book@1/00-ff')]
    late.resolve()
    await clock.advance(1_000)
    expect(moved).toContain(false)
    expect(moved).not.toContain(true)
    expect([store.all(collectionOf(tallyBook)), await store.checkpoint('tally-book@1/00-ff')]).toEqual(before)
    expect(before[1]).toMatchObject({ epoch: 2, position: await log.head() })
  })

  test('a lease that was forgotten is taken under an epoch later than that of the checkpoint', async () => {
    const { clock, store, ops, join, fill } = projectionFixture()
    await fill(0, 5)
    const first = await join('a:1', { projections: whole })
    await clock.advance(1_000)
    await first.end()
    for (const { key } of await ops.list('lanes:', clock.now())) await ops.delete(key)
    const expected = (await store.checkpoint('tally-totals@1/00-ff'))?.position ?? 0
    await store.commit([], {
      name: 'tally-totals@1/00-ff',
      expected,
      next: { position: expected, at: null, epoch: 7 },
    })
    await join('b:1', { projections: whole })
    await fill(5, 8)
    await clock.advance(2_000)
    expect(store.all(totals)).toEqual(expectedTotals(8))
    expect((await store.checkpoint('tally-totals@1/00-ff'))?.epoch).toBe(8)
  })

  test('one whose write is slow holds up none of the others', async () => {
    const { clock, store, join, fill } = projectionFixture({ atomic: false })
    const never = new Promise<void>(() => undefined)
    const lagging: ReadStore = {
      ...store,
      commit: async (writes, move) => {
        if (writes.some(({ collection }) => collection === totals)) await never
        return store.commit(writes, move)
      },
    }
    await fill(0, 3)
    await join('a:1', { projections: [tallyTotals, openTallies] }, { store: lagging })
    for (let n = 3; n < 9; n++) {
      await fill(n, n + 1)
      await clock.advance(1_500)
    }
    expect(Object.keys(store.all(tallies))).toHaveLength(6)
  })
})

describe('an event of a version that the process does not know', () => {
  test('is neither folded nor skipped: its lane ends there, and another process goes on', async () => {
    const { clock, log, store, join, fill } = projectionFixture()
    await fill(0, 4)
    const old = await join('a:1', { projections: whole })
    await clock.advance(1_000)
    const before = await log.head()
    const meta = metaAt(clock.now(), 'newer')
    await log.append('tally-00-new', -1, [
      { type: 'TallyBegun', data: { name: 'x' }, version: 1, meta },
      { type: 'TallyAdded', data: { amount: 5 }, version: 2, meta },
    ])
    await appendTo(log, 'tally-9', clock.now(), tallyBegun('y'), added(1))
    await clock.advance(5_000)
    const [status] = old.status()
    expect(status).toMatchObject({ state: 'outdated' })
    expect(status?.problem).toContain('TallyAdded')
    expect(status?.problem).toContain('version 2')
    expect(status?.position).toBeGreaterThan(before)
    expect(store.all(totals).all).toMatchObject({ begun: 5, added: expectedTotals(4).all.added })
    expect(owns(old)).toBe(false)
    await clock.advance(60_000)
    expect(owns(old)).toBe(false)
    const lift = (data: unknown) => ({ amount: (data as { amount: number }).amount })
    await join('b:1', { projections: whole, upcasts: { TallyAdded: [lift] } })
    await clock.advance(1_000)
    expect(store.all(totals).all).toMatchObject({ begun: 6, added: expectedTotals(4).all.added + 6 })
  })
})
