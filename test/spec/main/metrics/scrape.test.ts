import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { ALL_PARTITIONS } from '../../../../src/kernel/partition.ts'
import { watchLoopLag } from '../../../../src/main/metrics/loop-lag.ts'
import { createMetrics } from '../../../../src/main/metrics/metrics.ts'
import type { MetricSources } from '../../../../src/main/metrics/readings.ts'
import { START } from '../../../../src/ports/event-log.ts'
import { StoreUnavailable } from '../../../../src/ports/read-store.ts'
import { someEvent } from '../../../support/fixtures/events.ts'
import { appendTo, openTallies, tallyBegun } from '../../../support/fixtures/sample.ts'
import { createManualClock } from '../../../support/memory/clock.ts'
import { createMemoryLog } from '../../../support/memory/event-log.ts'
import { createMemoryOperationalStore } from '../../../support/memory/operational-store.ts'

/** A lag that is far above what a scrape of nothing could have. */
const LAG = { p99: 0.25, max: 0.5 }

/** The scrape of a process without projections, reactions and workers. */
function scrapeFixture(more: Partial<MetricSources & { readonly threadMetrics: (() => Promise<string>) | null }> = {}) {
  const clock = createManualClock()
  let readings = 0
  const { scrapeOf, appendEnded } = createMetrics()
  const scrape = scrapeOf({
    async readiness() {
      readings += 1
      return { ready: true, problems: [], warnings: ['One.'] }
    },
    writer: {
      snapshotStatus: () => ({ missing: 2, failing: 1 }),
      waitingCommands: () => ({ total: 7, deepest: 5 }),
    },
    readSide: {
      progress: async () => [],
      projections: null,
      projector: null,
      threads: new Map([['query', async () => LAG]]),
    },
    projections: [],
    reactions: [],
    log: createMemoryLog(),
    ops: createMemoryOperationalStore(),
    workers: null,
    parked: async () => new Map([['renewals', 3]]),
    views: { count: async () => 4, pluck: async () => [clock.now() - 2_000] },
    timers: { collection: 'timers_v1', kinds: ['ring'] },
    clock,
    threadMetrics: null,
    ...more,
  })
  return { clock, scrape, appendEnded, readings: () => readings }
}

const WORKERS = {
  status: () => [],
  leases: () => 6,
}

/** When the events of these tests were recorded. */
const AT = Date.parse(someEvent().meta.at)

/** The series of a scrape of our own, without their help. */
const seriesOf = (body: string) => body.split('\n').filter((line) => line !== '' && !/^(#|process_|nodejs_)/.test(line))

describe('a scrape', () => {
  it('has the values of every gauge that its process can read', async () => {
    const { scrape, appendEnded } = scrapeFixture({ workers: WORKERS })
    appendEnded('appended', 0.002, 3)
    const series = seriesOf((await scrape()).body)
    expect(series).toEqual(
      expect.arrayContaining([
        'readiness_ok 1',
        'readiness_problems 0',
        'readiness_warnings 1',
        'mailbox_waiting_commands 7',
        'mailbox_waiting_commands_max 5',
        'snapshots_missing 2',
        'snapshots_failing 1',
        'reaction_parked_streams{reaction="renewals"} 3',
        'timers_due{kind="ring"} 4',
        'timers_waiting{kind="ring"} 4',
        'timer_overdue_seconds{kind="ring"} 2',
        'lane_leases_held{pool="work"} 6',
        'thread_event_loop_lag_p99_seconds{thread="query"} 0.25',
        'thread_event_loop_lag_max_seconds{thread="query"} 0.5',
        'event_log_append_duration_seconds_bucket{le="0.0025",outcome="appended"} 1',
        'event_log_append_duration_seconds_count{outcome="appended"} 1',
        'event_log_append_duration_seconds_count{outcome="failed"} 0',
        'event_log_appended_events_total 3',
      ]),
    )
  })

  it('leaves out what a store that is away would say, and says which reading failed', async () => {
    const away = () => Promise.reject(new StoreUnavailable('away'))
    let isAway = false
    const parked = async () => (isAway ? away() : new Map([['renewals', 3]]))
    const { scrape } = scrapeFixture({ parked })
    expect(seriesOf((await scrape()).body)).toContain('reaction_parked_streams{reaction="renewals"} 3')
    isAway = true
    const series = seriesOf((await scrape()).body)
    expect(series.filter((line) => line.startsWith('reaction_parked_streams'))).toEqual([])
    expect(series).toContain('scrape_reading_failures_total{reading="parked"} 1')
    expect(series).toContain('readiness_ok 1')
  })

  it('ends in time when a store never answers, and asks it once', async () => {
    let asked = 0
    const silent = () => {
      asked += 1
      return new Promise<never>(() => undefined)
    }
    const { scrape, clock } = scrapeFixture({ readiness: silent })
    for (let scrapes = 1; scrapes <= 2; scrapes++) {
      const scraped = scrape()
      await clock.advance(5_000)
      const series = seriesOf((await scraped).body)
      expect(series.filter((line) => line.startsWith('readiness_'))).toEqual([])
      expect(series).toContain(`scrape_reading_failures_total{reading="readiness"} ${scrapes}`)
    }
    expect(asked).toBe(1)
  })

  it('is shared by those who ask at the same time', async () => {
    const { scrape, readings } = scrapeFixture()
    const [one, other] = await Promise.all([scrape(), scrape()])
    expect([other, readings()]).toEqual([one, 1])
    await scrape()
    expect(readings()).toBe(2)
  })

  it('keeps what another thread has counted while that does not answer', async () => {
    let answer = async () => 'read_store_written_documents_total 5\n'
    const { scrape } = scrapeFixture({ threadMetrics: () => answer() })
    const counted = async () => seriesOf((await scrape()).body).filter((line) => line.startsWith('read_store_'))
    expect(await counted()).toEqual(['read_store_written_documents_total 5'])
    answer = () => Promise.reject(new StoreUnavailable('The projector thread has ended.'))
    expect(await counted()).toEqual(['read_store_written_documents_total 5'])
  })
})

describe('the lag of a reaction', () => {
  const reaction = {
    name: 'pickers',
    events: { AppleFell: z.unknown(), PearFell: z.unknown() },
    on: { AppleFell: async () => null },
  }

  /** A log with an apple, a pear and an apple, in which the reaction has come to a position, or has not begun. */
  async function lagAt(indexOfLast: number | null) {
    const log = createMemoryLog()
    for (const type of ['AppleFell', 'PearFell', 'AppleFell']) {
      await log.append(`tree-00-${type}-${log.events.length}`, -1, [someEvent({}, type)])
    }
    const ops = createMemoryOperationalStore()
    const position = indexOfLast === null ? null : (log.events[indexOfLast]?.position ?? START)
    if (position !== null) await ops.put('reaction-position:pickers/00-ff', { position, epoch: 1 }, null)
    const { scrape } = scrapeFixture({ log, ops, reactions: [reaction], clock: createManualClock(AT + 40_000) })
    return seriesOf((await scrape()).body).filter((line) => line.startsWith('reaction_lag_seconds'))
  }

  it('is the age of the oldest event that it handles and has not done', async () => {
    expect(await lagAt(-1)).toEqual(['reaction_lag_seconds{reaction="pickers"} 40'])
    expect(await lagAt(1)).toEqual(['reaction_lag_seconds{reaction="pickers"} 40'])
    expect(await lagAt(2)).toEqual(['reaction_lag_seconds{reaction="pickers"} 0'])
  })

  it('is not told before it has begun', async () => {
    expect(await lagAt(null)).toEqual([])
  })
})

describe('the lag of a projection', () => {
  it('is the age of the oldest event that its build has not folded, beside the time without an owner', async () => {
    const log = createMemoryLog()
    await appendTo(log, 'tally-1', AT, tallyBegun('one'))
    const clock = createManualClock(AT + 6_000)
    const build = { version: 1, active: true, checkpoint: null, unownedMs: Number.POSITIVE_INFINITY }
    const active = { ...build, lanes: [{ range: ALL_PARTITIONS, position: START, holder: null }] }
    const progress = async () => [{ name: openTallies.name, version: 1, active, building: null, others: [] }]
    const readSide = { progress, projections: null, projector: null, threads: new Map() }
    const { scrape } = scrapeFixture({ log, clock, readSide, projections: [openTallies] })
    expect(seriesOf((await scrape()).body)).toEqual(
      expect.arrayContaining([
        'projection_lag_seconds{projection="open-tallies"} 6',
        'projection_unowned_seconds{projection="open-tallies"} +Inf',
      ]),
    )
  })
})

describe('the lag of a thread', () => {
  it('is the time since it was asked while it does not answer', async () => {
    const clock = createManualClock()
    let answer = (_: typeof LAG) => {}
    let asked = 0
    const lagOf = watchLoopLag(() => {
      asked += 1
      return new Promise((resolve) => {
        answer = resolve
      })
    }, clock)
    for (const seconds of [1, 2]) {
      const lag = lagOf()
      await clock.advance(1_000)
      expect(await lag).toEqual({ p99: seconds, max: seconds })
    }
    const lag = lagOf()
    answer(LAG)
    expect([await lag, asked]).toEqual([LAG, 1])
  })
})
