import { describe, expect, test } from 'vitest'
import { buyers } from '../../../../projections/demand/buyers.ts'
import { targets } from '../../../../projections/demand/targets.ts'
import { StoreUnavailable } from '../../../../src/ports/read-store.ts'
import { ensureAliases } from '../../../../src/runtime/projections/build-alias.ts'
import { requestRebuild, syncAliases } from '../../../../src/runtime/projections/build-lifecycle.ts'
import { buildNames } from '../../../../src/runtime/projections/build-names.ts'
import { watchIndexes } from '../../../../src/runtime/projections/index-watch.ts'
import { createManualClock } from '../../../support/memory/clock.ts'
import { createMemoryOperationalStore } from '../../../support/memory/operational-store.ts'
import { createMemoryReadStore } from '../../../support/memory/read-store.ts'

const PROJECTIONS = [buyers, targets]
const COLLECTIONS = PROJECTIONS.map((projection) => buildNames(projection).collection)
/** Longer than the watch waits between two looks. */
const A_LOOK_MS = 20_000

/** A watch over stores in memory; `lost` holds the collections of the operational store that lack an index. */
async function watchFixture({ repairs }: { readonly repairs: boolean }) {
  const [clock, store] = [createManualClock(), createMemoryReadStore()]
  const stop = new AbortController()
  await ensureAliases(store)
  await syncAliases(store, PROJECTIONS)
  await store.ensure(COLLECTIONS.map((name) => ({ name, indexes: [], columns: [] })))
  const lost = new Set<string>()
  const network = { isAway: false }
  const missing = watchIndexes({
    store: {
      ...store,
      find: async (...page) => (network.isAway ? Promise.reject(new StoreUnavailable('away')) : store.find(...page)),
    },
    ops: {
      ...createMemoryOperationalStore(),
      ensure: async () => lost.clear(),
      missingIndexes: async () => [...lost],
    },
    projections: PROJECTIONS,
    indexedByPosition: new Set(),
    repairs,
    clock,
    signal: stop.signal,
  })
  const look = () => clock.advance(A_LOOK_MS)
  return { store, lost, missing, look, stop, network }
}

describe('the watch of the stores’ indexes', () => {
  test('names what is missing of what is read, until it is there', async () => {
    const { store, lost, missing, look } = await watchFixture({ repairs: false })
    await look()
    expect(missing()).toEqual([])
    await store.drop('buyers_v1')
    lost.add('_notes')
    await look()
    expect(missing()).toEqual(['buyers_v1', '_notes'])
    lost.clear()
    await store.ensure([{ name: 'buyers_v1', indexes: [], columns: [] }])
    await look()
    expect(missing()).toEqual([])
  })

  test('does not name a build that is not read yet', async () => {
    const { store, missing, look } = await watchFixture({ repairs: false })
    await requestRebuild(store, buyers)
    await look()
    expect(missing()).toEqual([])
  })

  test('creates again what is missing, of a build that is not read yet too', async () => {
    const { store, lost, missing, look } = await watchFixture({ repairs: true })
    await requestRebuild(store, buyers)
    for (const collection of COLLECTIONS) await store.drop(collection)
    lost.add('_operational')
    await look()
    expect([missing(), [...lost]]).toEqual([[], []])
    expect((await store.collections()).filter((name) => /buyers|targets/.test(name))).toHaveLength(3)
  })

  test('keeps what it knows while the store is away, and looks no more once it has ended', async () => {
    const { lost, missing, look, stop, network } = await watchFixture({ repairs: false })
    lost.add('_notes')
    await look()
    network.isAway = true
    lost.clear()
    await look()
    expect(missing()).toEqual(['_notes'])
    stop.abort()
    network.isAway = false
    await look()
    expect(missing()).toEqual(['_notes'])
  })
})
