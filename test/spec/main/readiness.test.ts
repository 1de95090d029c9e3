import { describe, expect, it } from 'vitest'
import { ALL_PARTITIONS } from '../../../src/kernel/partition.ts'
import { HAND_OVER_MS, LAG_MS } from '../../../src/main/read-side/fold-problems.ts'
import { createReadiness, type ReadinessPorts } from '../../../src/main/read-side/readiness.ts'
import { NO_WORKERS } from '../../../src/main/workers.ts'
import { LogUnavailable, START } from '../../../src/ports/event-log.ts'
import { StoreUnavailable } from '../../../src/ports/read-store.ts'
import { createCheckpointTracker } from '../../../src/runtime/projections/checkpoint-tracker.ts'
import type { BuildProgress, ProjectionProgress } from '../../../src/runtime/projections/projection-progress.ts'
import type { ProjectionStatus } from '../../../src/runtime/projections/projection-runner.ts'
import { appendTo, openTallies, tallyBegun, tallyTotals } from '../../support/fixtures/sample.ts'
import { createManualClock } from '../../support/memory/clock.ts'
import { createMemoryLog } from '../../support/memory/event-log.ts'

/** A build that a living process folds, up to a position. */
const buildAt = (position: number, more: Partial<BuildProgress> = {}): BuildProgress => ({
  version: 1,
  active: true,
  checkpoint: { position, at: null },
  lanes: [{ range: ALL_PARTITIONS, position, holder: 'one' }],
  unownedMs: 0,
  ...more,
})

const progressOf = (name: string, active: BuildProgress | null, more: Partial<ProjectionProgress> = {}) => ({
  name,
  version: 1,
  active,
  building: null,
  others: [],
  ...more,
})

/** The readiness of a process that has nothing to say of its own, over an empty log. */
function readinessFixture({
  readSide = {},
  ...more
}: Partial<Omit<ReadinessPorts, 'readSide'>> & {
  readonly readSide?: Partial<ReadinessPorts['readSide']>
} = {}) {
  const [clock, log] = [createManualClock(), createMemoryLog()]
  const positions = createCheckpointTracker(clock)
  const readiness = createReadiness({
    readSide: {
      projections: null,
      positions,
      hasCredentials: () => true,
      progress: async () => [],
      missingIndexes: async () => [],
      ...readSide,
    },
    projections: [openTallies, tallyTotals],
    log,
    workers: NO_WORKERS,
    parked: async () => new Map(),
    writer: { outdated: () => null, snapshotStatus: () => ({ missing: 0, failing: 0 }) },
    unprepared: () => [],
    clock,
    onChange: () => undefined,
    onOlderLog: () => undefined,
    ...more,
  })
  return { clock, log, positions, readiness }
}

const READY = { ready: true, problems: [], warnings: [] }
const problem = (...problems: readonly string[]) => ({ ready: false, problems, warnings: [] })
const warning = (...warnings: readonly string[]) => ({ ready: true, problems: [], warnings })

describe('the readiness of a process', () => {
  it('lasts when snapshots fail, with a warning', async () => {
    expect(await readinessFixture().readiness()).toEqual(READY)
    const writer = { outdated: () => null, snapshotStatus: () => ({ missing: 0, failing: 1 }) }
    expect(await readinessFixture({ writer }).readiness()).toEqual(warning('The last snapshot of 1 stream has failed.'))
  })

  it('ends while stored collections lack indexes', async () => {
    const readinessOf = (collections: readonly string[]) =>
      readinessFixture({ readSide: { missingIndexes: async () => collections } }).readiness()
    expect(await readinessOf(['calls_v1'])).toEqual(
      problem('Indexes of 1 collection of the read store are missing: calls_v1.'),
    )
    expect(await readinessOf(['a', 'b', 'c', 'd', 'e', 'f', 'g'])).toEqual(
      problem('Indexes of 7 collections of the read store are missing: a, b, c, d, e and 2 more.'),
    )
  })

  it('begins once the builds of its version are complete', async () => {
    const { positions, readiness } = readinessFixture()
    for (const name of ['routes', 'buyers']) positions.setReadable(name, false)
    expect(await readiness()).toEqual(
      problem(
        'Projection buyers is being built for this version.',
        'Projection routes is being built for this version.',
      ),
    )
  })

  it('begins once the credentials that stood at its start are read', async () => {
    let hasCredentials = false
    const { readiness } = readinessFixture({ readSide: { hasCredentials: () => hasCredentials } })
    expect(await readiness()).toEqual(problem('Credentials are being read from the log.'))
    hasCredentials = true
    expect(await readiness()).toEqual(READY)
  })

  it('begins once the snapshots of its version are built', async () => {
    const writer = { outdated: () => null, snapshotStatus: () => ({ missing: 2, failing: 0 }) }
    expect(await readinessFixture({ writer }).readiness()).toEqual(
      problem('Snapshots of 2 streams are being built for this version.'),
    )
  })

  it('ends when a store is unavailable, or does not answer', async () => {
    const log = { ...createMemoryLog(), head: () => Promise.reject(new LogUnavailable('refused')) }
    const progress = () => Promise.reject(new StoreUnavailable('refused'))
    expect(await readinessFixture({ log, readSide: { progress } }).readiness()).toEqual(
      problem('The event log is unavailable.', 'The read store is unavailable.'),
    )
    const { clock, readiness } = readinessFixture({ readSide: { progress: () => new Promise(() => {}) } })
    const report = readiness()
    await clock.advance(2_000)
    expect(await report).toEqual(problem('The read store does not answer.'))
  })
})

describe('the readiness of a process of any role', () => {
  it('ends when an event has not been folded for longer than the limit, whoever folds', async () => {
    let position = START
    const progress = async () => [
      progressOf('open-tallies', buildAt(position)),
      progressOf('tally-totals', buildAt(position)),
    ]
    const { clock, log, readiness } = readinessFixture({ readSide: { progress } })
    await appendTo(log, 'tally-1', clock.now(), tallyBegun('x'))
    await clock.advance(LAG_MS)
    expect(await readiness()).toEqual(READY)
    await clock.advance(1_000)
    expect(await readiness()).toEqual(
      problem('Projection open-tallies is 6 s behind.', 'Projection tally-totals is 6 s behind.'),
    )
    position = await log.head()
    expect(await readiness()).toEqual(READY)
  })

  it('ends when the log has gone back behind the checkpoints, and begins again with the newer log', async () => {
    const clock = createManualClock()
    const newer = createMemoryLog()
    for (const tally of ['tally-1', 'tally-2']) await appendTo(newer, tally, clock.now(), tallyBegun('x'))
    const built = await newer.head()
    const older = createMemoryLog(newer.events.slice(0, 1))
    let current = newer
    const ends: string[] = []
    const { readiness } = readinessFixture({
      onOlderLog: (sentence) => ends.push(sentence),
      log: { head: () => current.head(), readAll: (...ask) => current.readAll(...ask) },
      readSide: {
        progress: async () => [progressOf('open-tallies', buildAt(START)), progressOf('tally-totals', buildAt(built))],
      },
    })
    expect(await readiness()).toEqual(READY)
    expect(ends).toEqual([])
    current = older
    const sentence = "The event log is older than the read models: their checkpoints are beyond the log's head."
    expect(await readiness()).toEqual(problem(sentence))
    expect(ends).toEqual([sentence])
    current = newer
    expect(await readiness()).toEqual(READY)
  })

  it('lasts through an idle spell and the first event after it', async () => {
    const { clock, log, readiness } = readinessFixture({
      readSide: {
        progress: async () => [
          progressOf('open-tallies', buildAt(0, { checkpoint: { position: 0, at: '2025-01-01T00:00:00.000Z' } })),
        ],
      },
    })
    await appendTo(log, 'tally-1', clock.now(), tallyBegun('x'))
    await clock.advance(3_600_000)
    expect(await readiness()).toEqual(READY)
    await appendTo(log, 'tally-2', clock.now(), tallyBegun('x'))
    expect(await readiness()).toEqual(READY)
  })

  it('ends when nobody has folded a projection for longer than a hand-over takes', async () => {
    const unowned = (unownedMs: number) =>
      readinessFixture({
        readSide: {
          progress: async () => [
            progressOf('open-tallies', buildAt(START, { unownedMs })),
            progressOf('tally-totals', buildAt(START)),
          ],
        },
      }).readiness()
    expect(await unowned(HAND_OVER_MS)).toEqual(READY)
    expect(await unowned(HAND_OVER_MS + 1)).toEqual(
      problem('No running process folds projection open-tallies of this version.'),
    )
  })

  it('ends with one sentence when there is no projector at all', async () => {
    const unownedMs = Number.POSITIVE_INFINITY
    const all = [
      progressOf('open-tallies', buildAt(START, { unownedMs })),
      progressOf('tally-totals', buildAt(START, { unownedMs })),
    ]
    expect(await readinessFixture({ readSide: { progress: async () => all } }).readiness()).toEqual(
      problem('No running process folds the projections of this version.'),
    )
  })

  it('asks for no owner of builds that nobody reads yet', async () => {
    const building = buildAt(START, { active: false, unownedMs: Number.POSITIVE_INFINITY })
    const progress = async () => [progressOf('open-tallies', null, { building })]
    expect(await readinessFixture({ readSide: { progress } }).readiness()).toEqual(READY)
  })

  it('lasts when a newer version reads a build of its own, with a warning', async () => {
    const beside = (other: BuildProgress) =>
      readinessFixture({
        readSide: {
          progress: async () => [progressOf('open-tallies', buildAt(START), { version: 2, others: [other] })],
        },
      }).readiness()
    expect(await beside(buildAt(START, { version: 3 }))).toEqual(
      warning('A newer version of the platform reads a build of its own of projection open-tallies.'),
    )
    expect(await beside(buildAt(START, { version: 3, active: false }))).toEqual(READY)
    expect(await beside(buildAt(START, { version: 1 }))).toEqual(READY)
  })
})

describe('the readiness of a process that folds projections', () => {
  const status = (more: Partial<ProjectionStatus>): ProjectionStatus => ({
    name: 'open-tallies',
    version: 1,
    range: ALL_PARTITIONS,
    position: START,
    at: null,
    lagMs: 0,
    events: 0,
    state: 'running',
    problem: null,
    replaces: false,
    ...more,
  })
  const folding = (more: Partial<ProjectionStatus>) =>
    readinessFixture({ readSide: { projections: async () => [status(more), status(more)] } })

  it('ends when one has halted or met an event of a newer version, and says so once', async () => {
    expect(await folding({ state: 'halted', problem: 'a bug' }).readiness()).toEqual(
      problem('Projection open-tallies has halted.'),
    )
    expect(await folding({ state: 'outdated' }).readiness()).toEqual(
      problem('Projection open-tallies has met an event of a newer version of the platform.'),
    )
  })

  it('lasts when a rebuild has halted, since the build of before is read, with a warning', async () => {
    expect(await folding({ state: 'halted', problem: 'a bug', replaces: true }).readiness()).toEqual(
      warning('The rebuild of projection open-tallies has halted.'),
    )
  })

  it('lasts while one is rebuilt or another process folds it, whatever its own lag says', async () => {
    expect(await folding({ state: 'rebuilding', lagMs: 60_000 }).readiness()).toEqual(READY)
    expect(await folding({ state: 'standby', lagMs: 60_000 }).readiness()).toEqual(READY)
  })
})
