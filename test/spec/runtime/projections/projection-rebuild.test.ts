import { afterEach, describe, expect, test } from 'vitest'
import { type AnyProjection, collectionOf } from '../../../../src/kernel/projection.ts'
import { type EventLog, LogUnavailable } from '../../../../src/ports/event-log.ts'
import { type ReadStore, StoreUnavailable } from '../../../../src/ports/read-store.ts'
import { withActiveBuilds } from '../../../../src/runtime/projections/active-builds.ts'
import { changeAlias, readActivePositions } from '../../../../src/runtime/projections/build-alias.ts'
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
import { advanceUntil, flushEventLoop } from '../../../support/memory/clock.ts'
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
    expect(Object.keys(await store.checkpoints())).toContain('tally-totals@1~2')
    expect(Object.keys(await store.checkpoints())).not.toContain('tally-totals@1')
    expect((await views.get(totals, 'all'))?.doc).toEqual(expectedTotals(45).all)
    expect(store.all('tally-totals_v1~2')).toEqual(expectedTotals(45))
    expect(runner.status().map(({ state }) => state)).toEqual(['running', 'running'])
  })

  test('a new version is built beside the old one, which answers until the switch', async () => {
    const { clock, log, store, start, fill } = projectionFixture()
    await fill(0, 20)
    const old = start()
    await old.at()
    old.stop.abort()
    await old.done
    const doubled: AnyProjection = { ...anyTotals, version: 2 }
    const held = Promise.withResolvers<void>()
    const slow = withFaults<EventLog>(
      log,
      () => new LogUnavailable('away'),
      (method, nth) => (method === 'head' && nth === 1 ? held.promise : undefined),
    )
    const runner = start({ projections: [doubled], pageSize: 5 }, { log: slow })
    await flushEventLoop()
    const views = withActiveBuilds(store, clock)
    expect(runner.status()).toMatchObject([{ state: 'rebuilding', version: 2 }])
    expect((await views.get('tally-totals_v2', 'all'))?.doc).toEqual(expectedTotals(20).all)
    expect((await readActivePositions(store)).get('tally-totals')).toBe(await log.head())
    held.resolve()
    await advanceUntil(clock, () => runner.status()[0]?.state === 'running')
    await clock.advance(RETIRED_BUILD_TTL_MS + 2_000)
    expect((await collections(store)).filter((name) => name.startsWith('tally-totals_v1'))).toEqual([])
    expect((await views.get('tally-totals_v2', 'all'))?.doc).toEqual(expectedTotals(20).all)
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

  test('can be done by a script, with or without a running server', async () => {
    for (const served of [true, false]) {
      const { clock, log, store, start, fill } = projectionFixture()
      await fill(0, 20)
      const server = start()
      await server.at()
      if (!served) server.stop.abort()
      const { signal } = server.stop
      let finished = false
      const rebuilt = rebuildProjections({
        log,
        store,
        projections: tallyProjections,
        clock,
        signal: served ? signal : new AbortController().signal,
      })
      void rebuilt.then(() => {
        finished = true
      })
      await advanceUntil(clock, () => finished)
      expect(store.all('tally-totals_v1~2')).toEqual(expectedTotals(20))
      expect(Object.keys(store.all('open-tallies_v1~2'))).toHaveLength(13)
    }
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
    const outcome = rebuildProjections({ log, store, projections: [broken], clock, signal }).catch(String)
    await clock.advance(10_000)
    expect(await outcome).toContain('tally-totals halted on TallyBegun at 0: Error: broken')
  })

  test('makes concurrent changes of an alias see each other', async () => {
    for (const atomic of [true, false]) {
      const store = createMemoryReadStore({ atomic })
      const add = (collection: string) =>
        changeAlias(store, 'x', (current) => ({
          active: buildNames({ name: 'x', version: 1 }),
          building: null,
          retired: [...(current?.retired ?? []), { version: 0, collection, checkpoint: collection, at: 0 }],
        }))
      await Promise.all(['a', 'b', 'c', 'd'].map(add))
      const last = await add('e')
      expect(last?.alias.retired.map(({ collection }) => collection).toSorted()).toEqual(['a', 'b', 'c', 'd', 'e'])
    }
  })
})
