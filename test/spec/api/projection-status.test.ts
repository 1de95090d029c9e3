import { describe, expect, it } from 'vitest'
import { projectionRows } from '../../../src/api/projection-status.ts'
import type { AnyProjection } from '../../../src/kernel/projection.ts'
import { buildsOf } from '../../../src/runtime/projections/build-alias.ts'
import { switchBuild, syncAliases } from '../../../src/runtime/projections/build-lifecycle.ts'
import { readProgress } from '../../../src/runtime/projections/projection-progress.ts'
import { appendTo, tallyBegun, tallyTotals } from '../../support/fixtures/sample.ts'
import { createManualClock } from '../../support/memory/clock.ts'
import { createMemoryLog } from '../../support/memory/event-log.ts'
import { createMemoryReadStore } from '../../support/memory/read-store.ts'

const nobody = { leases: new Map(), isAlive: () => false, unownedMs: () => Number.POSITIVE_INFINITY }
const one: AnyProjection = tallyTotals
const two: AnyProjection = { ...one, version: 2 }

/** The row that a process without a projector answers, and the store that it reads. */
async function statusFixture() {
  const [clock, log, store] = [createManualClock(), createMemoryLog(), createMemoryReadStore()]
  await appendTo(log, 'tally-1', clock.now(), tallyBegun('x'))
  const rowOf = async (projection: AnyProjection) => {
    const progress = () => readProgress(store, [projection], nobody)
    const [row] = await projectionRows({
      log,
      clock,
      projections: [projection],
      readSide: { progress, projections: null },
    })
    return row
  }
  return { store, rowOf }
}

describe('the status of a projection', () => {
  it('of a version without a complete build is that it is being built, while the builds of others are read', async () => {
    const { store, rowOf } = await statusFixture()
    await syncAliases(store, [one])
    const others = [{ version: 1, active: true, position: -1 }]
    expect(await rowOf(one)).toMatchObject({ version: 1, state: 'running', rebuild: null, builds: others })
    // No process of its version has begun.
    expect(await rowOf(two)).toMatchObject({
      version: 2,
      state: 'rebuilding',
      holders: [],
      rebuild: null,
      builds: others,
    })
    const [alias] = await syncAliases(store, [two])
    const own = { version: 2, active: false, position: -1 }
    expect(await rowOf(two)).toMatchObject({ state: 'rebuilding', rebuild: { share: 0 }, builds: [own, ...others] })
    const names = alias && buildsOf(alias.alias, 2).building
    if (names) await switchBuild(store, { projection: two, names })
    expect(await rowOf(two)).toMatchObject({ state: 'running', builds: [{ ...own, active: true }, ...others] })
    expect(await rowOf(one)).toMatchObject({ state: 'running', builds: [...others, { ...own, active: true }] })
  })
})
