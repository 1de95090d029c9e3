import { describe, expect, it } from 'vitest'
import { buildsOf, readAliases } from '../../../../src/runtime/projections/build-alias.ts'
import { requestRebuild } from '../../../../src/runtime/projections/build-lifecycle.ts'
import { readProgress } from '../../../../src/runtime/projections/projection-progress.ts'
import { openTallies, tallyTotals } from '../../../support/fixtures/sample.ts'
import { wholeCheckpoint } from '../../../support/memory/ownership.ts'
import { createMemoryReadStore } from '../../../support/memory/read-store.ts'

const nobody = { leases: new Map(), isAlive: () => false, unownedMs: () => Number.POSITIVE_INFINITY }

describe.each([true, false])('asking for a rebuild (batches atomic: %s)', (atomic) => {
  it('starts one build for concurrent requests, and returns which request started it', async () => {
    const store = createMemoryReadStore({ atomic })
    const requests = await Promise.all(Array.from({ length: 6 }, () => requestRebuild(store, openTallies)))
    expect(requests.filter((began) => began)).toHaveLength(1)
    expect(await requestRebuild(store, openTallies)).toBe(false)
    expect(await requestRebuild(store, tallyTotals)).toBe(true)
    const { alias } = (await readAliases(store)).get(openTallies.name) ?? {}
    const { active = null, building = null } = alias ? buildsOf(alias, 1) : {}
    expect([active?.collection, building?.collection]).toEqual(['open-tallies_v1', 'open-tallies_v1~1'])
  })

  it('is visible in the progress of the builds', async () => {
    const store = createMemoryReadStore({ atomic })
    expect(await readProgress(store, [openTallies], nobody)).toMatchObject([
      { name: 'open-tallies', version: 1, active: { checkpoint: null }, building: null },
    ])
    await requestRebuild(store, openTallies)
    const next = { position: 7, at: '2026-01-01T00:00:00.000Z' }
    await store.commit([], { name: wholeCheckpoint('open-tallies@1~1'), expected: null, next })
    expect(await readProgress(store, [openTallies], nobody)).toMatchObject([
      { active: { active: true, checkpoint: null }, building: { active: false, checkpoint: next } },
    ])
  })
})
