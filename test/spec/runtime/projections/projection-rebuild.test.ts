import { afterEach, describe, expect, test } from 'vitest'
import { type AnyProjection, collectionOf } from '../../../../src/kernel/projection.ts'
import { type ReadStore, StoreUnavailable } from '../../../../src/ports/read-store.ts'
import { withActiveBuilds } from '../../../../src/runtime/projections/active-builds.ts'
import { changeAlias } from '../../../../src/runtime/projections/build-alias.ts'
import { RETIRED_BUILD_TTL_MS, requestRebuild } from '../../../../src/runtime/projections/build-lifecycle.ts'
import { buildNames } from '../../../../src/runtime/projections/build-names.ts'
import { rebuildProjections } from '../../../../src/runtime/projections/rebuild-projections.ts'
import { withFaults } from '../../../support/faults/with-faults.ts'
import {
  expectedTotals,
  projectionFixture,
  stopRunners,
  tallyProjections,
} from '../../../support/fixtures/projection-fixture.ts'
import { tallyTotals } from '../../../support/fixtures/sample.ts'
import { slowRebuild } from '../../../support/fixtures/slow-rebuild.ts'
import { advanceUntil } from '../../../support/memory/clock.ts'
import { ownEverything } from '../../../support/memory/ownership.ts'
import { createMemoryReadStore } from '../../../support/memory/read-store.ts'

const totals = collectionOf(tallyTotals)
// A projection of any document, to be made another by spreading it.
const anyTotals: AnyProjection = tallyTotals

afterEach(stopRunners)

describe('rebuilding a projection', () => {
  const collections = async (store: ReadStore) =>
    (await store.collections()).filter((name) => name.startsWith('tally-totals')).toSorted()

  test('builds beside the active build, switches, drops the old build, and yields the same documents', async () => {
    const { clock, store, start, fill } = projectionFixture()
    await fill(0, 40)
    const seen: number[] = []
    const runner = start({ pageSize: 10, onRebuild: ({ done, total }) => seen.push(done / total) })
    await runner.at()
    await runner.rebuild('tally-totals')
    const views = withActiveBuilds(store, clock)
    expect((await views.get(totals, 'all'))?.doc).toEqual(expectedTotals(40).all)
    await advanceUntil(clock, () => seen.at(-1) === 1)
    await fill(40, 45)
    await clock.advance(3_000)
    expect(await collections(store)).toEqual(['tally-totals_v1', 'tally-totals_v1~2'])
    await clock.advance(RETIRED_BUILD_TTL_MS + 2_000)
    expect(await collections(store)).toEqual(['tally-totals_v1~2'])
    expect(Object.keys(await store.checkpoints())).toContain('tally-totals@1~2/00-ff')
    expect(Object.keys(await store.checkpoints())).not.toContain('tally-totals@1/00-ff')
    expect((await views.get(totals, 'all'))?.doc).toEqual(expectedTotals(45).all)
    expect(store.all('tally-totals_v1~2')).toEqual(expectedTotals(45))
    expect(runner.status().map(({ state }) => state)).toEqual(['running', 'running'])
  })

  test('measures each rebuild against the head of the log at its time', async () => {
    const { clock, log, start, fill, slow } = slowRebuild(100)
    const shares: number[] = []
    const runner = start({ pageSize: 50, onRebuild: ({ done, total }) => shares.push(done / total) }, slow)
    for (const [from, to] of [
      [0, 20],
      [20, 400],
    ] as const) {
      await fill(from, to)
      await runner.at(await log.head())
      await clock.advance(5_000)
      shares.length = 0
      await runner.rebuild('tally-totals')
      await advanceUntil(clock, () => shares.length > 0)
      await advanceUntil(clock, () => runner.status().length === 2)
    }
    expect(shares[0]).toBeLessThan(0.5)
    expect(shares).toEqual(shares.toSorted((one, other) => one - other))
  })

  test('survives a crash at any of its writes', async () => {
    for (let nth = 1; nth <= 12; nth++) {
      const { clock, store, start, fill } = projectionFixture({ atomic: false })
      await fill(0, 12)
      const first = start()
      await first.at()
      first.stop.abort()
      await first.done
      await requestRebuild(store, tallyTotals)
      const doomed = new AbortController()
      const dying = withFaults<ReadStore>(
        store,
        () => new StoreUnavailable('dead'),
        (method, count) => {
          if (!['commit', 'drop'].includes(method) || count < nth) return undefined
          doomed.abort()
          return count % 2 === 0 ? 'fail' : 'lose'
        },
      )
      const second = start({ pageSize: 6, signal: doomed.signal }, { store: dying })
      await clock.advance(RETIRED_BUILD_TTL_MS + 5_000)
      doomed.abort()
      await second.done
      await fill(12, 15)
      const third = start()
      await third.at()
      await clock.advance(RETIRED_BUILD_TTL_MS + 5_000)
      const left = await collections(store)
      expect(left, `crash at ${nth}`).toHaveLength(1)
      expect(left[0]).not.toBe(totals)
      expect(store.all(left[0] ?? '')).toEqual(expectedTotals(15))
      third.stop.abort()
    }
  })

  test.each([true, false])('survives a crash at any piece of its commits (atomic store: %s)', async (atomic) => {
    for (let nth = 1; nth <= 10; nth++) {
      const { clock, store, start, fill } = projectionFixture({ atomic })
      await fill(0, 90)
      const doomed = new AbortController()
      let pieces = 0
      const dying: ReadStore = {
        ...store,
        async commit(writes, move) {
          if (!writes.some(({ collection }) => collection.includes('~')) || ++pieces < nth) {
            return store.commit(writes, move)
          }
          doomed.abort()
          if (pieces % 2 === 0) await store.commit(writes, move)
          throw new StoreUnavailable('dead')
        },
      }
      const first = start({ signal: doomed.signal }, { store: dying })
      await first.at()
      await fill(90, 91)
      await first.at()
      await first.rebuild('open-tallies')
      await clock.advance(2_000)
      doomed.abort()
      await first.done
      await fill(91, 95)
      const second = start()
      await second.at()
      await clock.advance(5_000)
      await advanceUntil(clock, () => second.status().every(({ state }) => state === 'running'))
      const open = Array.from({ length: 95 }, (_, n) => n).filter((n) => n % 3 !== 0)
      const expected = open.map((n) => [`${n}`, { workspaceId: 'w1', name: `t${n}`, sum: n + 1 }])
      expect(store.all('open-tallies_v1~2'), `crash at ${nth}`).toEqual(Object.fromEntries(expected))
      second.stop.abort()
    }
  })

  test('can be done by a script, with or without a running server', async () => {
    for (const served of [true, false]) {
      const { clock, log, store, contend, join, fill } = projectionFixture()
      await fill(0, 20)
      const server = await join('server:1')
      await server.at()
      if (!served) await server.end()
      const { ownership } = await contend('script:1')
      let finished = false
      const rebuilt = rebuildProjections({
        log,
        store,
        ownership,
        projections: tallyProjections,
        clock,
        signal: new AbortController().signal,
      })
      void rebuilt.then(() => {
        finished = true
      })
      await advanceUntil(clock, () => finished)
      expect(store.all('tally-totals_v1~2')).toEqual(expectedTotals(20))
      expect(Object.keys(store.all('open-tallies_v1~2'))).toHaveLength(13)
    }
  })

  test('is folded once by one owner at a time, however many processes and scripts want it', async () => {
    const { clock, log, store, contend, join, fill } = projectionFixture()
    await fill(0, 60)
    const folded = new Map<string, number[]>()
    let refused = 0
    /** The store of all, which tells the positions of the batches of each new build, and how often one was refused. */
    const shared: ReadStore = {
      ...store,
      async commit(writes, move) {
        const moved = await store.commit(writes, move)
        if (!move.name.includes('~2')) return moved
        if (!moved) refused += 1
        if (writes.length > 0) folded.set(move.name, [...(folded.get(move.name) ?? []), move.next.position])
        return moved
      },
    }
    const options = { shards: 2, pageSize: 10 }
    const one = await join('server:1', options, { store: shared })
    await join('server:2', options, { store: shared })
    await clock.advance(2_000)
    const rebuilt = ['script:1', 'script:2'].map(async (process) => {
      const { ownership } = await contend(process)
      const { signal } = new AbortController()
      const ports = { log, store: shared, ownership, clock, signal }
      return rebuildProjections({ ...ports, ...options, projections: tallyProjections })
    })
    await one.rebuild('tally-totals')
    let finished = 0
    for (const each of rebuilt) void each.then(() => (finished += 1))
    await advanceUntil(clock, () => finished === rebuilt.length)
    expect(store.all('tally-totals_v1~2')).toEqual(expectedTotals(60))
    expect(refused).toBe(0)
    expect(folded.size).toBeGreaterThan(1)
    for (const [build, positions] of folded) expect([build, new Set(positions).size]).toEqual([build, positions.length])
  })

  test('fails with the reason when a reducer throws during a rebuild by a script', async () => {
    const { clock, log, store, fill } = projectionFixture()
    await fill(0, 3)
    const broken: AnyProjection = {
      ...anyTotals,
      create: {
        TallyBegun: () => {
          throw new Error('broken')
        },
      },
    }
    const { signal } = new AbortController()
    const ownership = ownEverything()
    const outcome = rebuildProjections({ log, store, ownership, projections: [broken], clock, signal }).catch(String)
    await clock.advance(10_000)
    expect(await outcome).toContain('tally-totals halted on TallyBegun at 0: Error: broken')
  })

  test('makes concurrent changes of an alias see each other', async () => {
    for (const atomic of [true, false]) {
      const store = createMemoryReadStore({ atomic })
      const add = (collection: string) =>
        changeAlias(store, 'x', (current) => ({
          versions: [{ version: 1, active: buildNames({ name: 'x', version: 1 }), building: null }],
          retired: [...(current?.retired ?? []), { version: 0, collection, checkpoint: collection }],
        }))
      await Promise.all(['a', 'b', 'c', 'd'].map(add))
      const last = await add('e')
      expect(last?.alias.retired.map(({ collection }) => collection).toSorted()).toEqual(['a', 'b', 'c', 'd', 'e'])
    }
  })
})
