import { afterEach, describe, expect, test } from 'vitest'
import { sleep } from '../../../../src/kernel/async/sleep.ts'
import { collectionOf } from '../../../../src/kernel/projection.ts'
import type { EventLog } from '../../../../src/ports/event-log.ts'
import type { ReadStore } from '../../../../src/ports/read-store.ts'
import { BACKGROUND_PAGE } from '../../../../src/runtime/lanes/background-pages.ts'
import { requestRebuild } from '../../../../src/runtime/projections/build-lifecycle.ts'
import { PIECE } from '../../../../src/runtime/projections/projection-lane.ts'
import {
  expectedTotals,
  projectionFixture,
  stopRunners,
  tallyProjections,
} from '../../../support/fixtures/projection-fixture.ts'
import { added, appendTo, tallyTotals } from '../../../support/fixtures/sample.ts'
import { slowRebuild } from '../../../support/fixtures/slow-rebuild.ts'
import { advanceUntil } from '../../../support/memory/clock.ts'

const totals = collectionOf(tallyTotals)

afterEach(stopRunners)

/** Begins rebuilds of projections of a log with this number of tallies, just after a live event. */
async function rebuildUnderLoad(
  { clock, start, fill, slow }: ReturnType<typeof slowRebuild>,
  tallies: number,
  names: readonly string[],
) {
  await fill(0, tallies)
  const runner = start({}, slow)
  await runner.at()
  await fill(tallies, tallies + 1)
  await clock.advance(100)
  for (const name of names) await runner.rebuild(name)
  return runner
}

describe('a rebuild beside live events', () => {
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

  test.each([
    ['one after the other while events arrive', true],
    ['at once while none do', false],
  ])('creates the collections of builds %s', async (_how, isArriving) => {
    const { clock, store, start, fill } = projectionFixture()
    await fill(0, 1)
    const created: { readonly names: readonly string[]; readonly at: number }[] = []
    const slow: ReadStore = {
      ...store,
      async ensure(specs) {
        await store.ensure(specs)
        const names = specs.map(({ name }) => name).filter((name) => name.includes('~'))
        if (names.length === 0) return
        created.push({ names, at: clock.now() })
        await sleep(clock, 10, new AbortController().signal)
      },
    }
    const runner = start({}, { store: slow })
    await runner.at()
    await clock.advance(5_000)
    if (isArriving) await fill(1, 2)
    await clock.advance(100)
    for (const projection of tallyProjections) await requestRebuild(store, projection)
    const isRebuilding = () => runner.status().some(({ state }) => state === 'rebuilding')
    await advanceUntil(clock, isRebuilding)
    expect(created.flatMap(({ names }) => names)).toEqual(tallyProjections.map(({ name }) => `${name}_v1~2`))
    expect(created).toHaveLength(isArriving ? tallyProjections.length : 1)
    const [first, second] = created
    if (second) expect(second.at - (first?.at ?? 0)).toBeGreaterThanOrEqual(10 + 12 * 10)
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
    const rig = slowRebuild(30)
    const { clock, log, fill } = rig
    const runner = await rebuildUnderLoad(rig, 2_000, ['open-tallies'])
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
    const rig = slowRebuild(30)
    const { clock, log, fill, commits } = rig
    const names = tallyProjections.map(({ name }) => name)
    const runner = await rebuildUnderLoad(rig, before, names)
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
    const rig = slowRebuild((commit) => (commit === 1 ? heldUpMs : 30))
    const { clock, log, fill, commits } = rig
    const runner = await rebuildUnderLoad(rig, 2_000, ['open-tallies'])
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
})
