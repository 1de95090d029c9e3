import { afterEach, describe, expect, test } from 'vitest'
import { sleep } from '../../../../src/kernel/async/sleep.ts'
import { type AnyProjection, collectionOf } from '../../../../src/kernel/projection.ts'
import type { EventLog } from '../../../../src/ports/event-log.ts'
import { type ReadStore, StoreUnavailable } from '../../../../src/ports/read-store.ts'
import { BACKGROUND_PAGE } from '../../../../src/runtime/lanes/background-pages.ts'
import { withActiveBuilds } from '../../../../src/runtime/projections/active-builds.ts'
import { changeAlias } from '../../../../src/runtime/projections/build-alias.ts'
import { RETIRED_BUILD_TTL_MS, requestRebuild } from '../../../../src/runtime/projections/build-lifecycle.ts'
import { buildNames } from '../../../../src/runtime/projections/build-names.ts'
import { PIECE } from '../../../../src/runtime/projections/projection-lane.ts'
import { rebuildProjections } from '../../../../src/runtime/projections/rebuild-projections.ts'
import { withFaults } from '../../../support/faults/with-faults.ts'
import {
  expectedTotals,
  projectionFixture,
  stopRunners,
  tallyProjections,
} from '../../../support/fixtures/projection-fixture.ts'
import { added, appendTo, tallyTotals } from '../../../support/fixtures/sample.ts'
import { advanceUntil } from '../../../support/memory/clock.ts'
import { ownEverything } from '../../../support/memory/ownership.ts'
import { createMemoryReadStore } from '../../../support/memory/read-store.ts'

const totals = collectionOf(tallyTotals)
// A projection of any document, to be made another by spreading it.
const anyTotals: AnyProjection = tallyTotals

afterEach(stopRunners)

/** A commit of documents of a rebuild (ms), and whether it moved the checkpoint. */
interface RebuildCommit {
  readonly collection: string
  readonly begun: number
  readonly ended: number
  readonly documents: number
  readonly replaced: number
  readonly isMove: boolean
}

/** A log, and a store where each commit of a rebuild takes so long (ms), or as its number says; `commits` are those that were. */
function slowRebuild(tookMs: number | ((commit: number) => number)) {
  const fixture = projectionFixture()
  const { clock, log, store } = fixture
  const commits: RebuildCommit[] = []
  const slow: ReadStore = {
    ...store,
    async commit(writes, move) {
      const collection = writes.find((write) => write.collection.includes('~'))?.collection
      if (collection === undefined) return store.commit(writes, move)
      const begun = clock.now()
      const ms = typeof tookMs === 'number' ? tookMs : tookMs(commits.length)
      await sleep(clock, ms, new AbortController().signal)
      const isMove = move.next.position !== move.expected
      const replaced = writes.filter(({ isStored }) => isStored).length
      commits.push({ collection, begun, ended: clock.now(), documents: writes.length, replaced, isMove })
      return store.commit(writes, move)
    },
  }
  return { ...fixture, commits, slow: { log, store: slow } }
}

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

  test('holds up no live event, however slow its writes are', async () => {
    const { clock, log, store, start, fill } = projectionFixture({ atomic: false })
    await fill(0, 400)
    const slow: ReadStore = {
      ...store,
      async commit(writes, move) {
        if (writes.some(({ collection }) => collection.includes('~')))
          await sleep(clock, 2_000, new AbortController().signal)
        return store.commit(writes, move)
      },
    }
    const runner = start({}, { store: slow })
    await runner.at()
    await runner.rebuild('tally-totals')
    for (let n = 400; n < 420; n++) {
      await fill(n, n + 1)
      runner.hurry(await log.head())
      await clock.advance(20)
      expect((await store.get(totals, 'all'))?.doc).toEqual(expectedTotals(n + 1).all)
    }
    expect(runner.status().map(({ state }) => state)).toContain('rebuilding')
    await advanceUntil(clock, () => runner.status().every(({ state }) => state === 'running'), 60_000)
    expect(store.all('tally-totals_v1~2')).toEqual(expectedTotals(420))
  })

  test('reads short parts of pages while events arrive, and long pages otherwise', async () => {
    const { clock, log, start, fill } = projectionFixture()
    await fill(0, 2_000)
    const limits: number[] = []
    const spied: EventLog = {
      ...log,
      readAll(after, limit = 0, filter) {
        if (after < 5_000) limits.push(limit)
        return log.readAll(after, limit, filter)
      },
    }
    const runner = start({}, { log: spied })
    await runner.at()
    await clock.advance(5_000)
    limits.length = 0
    await runner.rebuild('tally-totals')
    await advanceUntil(clock, () => runner.status().every(({ state }) => state === 'running'))
    const { events, parts } = BACKGROUND_PAGE
    expect(Math.min(...limits)).toBeGreaterThan(events)
    await fill(2_000, 2_001)
    await clock.advance(100)
    limits.length = 0
    await runner.rebuild('tally-totals')
    await clock.advance(100)
    expect(limits.filter((limit) => limit > 1).length).toBeGreaterThan(parts)
    expect(Math.max(...limits)).toBe(events / parts)
  })

  test.each([
    ['while events arrive', true],
    ['while none do', false],
  ])('reads each page once for all projections that are rebuilt, %s', async (_when, isArriving) => {
    const { clock, log, start, fill, slow, commits } = slowRebuild((commit) => (commit % 3) * 20)
    await fill(0, 2_000)
    const pages: number[] = []
    const spied: EventLog = {
      ...log,
      readAll(after, limit, filter) {
        if (after < 5_000) pages.push(after)
        return log.readAll(after, limit, filter)
      },
    }
    const runner = start({}, { log: spied, store: slow.store })
    await runner.at()
    await clock.advance(5_000)
    if (isArriving) await fill(2_000, 2_001)
    await clock.advance(100)
    pages.length = 0
    for (const { name } of tallyProjections) await runner.rebuild(name)
    await advanceUntil(clock, () => runner.status().every(({ state }) => state === 'running'), 60_000)
    expect(new Set(commits.map(({ collection }) => collection)).size).toBe(tallyProjections.length)
    // A lane that begins later reads the first page by itself.
    expect(pages.length - new Set(pages).size).toBeLessThanOrEqual(1)
  })

  test('commits in pieces, and pauses twelve times as long as each took, while events arrive', async () => {
    const { clock, start, fill, slow, commits } = slowRebuild(30)
    await fill(0, 1_000)
    const pausesMs = () => commits.slice(1).map(({ begun }, place) => begun - (commits[place]?.ended ?? 0))
    const runner = start({}, slow)
    await runner.at()
    await clock.advance(5_000)
    await runner.rebuild('open-tallies')
    await advanceUntil(clock, () => runner.status().every(({ state }) => state === 'running'), 60_000)
    expect(commits.every(({ isMove }) => isMove)).toBe(true)
    expect(Math.max(...pausesMs())).toBeLessThan(30)
    await fill(1_000, 1_001)
    await clock.advance(100)
    commits.length = 0
    await runner.rebuild('open-tallies')
    await clock.advance(1_700)
    const { first, least, ms } = PIECE
    const fitting = Math.floor((first * ms) / 30)
    expect(commits.slice(0, 4).map(({ documents }) => documents)).toEqual([first, fitting, least, least])
    expect(commits.slice(0, 4).map(({ isMove }) => isMove)).toEqual([false, false, false, false])
    expect(Math.min(...pausesMs())).toBeGreaterThanOrEqual(12 * 30)
    expect(Math.max(...pausesMs())).toBeLessThan(13 * 30)
    await advanceUntil(clock, () => runner.status().every(({ state }) => state === 'running'), 60_000)
    expect(commits.filter(({ isMove }) => isMove).length).toBeGreaterThan(1)
  })

  test('commits larger pieces where they take no time', async () => {
    const { clock, start, fill, slow, commits } = slowRebuild(0)
    await fill(0, 1_000)
    const runner = start({}, slow)
    await runner.at()
    await clock.advance(5_000)
    await fill(1_000, 1_001)
    await clock.advance(100)
    await runner.rebuild('open-tallies')
    await advanceUntil(clock, () => runner.status().every(({ state }) => state === 'running'), 60_000)
    const pieces = commits.map(({ documents }) => documents)
    expect(pieces[0]).toBe(PIECE.first)
    expect(Math.max(...pieces)).toBeGreaterThan(PIECE.first)
  })

  test('sizes the pieces of replaced documents by their own speed', async () => {
    const { clock, log, start, fill, slow, commits } = slowRebuild(0)
    await fill(0, 400)
    for (let n = 1; n < 400; n += 3) await appendTo(log, `tally-${n}`, clock.now(), added(1))
    const runner = start({}, slow)
    await runner.at()
    await fill(400, 401)
    await clock.advance(100)
    await runner.rebuild('open-tallies')
    await advanceUntil(clock, () => runner.status().every(({ state }) => state === 'running'), 60_000)
    expect(commits.every(({ documents, replaced }) => [0, documents].includes(replaced))).toBe(true)
    const addedPieces = commits.flatMap(({ documents, replaced }) => (replaced === 0 ? documents : []))
    const replacedPieces = commits.flatMap(({ replaced }) => (replaced > 0 ? replaced : []))
    expect(Math.max(...addedPieces)).toBeGreaterThan(PIECE.first)
    expect(replacedPieces[0]).toBe(PIECE.first)
  })

  test('catches up with events that arrive faster than it commits with pauses', async () => {
    const { clock, log, start, fill, slow } = slowRebuild(30)
    await fill(0, 2_000)
    const runner = start({}, slow)
    await runner.at()
    await fill(2_000, 2_001)
    await clock.advance(100)
    await runner.rebuild('open-tallies')
    await clock.advance(1_000)
    const isBuilding = () => runner.status().some(({ state }) => state === 'rebuilding')
    expect(isBuilding()).toBe(true)
    for (let n = 2_001; isBuilding(); n += 40) {
      expect(n).toBeLessThan(12_000)
      await fill(n, n + 40)
      runner.hurry(await log.head())
      await clock.advance(100)
    }
  })

  test.each([
    ['commits for one projection after the other while events arrive', 500, 1_500],
    ['switches builds near the end of the log that events reach faster than pauses end', 100, 400],
  ])('%s', async (_what, before, everyMs) => {
    const { clock, log, start, fill, slow, commits } = slowRebuild(30)
    await fill(0, before)
    const runner = start({}, slow)
    await runner.at()
    await fill(before, before + 1)
    await clock.advance(100)
    for (const { name } of tallyProjections) await runner.rebuild(name)
    const isBuilding = () => runner.status().some(({ state }) => state === 'rebuilding')
    const committedFor = () => new Set(commits.map(({ collection }) => collection))
    let arrived = before + 1
    const arrive = async () => {
      await fill(arrived, ++arrived)
      runner.hurry(await log.head())
      await clock.advance(everyMs)
    }
    while (committedFor().size < tallyProjections.length) await arrive()
    for (const [place, { begun }] of commits.slice(1, 20).entries())
      expect(begun).toBeGreaterThanOrEqual((commits[place]?.ended ?? 0) + 12 * 30)
    while (isBuilding()) {
      await arrive()
      expect(arrived).toBeLessThan(before + 250)
    }
  })

  test('pauses half a second at most, and again after it has made up for a page that was held up', async () => {
    const heldUpMs = 1_000
    const { clock, log, start, fill, slow, commits } = slowRebuild((commit) => (commit === 1 ? heldUpMs : 30))
    await fill(0, 2_000)
    const runner = start({}, slow)
    await runner.at()
    await fill(2_000, 2_001)
    await clock.advance(100)
    await runner.rebuild('open-tallies')
    for (let n = 2_001; commits.filter(({ isMove }) => isMove).length < 6; n += 10) {
      await fill(n, n + 10)
      runner.hurry(await log.head())
      await clock.advance(100)
    }
    expect((commits[2]?.begun ?? 0) - (commits[1]?.ended ?? 0)).toBe(500)
    const moves = commits.flatMap(({ isMove }, n) => (isMove ? [n] : []))
    const piecesOf = moves.map((move, page) => move - (moves[page - 1] ?? -1))
    const firstWhole = piecesOf.indexOf(1)
    expect(firstWhole).toBe(1)
    expect(Math.max(...piecesOf.slice(firstWhole))).toBeGreaterThan(1)
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
