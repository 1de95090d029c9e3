import { describe, expect, it } from 'vitest'
import { UnknownEventVersion } from '../../../../src/kernel/entity.ts'
import type { AnyProjection } from '../../../../src/kernel/projection.ts'
import { type EventLog, LogUnavailable } from '../../../../src/ports/event-log.ts'
import type { ReadStore } from '../../../../src/ports/read-store.ts'
import { COVERED_MS } from '../../../../src/runtime/lookups/gap-index.ts'
import { createLookupLoader } from '../../../../src/runtime/lookups/lookup-loader.ts'
import { createLookupReader } from '../../../../src/runtime/lookups/lookup-reader.ts'
import { buildsOf, changeAlias } from '../../../../src/runtime/projections/build-alias.ts'
import {
  dropRetiredBuilds,
  requestRebuild,
  switchBuild,
  syncAliases,
} from '../../../../src/runtime/projections/build-lifecycle.ts'
import { type BuildNames, buildNames } from '../../../../src/runtime/projections/build-names.ts'
import { withFaults } from '../../../support/faults/with-faults.ts'
import {
  added,
  appendTo,
  closed,
  metaAt,
  namedStream,
  openTallies,
  tallyBegun,
} from '../../../support/fixtures/sample.ts'
import { createManualClock } from '../../../support/memory/clock.ts'
import { createMemoryLog } from '../../../support/memory/event-log.ts'
import { wholeCheckpoint } from '../../../support/memory/ownership.ts'
import { createMemoryReadStore } from '../../../support/memory/read-store.ts'

// A projection of any document, to be made another by spreading it.
const tallies: AnyProjection = openTallies
const tallyDoc = (n: number, sum = 0) => ({ workspaceId: 'w1', name: `t${n}`, sum })

/** Look-ups in the open tallies, the log and store that they read, and the pages that they read of the log. */
function lookupFixture({ projection = tallies, maxEntries = 1_000_000 } = {}) {
  const clock = createManualClock()
  const log = createMemoryLog()
  const store = createMemoryReadStore()
  const pages: { readonly after: number; readonly limit: number }[] = []
  const loaderOver = (ports: { readonly log?: Pick<EventLog, 'readAll'>; readonly store?: ReadStore } = {}) => {
    const read = createLookupReader(ports.store ?? store, [projection])
    const spied: Pick<EventLog, 'readAll'> = {
      readAll(after, limit = 0, filter) {
        pages.push({ after, limit })
        return (ports.log ?? log).readAll(after, limit, filter)
      },
    }
    const options = { log: spied, clock, upcasts: {}, read, projections: [projection], maxEntries }
    const lookUp = createLookupLoader(options)
    return (n: number) => lookUp(projection, String(n))
  }
  const begin = (...numbers: readonly number[]) =>
    Promise.all(numbers.map((n) => appendTo(log, `tally-${n}`, clock.now(), tallyBegun(`t${n}`))))
  /** Puts documents into a build, as folded up to the newest event now. */
  const fold = async (build: BuildNames, ...numbers: readonly number[]) => {
    const position = await log.head()
    const name = wholeCheckpoint(build.checkpoint)
    const expected = (await store.checkpoint(name))?.position ?? null
    const next = { position, at: new Date(clock.now()).toISOString() }
    const writes = numbers.map((n) => ({ collection: build.collection, id: String(n), position, doc: tallyDoc(n) }))
    await store.commit(writes, { name, expected, next })
  }
  const activate = async () => {
    await syncAliases(store, [projection])
    return buildNames(projection)
  }
  /** The reads of whole pages: those of single events have a limit of 1. */
  const pagesRead = () => pages.filter(({ limit }) => limit > 1).length
  return { clock, log, store, pages, pagesRead, loaderOver, begin, fold, activate, projection }
}

describe('a look-up', () => {
  it('finds a document, and finds none', async () => {
    const { begin, fold, activate, loaderOver, pages } = lookupFixture()
    await begin(1)
    await fold(await activate(), 1)
    const lookUp = loaderOver()
    expect(await Promise.all([lookUp(1), lookUp(2), lookUp(1)])).toEqual([tallyDoc(1), null, tallyDoc(1)])
    expect(pages).toEqual([])
  })

  it('takes checkpoint and documents from one build when another becomes active in between', async () => {
    const { begin, fold, activate, loaderOver, store, projection, pages } = lookupFixture()
    const old = await activate()
    await begin(1)
    await fold(old, 1)
    await requestRebuild(store, projection)
    const lookUp = loaderOver()
    expect(await lookUp(2)).toBeNull()
    // The old build stands still from here on; the new one has everything.
    await begin(2)
    const next = await changeAlias(store, projection.name, () => null)
    const building = (next && buildsOf(next.alias, 1).building) ?? buildNames(projection)
    await fold(building, 1, 2)
    const switching = withFaults(
      store,
      () => new Error(),
      (method, nth) =>
        method === 'getMany' && nth === 1 ? switchBuild(store, { projection, names: building }) : undefined,
    )
    expect(await loaderOver({ store: switching })(2)).toEqual(tallyDoc(2))
    // This one knows the old build, which another process retired since.
    expect(await lookUp(2)).toEqual(tallyDoc(2))
    expect(pages).toEqual([])
  })

  it('repeats a read of a build that is dropped meanwhile', async () => {
    const { begin, fold, activate, loaderOver, store, projection, pages } = lookupFixture()
    const old = await activate()
    await begin(1)
    await fold(old, 1)
    await requestRebuild(store, projection)
    const building = buildNames(projection, 2)
    await fold(building, 1)
    const dropOld = async () => {
      await switchBuild(store, { projection, names: building })
      const [alias] = await syncAliases(store, [projection])
      if (alias) await dropRetiredBuilds(store, alias, new Set([old.collection]))
    }
    const dropping = withFaults(
      store,
      () => new Error(),
      (method, nth) => (method === 'getMany' && nth === 1 ? dropOld() : undefined),
    )
    expect(await loaderOver({ store: dropping })(1)).toEqual(tallyDoc(1))
    expect(await store.collections()).not.toContain(old.collection)
    expect(pages).toEqual([])
  })

  it('never reads documents of another version, whose shape may differ', async () => {
    const { begin, fold, activate, loaderOver, store } = lookupFixture({
      projection: { ...tallies, version: 2 },
    })
    const other = buildNames(tallies)
    await syncAliases(store, [tallies])
    await begin(1)
    await fold(other, 1)
    const lookUp = loaderOver()
    await store.commit([{ collection: other.collection, id: '1', position: 99, doc: { workspaceId: 'w1' } }], {
      name: 'other',
      expected: null,
      next: { position: 99, at: null },
    })
    expect(await lookUp(1)).toEqual(tallyDoc(1))
    const own = await activate()
    await fold(own, 1)
    expect(await lookUp(1)).toEqual(tallyDoc(1))
  })

  it('reads the build of its own version while another version is active', async () => {
    const newer = { ...tallies, version: 2 }
    const { begin, fold, loaderOver, store, pages } = lookupFixture({ projection: newer })
    await syncAliases(store, [tallies])
    const [alias] = await syncAliases(store, [newer])
    await begin(1)
    await fold((alias && buildsOf(alias.alias, 2).building) ?? buildNames(newer), 1)
    expect(await loaderOver()(1)).toEqual(tallyDoc(1))
    expect(pages).toEqual([])
  })

  it('finds no document that has expired, stored or not', async () => {
    const { begin, fold, activate, loaderOver, clock } = lookupFixture({
      projection: { ...tallies, expiresAt: ({ name }: { readonly name: string }) => (name === 't1' ? end : null) },
    })
    const end = clock.now() + COVERED_MS + 1
    const build = await activate()
    await fold(build, 1, 2)
    await begin(1, 2)
    const lookUp = loaderOver()
    expect(await Promise.all([lookUp(1), lookUp(2)])).toEqual([tallyDoc(1), tallyDoc(2)])
    await clock.advance(COVERED_MS)
    expect(await lookUp(1)).toEqual(tallyDoc(1))
    await clock.advance(1)
    expect(await lookUp(1)).toBeNull()
    await fold(build, 1, 2)
    expect(await Promise.all([lookUp(1), lookUp(2)])).toEqual([null, tallyDoc(2)])
  })
})

describe('the gap of a projection that lags further than the hour of the folds', () => {
  it('is read once for all decisions; each then reads its own events', async () => {
    const { begin, fold, activate, loaderOver, clock, log, pagesRead, pages } = lookupFixture()
    await begin(1)
    await fold(await activate(), 1)
    await clock.advance(COVERED_MS)
    await appendTo(log, 'tally-1', clock.now(), added(5))
    await begin(...Array.from({ length: 40 }, (_, n) => n + 2))
    const lookUp = loaderOver()
    const found = await Promise.all([lookUp(1), lookUp(2), Promise.resolve().then(() => lookUp(3)), lookUp(77)])
    expect(found).toEqual([tallyDoc(1, 5), tallyDoc(2), tallyDoc(3), null])
    expect(await lookUp(41)).toEqual(tallyDoc(41))
    expect(pagesRead()).toBe(1)
    expect(pages).toHaveLength(1 + 4)
  })

  it('has what was removed in it', async () => {
    const { begin, fold, activate, loaderOver, clock, log } = lookupFixture()
    await begin(1)
    await fold(await activate(), 1)
    await clock.advance(COVERED_MS)
    await appendTo(log, 'tally-1', clock.now(), closed)
    expect(await loaderOver()(1)).toBeNull()
  })

  it('is read on when the last reading is as old, from where it ended', async () => {
    const { begin, fold, activate, loaderOver, clock, pagesRead, pages, log } = lookupFixture()
    await begin(1)
    await fold(await activate(), 1)
    await clock.advance(COVERED_MS)
    await begin(2)
    const lookUp = loaderOver()
    expect(await lookUp(2)).toEqual(tallyDoc(2))
    const end = await log.head()
    await clock.advance(COVERED_MS - 1)
    await begin(3)
    // Folds still cover it.
    expect(await lookUp(3)).toBeNull()
    expect(pagesRead()).toBe(1)
    await clock.advance(1)
    expect(await lookUp(3)).toEqual(tallyDoc(3))
    expect(pagesRead()).toBe(2)
    expect(pages.findLast(({ limit }) => limit > 1)?.after).toBe(end)
  })

  it('is read on after a failure, without what was read', async () => {
    const { begin, fold, activate, loaderOver, clock, log, pages } = lookupFixture()
    await fold(await activate())
    await clock.advance(COVERED_MS)
    await begin(...Array.from({ length: 1_500 }, (_, n) => n))
    const broken = withFaults<EventLog>(
      log,
      () => new LogUnavailable('The log is away.'),
      (method, nth) => (method === 'readAll' && nth === 2 ? 'fail' : undefined),
    )
    const lookUp = loaderOver({ log: broken })
    await expect(lookUp(1_499)).rejects.toThrow('The log is away.')
    expect(await lookUp(1_499)).toEqual(tallyDoc(1_499))
    expect(await lookUp(0)).toEqual(tallyDoc(0))
    expect(pages.filter(({ after }) => after < 0)).toHaveLength(2)
  })

  it('fails look-ups while it holds an event of a version that this code does not know', async () => {
    const { begin, fold, activate, loaderOver, clock, log } = lookupFixture()
    await fold(await activate())
    await clock.advance(COVERED_MS)
    await begin(1)
    await log.append(namedStream('tally-1'), 0, [{ ...added(1), version: 2, meta: metaAt(clock.now(), 'later') }])
    const lookUp = loaderOver()
    await expect(lookUp(1)).rejects.toThrow(UnknownEventVersion)
    await expect(lookUp(2)).rejects.toThrow(UnknownEventVersion)
  })

  it('is forgotten when the projection has caught up', async () => {
    const { begin, fold, activate, loaderOver, clock, pagesRead } = lookupFixture()
    const build = await activate()
    await begin(1)
    await fold(build, 1)
    await clock.advance(COVERED_MS)
    const lookUp = loaderOver()
    await begin(2)
    expect(await lookUp(2)).toEqual(tallyDoc(2))
    await fold(build, 2)
    expect(await lookUp(2)).toEqual(tallyDoc(2))
    await clock.advance(COVERED_MS)
    expect(await lookUp(3)).toBeNull()
    expect(pagesRead()).toBe(2)
  })

  it('fails look-ups while it is larger than the index may be, and not once the projection has come up', async () => {
    const CHUNK = 16_384
    const { begin, fold, activate, loaderOver, clock } = lookupFixture({ maxEntries: CHUNK })
    const build = await activate()
    await fold(build)
    await clock.advance(COVERED_MS)
    await begin(...Array.from({ length: CHUNK + 1_000 }, (_, n) => n))
    const lookUp = loaderOver()
    await expect(lookUp(1)).rejects.toThrow(
      'The projection open-tallies is too far behind for decisions that look it up.',
    )
    await fold(build, 1)
    await clock.advance(COVERED_MS)
    await begin(99_999)
    expect(await Promise.all([lookUp(1), lookUp(99_999)])).toEqual([tallyDoc(1), tallyDoc(99_999)])
  })
})
