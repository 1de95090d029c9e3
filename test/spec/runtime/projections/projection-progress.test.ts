import { describe, expect, it } from 'vitest'
import { readAliases } from '../../../../src/runtime/projections/build-alias.ts'
import { requestRebuild } from '../../../../src/runtime/projections/build-lifecycle.ts'
import { readProgress } from '../../../../src/runtime/projections/projection-progress.ts'
import { openTallies, tallyTotals } from '../../../support/fixtures/sample.ts'
import { createMemoryReadStore } from '../../../support/memory/read-store.ts'

describe.each([true, false])('asking for a rebuild (batches atomic: %s)', (atomic) => {
  it('starts one build for concurrent requests, and returns which request started it', async () => {
    const store = createMemoryReadStore({ atomic })
    const requests = await Promise.all(Array.from({ length: 6 }, () => requestRebuild(store, openTallies)))
    expect(requests.filter((began) => began)).toHaveLength(1)
    expect(await requestRebuild(store, openTallies)).toBe(false)
    expect(await requestRebuild(store, tallyTotals)).toBe(true)
    const { alias } = (await readAliases(store)).get(openTallies.name) ?? {}
    expect([alias?.active.collection, alias?.building?.collection]).toEqual(['open-tallies_v1', 'open-tallies_v1~1'])
  })

  it('is visible in the progress of the builds', async () => {
    const store = createMemoryReadStore({ atomic })
    expect(await readProgress(store, [openTallies])).toEqual([
      { name: 'open-tallies', version: 1, active: null, building: null },
    ])
    await requestRebuild(store, openTallies)
    const next = { position: 7, at: '2026-01-01T00:00:00.000Z' }
    await store.commit([], { name: 'open-tallies@1~1', expected: null, next })
    expect(await readProgress(store, [openTallies])).toMatchObject([{ active: null, building: { checkpoint: next } }])
  })
})
