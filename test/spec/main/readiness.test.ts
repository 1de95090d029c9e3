import { describe, expect, it } from 'vitest'
import { createReadiness } from '../../../src/main/read-side/readiness.ts'
import { NO_WORKERS } from '../../../src/main/workers.ts'
import { createCheckpointTracker } from '../../../src/runtime/projections/checkpoint-tracker.ts'
import type { SnapshotStatus } from '../../../src/runtime/write/snapshot-builder.ts'
import { createManualClock } from '../../support/memory/clock.ts'
import { createMemoryReadStore } from '../../support/memory/read-store.ts'

/** The report of a process with these snapshots and nothing else to say. */
function readinessOf(status: SnapshotStatus, unreadable: readonly string[] = []) {
  const positions = createCheckpointTracker(createManualClock())
  for (const name of unreadable) positions.setReadable(name, false)
  const readiness = createReadiness({
    readSide: { projections: async () => [], positions, views: createMemoryReadStore() },
    log: { head: async () => 0 },
    workers: NO_WORKERS,
    parked: async () => new Map(),
    writer: { outdated: () => null, snapshotStatus: () => status },
    unprepared: () => [],
    clock: createManualClock(),
    onChange: () => undefined,
  })
  return readiness()
}

describe('the readiness of a process', () => {
  it('lasts when snapshots fail, with a warning', async () => {
    expect(await readinessOf({ missing: 0, failing: 0 })).toEqual({ ready: true, problems: [], warnings: [] })
    expect(await readinessOf({ missing: 0, failing: 1 })).toEqual({
      ready: true,
      problems: [],
      warnings: ['The last snapshot of 1 stream has failed.'],
    })
  })

  it('begins once the builds of its version are complete', async () => {
    expect(await readinessOf({ missing: 0, failing: 0 }, ['routes', 'buyers'])).toEqual({
      ready: false,
      problems: [
        'Projection buyers is being built for this version.',
        'Projection routes is being built for this version.',
      ],
      warnings: [],
    })
  })

  it('begins once the snapshots of its version are built', async () => {
    expect(await readinessOf({ missing: 2, failing: 0 })).toEqual({
      ready: false,
      problems: ['Snapshots of 2 streams are being built for this version.'],
      warnings: [],
    })
  })
})
