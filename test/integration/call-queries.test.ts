import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { z } from 'zod'
import { callColumns, callLog } from '../../projections/calls/call-log.ts'
import { callStory } from '../../projections/calls/call-story.ts'
import { listCalls } from '../../queries/calls/list-calls.ts'
import { liveCalls } from '../../queries/calls/live-calls.ts'
import { openSqliteReadStore } from '../../src/adapters/sqlite/read-store.ts'
import { collectionOf } from '../../src/kernel/projection.ts'
import type { ReadStore } from '../../src/ports/read-store.ts'
import { withColumns } from '../../src/runtime/columns/column-store.ts'
import { buildNames } from '../../src/runtime/projections/build-names.ts'
import { createCheckpointTracker } from '../../src/runtime/projections/checkpoint-tracker.ts'
import { createChangeCounters } from '../../src/runtime/queries/change-counters.ts'
import { withReadInvalidation } from '../../src/runtime/queries/invalidate-on-read.ts'
import { instantAfter } from '../support/fixtures/call-world.ts'
import { columnParts } from '../support/fixtures/column-parts.ts'
import { connected, events, live, names, world } from '../support/fixtures/logged-calls.ts'
import { fillStore, runQuery } from '../support/fixtures/query-fixture.ts'
import { idOf, NOW } from '../support/fixtures/spec.ts'
import { createManualClock } from '../support/memory/clock.ts'
import { wholeCheckpoint } from '../support/memory/ownership.ts'
import { createMemoryReadStore } from '../support/memory/read-store.ts'

type Page = z.infer<typeof listCalls.response>
type Board = z.infer<typeof liveCalls.response>

let folder: string
const stores: Record<string, ReadStore> = {}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'calls-'))
  const sqlite = await openSqliteReadStore(join(folder, 'views.db'))
  const memory = createMemoryReadStore()
  for (const store of [sqlite, memory]) await fillStore(store, [callLog, callStory], events)
  const columned = withColumns(sqlite, columnParts([callColumns]))
  Object.assign(stores, { memory, sqlite, columned })
})

afterAll(async () => {
  await stores.sqlite?.close()
  await rm(folder, { recursive: true, force: true })
})

const storeOf = (name: string) => stores[name] ?? createMemoryReadStore()

describe.each(['memory', 'sqlite', 'columned'])('the call log over %s', (name) => {
  const list = (query: object = {}) => runQuery<Page>(listCalls, storeOf(name), { query })
  const found = async (query: object) => (await list(query)).data.map(({ id }) => names.get(id))

  it('lists the last week, newest first, with figures that add up', async () => {
    const page = await list()
    expect(page.data.map(({ id }) => names.get(id))).toEqual([
      'live',
      'missed',
      'unrouted',
      'connected',
      'converted',
      'lost',
    ])
    expect(page).toMatchObject({
      page: 1,
      pageSize: 25,
      total: 6,
      totalPages: 1,
      nextCursor: null,
      from: '2026-03-04T05:00:00.000Z',
      to: NOW,
      timezone: 'America/New_York',
      stats: {
        count: 6,
        connected: 2,
        converted: 1,
        unrouted: 1,
        connectRate: 0.3333,
        conversionRate: 0.5,
        revenueCents: 4_000,
        payoutCents: 0,
        profitCents: 4_000,
        usageCents: 9,
        avgTalkSeconds: 65,
        totalTalkSeconds: 130,
      },
    })
  })

  it.each([
    [{ outcome: 'connected' }, ['connected', 'converted']],
    [{ outcome: 'converted' }, ['converted']],
    [{ outcome: 'live' }, ['live', 'lost']],
    [{ status: 'abandoned' }, ['missed']],
    [{ minTalk: '30', maxTalk: '99' }, ['connected']],
    [{ maxTalk: '0', outcome: 'unrouted' }, ['unrouted']],
    [{ reason: 'all_targets_failed' }, ['unrouted']],
    [{ hasRecording: 'true' }, []],
    [{ caller: '310-555-0122' }, ['connected']],
    [{ caller: '13105550122' }, ['connected']],
    [{ caller: '+1 (310) 555-0122' }, ['connected']],
    [{ caller: '0122' }, ['connected']],
    [{ caller: '+442071838750' }, ['missed']],
    [{ caller: '02071838750' }, []],
    [{ caller: '2071838750' }, []],
    [{ tagKey: 'callerAreaCode' }, ['live', 'connected', 'converted', 'lost']],
    [{ tagKey: 'callerAreaCode', tagValue: '310' }, ['connected']],
    [{ tagKey: 'no.such-key' }, []],
    [{ targetId: world.targetId(0) }, ['live', 'missed', 'converted', 'lost']],
    [{ buyerId: world.buyerId, outcome: 'unrouted' }, []],
    [{ campaignId: world.campaignId, publisherId: world.publisherId, status: 'busy' }, []],
    [{ numberId: idOf(1) }, []],
    [{ from: instantAfter(-3_600), to: instantAfter(-900) }, ['unrouted', 'connected']],
    [{ from: '2026-03-02', to: '2026-03-03' }, ['old']],
    [{ sort: 'talkSeconds', outcome: 'connected' }, ['converted', 'connected']],
    [{ sort: 'billedCents', dir: 'asc', outcome: 'connected' }, ['connected', 'converted']],
    [{ sort: 'anything', dir: 'asc', pageSize: '2', page: '2' }, ['connected', 'unrouted']],
  ])('answers %j with the calls that pass, and counts the same', async (query, expected) => {
    expect(await found(query)).toEqual(expected)
    const { total, stats } = await list(query)
    expect(total).toBe(stats.count)
    if (!('page' in query)) expect(total).toBe(expected.length)
  })

  it('gives null for the rates of no calls', async () => {
    expect(await list({ reason: 'caller_blocked' })).toMatchObject({
      data: [],
      totalPages: 0,
      stats: { count: 0, connectRate: null, conversionRate: null, avgTalkSeconds: 0 },
    })
  })

  it('shows the live board at the instant of the query', async () => {
    const board = await runQuery<Board>(liveCalls, storeOf(name))
    expect(board).toMatchObject({ count: 1, connected: 1, truncated: false, at: NOW })
    expect(board.live).toMatchObject([
      {
        id: live,
        ref: 'CA-0000000005',
        status: 'in_progress',
        elapsedSeconds: 60,
        talkSeconds: 57,
        callerState: 'CA',
        attemptNo: 1,
        target: { name: 'Front desk' },
        buyer: { name: 'Solar Co' },
      },
    ])
  })
})

describe('the figures of the call log', () => {
  it('are summed from columns alone, unless the query filters by caller or tag', async () => {
    const sums: string[] = []
    const recording: ReadStore = {
      ...storeOf('memory'),
      sum: async (collection) => {
        sums.push(collection)
        return []
      },
    }
    const columned = withColumns(recording, columnParts([callColumns]))
    const { campaignId, publisherId, buyerId } = world
    const byRecord = { campaignId, publisherId, buyerId, targetId: world.targetId(), numberId: idOf(1), minTalk: '1' }
    await runQuery<Page>(listCalls, columned, { query: { ...byRecord, outcome: 'connected', status: 'completed' } })
    await runQuery<Page>(listCalls, columned, { query: { reason: 'no_targets', hasRecording: 'false' } })
    expect(sums).toEqual([])
    await runQuery<Page>(listCalls, columned, { query: { caller: '0122' } })
    expect(sums).toEqual([collectionOf(callLog)])
  })

  it('include the calls of the page beside them even before the projector reports its progress', async () => {
    const store = createMemoryReadStore()
    await fillStore(store, [callLog], events)
    const { checkpoint: build, collection } = buildNames(callLog)
    const checkpoint = wholeCheckpoint(build)
    const read = (await store.checkpoint(checkpoint))?.position ?? 0
    const positions = createCheckpointTracker(createManualClock())
    positions.advance(callLog.name, read)
    const moves = createChangeCounters()
    const changesOf = (name: string, workspaceId: string) => moves.cacheVersionOf([name], workspaceId)
    const columned = withColumns(store, { ...columnParts([callColumns]), changesOf })
    const views = withReadInvalidation(columned, positions, moves)
    const figures = async () => {
      const { data, stats } = await runQuery<Page>(listCalls, views)
      return [stats.revenueCents, data.reduce((sum, { revenueCents }) => sum + revenueCents, 0)]
    }
    expect(await figures()).toEqual([4_000, 4_000])
    const before = await store.get(collection, connected ?? '')
    const position = read + 1
    const doc = { ...before?.doc, revenueCents: 700 }
    await store.commit([{ collection, id: connected ?? '', doc, position }], {
      name: checkpoint,
      expected: read,
      next: { position, at: null },
    })
    expect(await figures()).toEqual([4_700, 4_700])
  })
})
