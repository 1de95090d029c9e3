import { afterEach, describe, expect, test } from 'vitest'
import { partitionOf } from '../../../../src/kernel/partition.ts'
import { collectionOf } from '../../../../src/kernel/projection.ts'
import { type ReadStore, StoreUnavailable } from '../../../../src/ports/read-store.ts'
import { projectionFixture, stopRunners } from '../../../support/fixtures/projection-fixture.ts'
import { added, appendIn, closed, openTallies, tallyBegun } from '../../../support/fixtures/sample.ts'

const tallies = collectionOf(openTallies)
const [low = '', high = ''] = [0, 1].map((half) =>
  Array.from({ length: 20 }, (_, n) => `w${n}`).find((id) => partitionOf(id) >> 7 === half),
)

afterEach(stopRunners)

function setUp(atomic = true) {
  const fixture = projectionFixture({ atomic })
  const { clock, log } = fixture
  const append = async (workspaceId: string, name: string, ...events: Parameters<typeof appendIn>[4][]) => {
    await appendIn(workspaceId, log, `tally-${name}`, clock.now(), ...events)
    await clock.advance(1_000)
  }
  const join = (instance: string, shards: number, store: ReadStore = fixture.store) =>
    fixture.join(instance, { projections: [openTallies], shards, pageSize: 1 }, { store })
  return { ...fixture, append, join }
}

describe('a number of shards other than before', () => {
  test('folds no event again: what was removed does not come back while slower partitions catch up', async () => {
    const { clock, store, append, join } = setUp()
    let isLowAway = false
    const lame: ReadStore = {
      ...store,
      async commit(writes, checkpoint) {
        if (isLowAway && checkpoint.name.endsWith('/00-7f')) throw new StoreUnavailable('away')
        return store.commit(writes, checkpoint)
      },
    }
    const first = await join('a:1', 2, lame)
    await clock.advance(1_000)
    isLowAway = true
    await append(low, 'low', tallyBegun('low'))
    await append(high, 'high', tallyBegun('high'), ...Array.from({ length: 40 }, () => added(1)))
    await append(high, 'high', closed)
    expect(Object.keys(store.all(tallies))).toEqual([])
    await first.end()
    const written: string[] = []
    const watched: ReadStore = {
      ...store,
      async commit(writes, checkpoint) {
        for (const { id, doc } of writes) if (doc) written.push(id)
        return store.commit(writes, checkpoint)
      },
    }
    await join('b:1', 1, watched)
    await clock.advance(2_000)
    await append(high, 'next', tallyBegun('next'), added(2))
    expect(written).toEqual(['low', 'next'])
  })

  test.each([true, false])('refuses late commits of the owners before it (atomic batches: %s)', async (atomic) => {
    const { clock, store, append, join } = setUp(atomic)
    const late = Promise.withResolvers<void>()
    let isLate = false
    const moved: boolean[] = []
    const lagging: ReadStore = {
      ...store,
      async commit(writes, checkpoint) {
        if (!isLate || writes.length === 0) return store.commit(writes, checkpoint)
        await late.promise
        const outcome = await store.commit(writes, checkpoint)
        moved.push(outcome)
        return outcome
      },
    }
    const first = await join('a:1', 2, lagging)
    await clock.advance(1_000)
    isLate = true
    await append(high, 'high', tallyBegun('high'))
    first.kill()
    await join('b:1', 1)
    await clock.advance(5_000)
    expect(Object.keys(store.all(tallies))).toEqual(['high'])
    await append(high, 'high', closed)
    expect(Object.keys(store.all(tallies))).toEqual([])
    late.resolve()
    await clock.advance(1_000)
    expect(moved).toEqual([false])
    expect(Object.keys(store.all(tallies))).toEqual([])
  })

  test('begins again when an owner before it commits while it begins', async () => {
    const { clock, store, append, join } = setUp()
    const first = await join('a:1', 2)
    await append(high, 'one', tallyBegun('one'))
    await first.end()
    let raced = false
    const racing: ReadStore = {
      ...store,
      async commit(writes, checkpoint) {
        const { name } = checkpoint
        const now = await store.checkpoint(name)
        if (now && !raced && name.endsWith('/80-ff')) {
          raced = true
          await store.commit([], { name, expected: now.position, next: { ...now, position: now.position + 1 } })
        }
        return store.commit(writes, checkpoint)
      },
    }
    const second = await join('b:1', 1, racing)
    await clock.advance(2_000)
    expect(raced).toBe(true)
    await append(low, 'two', tallyBegun('two'))
    expect(Object.keys(store.all(tallies)).toSorted()).toEqual(['one', 'two'])
    expect(second.status().map(({ state }) => state)).toEqual(['running'])
    expect((await store.checkpoint('open-tallies@1/80-ff'))?.epoch).toBe(2)
  })
})
