import { afterEach, describe, expect, it } from 'vitest'
import type { RecordedEvent } from '../../../../src/kernel/event.ts'
import { type AnyProjection, collectionOf } from '../../../../src/kernel/projection.ts'
import { type EventLog, START } from '../../../../src/ports/event-log.ts'
import { StoreUnavailable } from '../../../../src/ports/read-store.ts'
import { withActiveBuilds } from '../../../../src/runtime/projections/active-builds.ts'
import { readActivePositions } from '../../../../src/runtime/projections/build-alias.ts'
import { RETIRED_BUILD_TTL_MS } from '../../../../src/runtime/projections/build-lifecycle.ts'
import { createCheckpointTracker, pollCheckpoints } from '../../../../src/runtime/projections/checkpoint-tracker.ts'
import { rebuildProjections } from '../../../../src/runtime/projections/rebuild-projections.ts'
import { UNREAD_BUILD_TTL_MS } from '../../../../src/runtime/projections/unread-builds.ts'
import { expectedTotals, projectionFixture, stopRunners } from '../../../support/fixtures/projection-fixture.ts'
import { tallyTotals } from '../../../support/fixtures/sample.ts'
import { advanceUntil } from '../../../support/memory/clock.ts'

const one: AnyProjection = tallyTotals
/** The next version of the code: the field `added` of its documents has another name. */
const two: AnyProjection = {
  ...one,
  version: 2,
  derive: ({ added, ...doc }: { readonly added: number }) => ({ ...doc, sum: added }),
  update: Object.fromEntries(
    Object.entries(one.update).map(([type, step]) => [
      type,
      (doc: Readonly<Record<string, unknown>>, event: RecordedEvent, id: string) =>
        step?.({ ...doc, added: doc.added ?? doc.sum }, event, id),
    ]),
  ),
}
const [first, second] = [{ projections: [one] }, { projections: [two] }]
const sumOf = (count: number) => ({
  ...expectedTotals(count).all,
  added: undefined,
  sum: expectedTotals(count).all.added,
})

afterEach(stopRunners)

function versionsFixture() {
  const fixture = projectionFixture()
  const { clock, store } = fixture
  const views = withActiveBuilds(store, clock)
  /** The document that a process of a version reads. */
  const read = async (projection: AnyProjection) => (await views.get(collectionOf(projection), 'all'))?.doc
  const collections = async () =>
    (await store.collections()).filter((name) => name.startsWith('tally-totals')).toSorted()
  const positionOf = async (projection: AnyProjection) =>
    (await readActivePositions(store, [projection])).get(projection.name) ?? null
  return { ...fixture, views, read, collections, positionOf }
}

/** A log in which a build that has caught up finds more to fold, before it is released: so it is not complete. */
function withMoreToFold(log: EventLog) {
  let isHeld = true
  const endless: EventLog = {
    ...log,
    async readAll(after, limit, filter) {
      const page = await log.readAll(after, limit, filter)
      return isHeld && limit === 1 ? { ...page, end: false } : page
    },
    head: async () => (isHeld ? Number.MAX_SAFE_INTEGER : log.head()),
  }
  const release = () => {
    isHeld = false
  }
  return { endless, release }
}

describe('two versions of a projection', () => {
  it('are folded side by side, each for the processes of its version', async () => {
    const { clock, join, fill, read, positionOf, log } = versionsFixture()
    await fill(0, 10)
    const old = await join('a:1', first)
    await clock.advance(2_000)
    const next = await join('b:1', second)
    await clock.advance(5_000)
    for (let n = 10; n < 20; n++) {
      await fill(n, n + 1)
      await clock.advance(1_000)
      expect(await read(one)).toEqual(expectedTotals(n + 1).all)
      expect(await read(two)).toEqual(sumOf(n + 1))
    }
    expect([await positionOf(one), await positionOf(two)]).toEqual([await log.head(), await log.head()])
    expect([old, next].flatMap(({ status }) => status().map(({ version, state }) => [version, state]))).toEqual([
      [1, 'running'],
      [2, 'running'],
    ])
  })

  it('never give a reader documents of the other: it waits for its own, and nobody waits for it', async () => {
    const { clock, log, store, join, fill, read, positionOf } = versionsFixture()
    await fill(0, 10)
    await join('a:1', first)
    await clock.advance(2_000)
    const { endless, release } = withMoreToFold(log)
    const next = await join('b:1', second, { log: endless })
    await clock.advance(2_000)
    const stop = new AbortController()
    const positions = createCheckpointTracker(clock)
    void pollCheckpoints({ store, projections: [two], positions, clock, signal: stop.signal })
    await clock.advance(100)
    await fill(10, 12)
    await clock.advance(1_000)
    expect(next.status()).toMatchObject([{ state: 'rebuilding', version: 2, position: await log.head() }])
    await expect(read(two)).rejects.toThrow(StoreUnavailable)
    expect(await positionOf(two)).toBeNull()
    expect(positions.unreadable()).toEqual(['tally-totals'])
    const before = clock.now()
    expect(await positions.waitFor(['tally-totals'], await log.head(), 2_000)).toBe(false)
    expect(clock.now()).toBe(before)
    expect(await read(one)).toEqual(expectedTotals(12).all)
    release()
    await advanceUntil(clock, () => positions.unreadable().length === 0)
    expect(await read(two)).toEqual(sumOf(12))
    expect(await positions.waitFor(['tally-totals'], await log.head(), 2_000)).toBe(true)
    stop.abort()
  })

  it('releases who waits when the build that it waits for turns out to be incomplete', async () => {
    const { clock } = versionsFixture()
    const positions = createCheckpointTracker(clock)
    const answer = positions.waitFor(['a', 'b'], 10, 2_000)
    positions.setReadable('a', false)
    positions.advance('b', 10)
    expect(await answer).toBe(false)
    positions.setReadable('a', true)
    positions.advance('a', 10)
    expect(await positions.waitFor(['a', 'b'], 10, 2_000)).toBe(true)
    expect(positions.positionOf('c')).toBe(START)
  })

  it('are both kept for as long as a process reads them, whoever folds', async () => {
    const { clock, join, contend, fill, read, collections } = versionsFixture()
    await fill(0, 5)
    const old = await join('a:1', first)
    await clock.advance(2_000)
    const reader = await contend('reader:1', 0, { 'tally-totals': 1 })
    await join('b:1', second)
    await clock.advance(5_000)
    await old.end()
    await clock.advance(UNREAD_BUILD_TTL_MS + RETIRED_BUILD_TTL_MS + 10_000)
    expect(await collections()).toEqual(['tally-totals_v1', 'tally-totals_v2~2'])
    expect(await read(one)).toEqual(expectedTotals(5).all)
    reader.kill()
    await clock.advance(UNREAD_BUILD_TTL_MS)
    expect(await collections()).toEqual(['tally-totals_v1', 'tally-totals_v2~2'])
    await clock.advance(RETIRED_BUILD_TTL_MS + 10_000)
    expect(await collections()).toEqual(['tally-totals_v2~2'])
  })

  it('go back: older code builds its version anew, and the newer one is dropped', async () => {
    const { clock, join, fill, read, collections } = versionsFixture()
    await fill(0, 5)
    const next = await join('b:1', second)
    await clock.advance(2_000)
    const old = await join('a:1', first)
    await clock.advance(5_000)
    expect([await read(one), await read(two)]).toEqual([expectedTotals(5).all, sumOf(5)])
    await next.end()
    await fill(5, 6)
    await clock.advance(UNREAD_BUILD_TTL_MS + RETIRED_BUILD_TTL_MS + 10_000)
    expect(await collections()).toEqual(['tally-totals_v1~2'])
    expect(await read(one)).toEqual(expectedTotals(6).all)
    expect(old.status()).toMatchObject([{ version: 1, state: 'running' }])
  })

  it('are built beforehand by a script, beside a server of the older version', async () => {
    const { clock, log, store, join, contend, fill, read } = versionsFixture()
    await fill(0, 5)
    await join('a:1', first)
    await clock.advance(2_000)
    const { ownership, close } = await contend('script:1', 0, { 'tally-totals': 2 })
    let isBuilt = false
    const { signal } = new AbortController()
    void rebuildProjections({ log, store, ownership, projections: [two], clock, signal }).then(() => {
      isBuilt = true
    })
    await advanceUntil(clock, () => isBuilt)
    await close()
    await fill(5, 6)
    await clock.advance(UNREAD_BUILD_TTL_MS - 60_000)
    expect([await read(one), await read(two)]).toEqual([expectedTotals(6).all, sumOf(5)])
    await join('b:1', second)
    await clock.advance(2_000)
    expect(await read(two)).toEqual(sumOf(6))
  })

  it('keep the last complete build while no other is, and drop one that nobody completes', async () => {
    const { clock, log, join, fill, read, collections } = versionsFixture()
    await fill(0, 5)
    const old = await join('a:1', first)
    await clock.advance(2_000)
    const { endless } = withMoreToFold(log)
    const next = await join('b:1', second, { log: endless })
    await clock.advance(2_000)
    await old.end()
    await clock.advance(UNREAD_BUILD_TTL_MS + RETIRED_BUILD_TTL_MS + 10_000)
    expect(await collections()).toEqual(['tally-totals_v1', 'tally-totals_v2~2'])
    await join('a:1', first)
    await clock.advance(2_000)
    expect(await read(one)).toEqual(expectedTotals(5).all)
    next.kill()
    await clock.advance(UNREAD_BUILD_TTL_MS + RETIRED_BUILD_TTL_MS + 10_000)
    expect(await collections()).toEqual(['tally-totals_v1'])
  })
})
