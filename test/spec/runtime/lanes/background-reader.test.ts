import { afterEach, describe, expect, test } from 'vitest'
import { sleep } from '../../../../src/kernel/async/sleep.ts'
import type { AnyProjection } from '../../../../src/kernel/projection.ts'
import type { EventLog } from '../../../../src/ports/event-log.ts'
import { type ReadStore, StoreUnavailable } from '../../../../src/ports/read-store.ts'
import { BACKGROUND_PACE } from '../../../../src/runtime/lanes/background-reader.ts'
import { expectedTotals, projectionFixture, stopRunners } from '../../../support/fixtures/projection-fixture.ts'
import { tallyTotals } from '../../../support/fixtures/sample.ts'
import { advanceUntil } from '../../../support/memory/clock.ts'

const anyTotals: AnyProjection = tallyTotals
const COPIES = 8
/** Several projections of the same events. */
const projections = Array.from({ length: COPIES }, (_, n): AnyProjection => ({ ...anyTotals, name: `totals-${n}` }))
const rebuiltOf = (n: number) => `totals-${n}_v1~2`
const isOfBuild = (name: string) => name.includes('~')

afterEach(stopRunners)

/** Runs the projections over a log of tallies, each event of which has been folded. */
async function running(
  tallies: number,
  { atomic = true, pageSize = 50 },
  portsOf: (ports: {
    readonly log: EventLog
    readonly store: ReadStore
    readonly pause: (ms: number) => Promise<void>
  }) => Partial<Record<'log' | 'store', object>> = () => ({}),
) {
  const { clock, log, store, start, fill } = projectionFixture({ atomic })
  await fill(0, tallies)
  const pause = (ms: number) => sleep(clock, ms, new AbortController().signal)
  const ports = portsOf({ log, store, pause })
  const runner = start(
    { projections, pageSize },
    { log: { ...log, ...ports.log } as EventLog, store: { ...store, ...ports.store } as ReadStore },
  )
  await runner.at()
  await clock.advance(5_000)
  const rebuildAll = () => Promise.all(projections.map(({ name }) => runner.rebuild(name)))
  const isSwitched = () => runner.status().every(({ state }) => state === 'running')
  return { clock, log, store, fill, runner, rebuildAll, isSwitched }
}

describe('builds that nobody reads yet', () => {
  test('share their pages: the log is read once for all of them', async () => {
    const pages: number[] = []
    const { clock, rebuildAll, isSwitched, store } = await running(200, {}, ({ log }) => ({
      log: {
        readAll(after: number, limit = 0, filter?: Parameters<EventLog['readAll']>[2]) {
          if (limit > 1) pages.push(after)
          return log.readAll(after, limit, filter)
        },
      } satisfies Partial<EventLog>,
    }))
    pages.length = 0
    await rebuildAll()
    await advanceUntil(clock, isSwitched)
    expect(pages.length).toBeGreaterThan(5)
    expect(new Set(pages).size).toBe(pages.length)
    for (let n = 0; n < COPIES; n++) expect(store.all(rebuiltOf(n))).toEqual(expectedTotals(200))
  })

  test('come up with those that began before them, and then share their pages', async () => {
    const pages: number[] = []
    const { clock, runner, isSwitched } = await running(1_000, { pageSize: 40 }, ({ log, store, pause }) => ({
      log: {
        readAll(after: number, limit = 0, filter?: Parameters<EventLog['readAll']>[2]) {
          if (limit > 1) pages.push(after)
          return log.readAll(after, limit, filter)
        },
      } satisfies Partial<EventLog>,
      store: {
        async commit(writes, move) {
          if (writes.some(({ collection }) => isOfBuild(collection))) await pause(20)
          return store.commit(writes, move)
        },
      } satisfies Partial<ReadStore>,
    }))
    pages.length = 0
    await runner.rebuild('totals-0')
    await advanceUntil(clock, () => pages.length >= 10)
    await runner.rebuild('totals-1')
    await advanceUntil(clock, isSwitched)
    const events = 1_000 * 3 + 334
    expect(pages.length).toBeLessThan((1.5 * events) / 40)
  })

  test.each([
    ['files', true],
    ['servers', false],
  ] as const)('take a bounded number of steps at the same time over %s', async (kind, atomic) => {
    let writing = 0
    let most = 0
    const { clock, rebuildAll, isSwitched } = await running(60, { atomic }, ({ store, pause }) => ({
      store: {
        async commit(writes, move) {
          if (!writes.some(({ collection }) => isOfBuild(collection))) return store.commit(writes, move)
          writing += 1
          most = Math.max(most, writing)
          await pause(10)
          writing -= 1
          return store.commit(writes, move)
        },
      } satisfies Partial<ReadStore>,
    }))
    await rebuildAll()
    await advanceUntil(clock, isSwitched)
    expect(most).toBe(BACKGROUND_PACE[kind].atOnce)
  })

  test('hold up no live event while their checkpoints are written', async () => {
    const { clock, store, runner, fill } = await running(40, { atomic: false }, ({ store, pause }) => ({
      store: {
        async commit(writes, move) {
          if (isOfBuild(move.name)) await pause(900)
          return store.commit(writes, move)
        },
      } satisfies Partial<ReadStore>,
    }))
    await runner.rebuild('totals-0')
    await clock.advance(2_000)
    for (let n = 40; n < 60; n++) {
      await fill(n, n + 1)
      runner.hurry()
      await clock.advance(20)
      expect(store.all('totals-1_v1')).toEqual(expectedTotals(n + 1))
    }
  })

  test('go on when one of them fails', async () => {
    const { clock, rebuildAll, runner, store } = await running(100, { atomic: false }, ({ store }) => ({
      store: {
        async commit(writes, move) {
          if (writes.some(({ collection }) => collection === rebuiltOf(3))) throw new StoreUnavailable('no')
          return store.commit(writes, move)
        },
      } satisfies Partial<ReadStore>,
    }))
    await rebuildAll()
    const left = () => runner.status().filter(({ state }) => state !== 'running')
    await advanceUntil(clock, () => left().length === 1)
    expect(left().map(({ name }) => name)).toEqual(['totals-3'])
    for (let n = 0; n < COPIES; n++) if (n !== 3) expect(store.all(rebuiltOf(n))).toEqual(expectedTotals(100))
  })

  test('go on when the log could not be read for a while', async () => {
    let isAway = false
    const { clock, rebuildAll, isSwitched, runner, store } = await running(100, {}, ({ log }) => ({
      log: {
        async readAll(after: number, limit = 0, filter?: Parameters<EventLog['readAll']>[2]) {
          if (isAway && limit > 1) throw new StoreUnavailable('the log is away')
          return log.readAll(after, limit, filter)
        },
      } satisfies Partial<EventLog>,
    }))
    isAway = true
    await rebuildAll()
    await clock.advance(3_000)
    expect(runner.status().map(({ problem }) => problem)).toContain('StoreUnavailable: the log is away')
    isAway = false
    await advanceUntil(clock, isSwitched)
    for (let n = 0; n < COPIES; n++) expect(store.all(rebuiltOf(n))).toEqual(expectedTotals(100))
  })
})
