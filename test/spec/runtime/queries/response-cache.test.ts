import { describe, expect, test } from 'vitest'
import { ALL_PARTITIONS, inRange, partitionOf } from '../../../../src/kernel/partition.ts'
import { createCheckpointTracker } from '../../../../src/runtime/projections/checkpoint-tracker.ts'
import { createChangeCounters } from '../../../../src/runtime/queries/change-counters.ts'
import { withSingleFlight } from '../../../../src/runtime/queries/coalesce-queries.ts'
import { withReadInvalidation } from '../../../../src/runtime/queries/invalidate-on-read.ts'
import type { QueryRequest } from '../../../../src/runtime/queries/query-runner.ts'
import {
  createResponseCache,
  positionsVersionOf,
  withResponseCache,
} from '../../../../src/runtime/queries/response-cache.ts'
import { createManualClock, flushEventLoop } from '../../../support/memory/clock.ts'
import { createMemoryReadStore } from '../../../support/memory/read-store.ts'

const NOON = Date.parse('2026-11-21T12:00:00.000Z')
const createCache = (bytes = 100) => createResponseCache<string>(bytes, (answer) => answer.length)

describe('the response cache', () => {
  test('returns a response for its own key and version only', () => {
    const cache = createCache()
    cache.set('question', '1', NOON, 'answer')
    expect(cache.get('question', '1', NOON + 4_999)).toBe('answer')
    expect(cache.get('question', '2', NOON)).toBeNull()
    expect(cache.get('another', '1', NOON)).toBeNull()
  })

  test('expires a response after five seconds, and at the end of a quarter of an hour', () => {
    const cache = createCache()
    cache.set('question', '1', NOON, 'answer')
    expect(cache.get('question', '1', NOON + 5_000)).toBeNull()
    cache.set('late', '1', NOON - 1_000, 'answer')
    expect(cache.get('late', '1', NOON - 1)).toBe('answer')
    expect(cache.get('late', '1', NOON)).toBeNull()
  })

  test('evicts the oldest responses when it is full', () => {
    const cache = createCache(10)
    for (const key of ['a', 'b', 'c', 'd', 'e']) cache.set(key, '1', NOON, 'xxxxx')
    expect(cache.get('a', '1', NOON)).toBeNull()
    expect(cache.get('c', '1', NOON)).toBeNull()
    expect(cache.get('d', '1', NOON)).toBe('xxxxx')
    expect(cache.get('e', '1', NOON)).toBe('xxxxx')
  })
})

describe('change counters', () => {
  test('change the cache version of the workspace and projections concerned, and no other', () => {
    const changes = createChangeCounters()
    const before = {
      one: changes.cacheVersionOf(['buyers'], 'one'),
      other: changes.cacheVersionOf(['buyers'], 'other'),
    }
    changes.recordChange('targets', ['one'])
    changes.recordChange('buyers', [])
    expect(changes.cacheVersionOf(['buyers'], 'one')).toBe(before.one)
    changes.recordChange('buyers', ['one'])
    expect(changes.cacheVersionOf(['buyers'], 'one')).not.toBe(before.one)
    expect(changes.cacheVersionOf(['buyers'], 'other')).toBe(before.other)
  })

  test('count changes by projection, when documents were written', () => {
    const changes = createChangeCounters()
    const versions = () => ['buyers', 'targets'].map((name) => changes.cacheVersionOf([name], 'one'))
    const before = versions()
    changes.recordChange('buyers', [])
    expect(versions()).toEqual(before)
    changes.recordChange('buyers', ['one', 'other'])
    const [buyers, targets] = versions()
    expect([buyers === before[0], targets]).toEqual([false, before[1]])
    changes.recordChange('buyers', null)
    expect(versions()[0]).not.toBe(buyers)
  })

  test('change the cache versions of all workspaces when the workspace is unknown', () => {
    const changes = createChangeCounters()
    const before = changes.cacheVersionOf(['buyers', 'targets'], 'one')
    changes.recordChange('targets', null)
    expect(changes.cacheVersionOf(['buyers', 'targets'], 'one')).not.toBe(before)
    expect(changes.cacheVersionOf(['buyers'], 'one')).toBe(createChangeCounters().cacheVersionOf(['buyers'], 'one'))
  })
})

const requests: QueryRequest = {
  name: 'totals',
  params: {},
  query: {},
  tenant: { workspaceId: 'one', timezone: 'UTC' },
  surface: 'rest',
  now: '2026-11-21T12:00:00.000Z',
  minPosition: null,
}

describe('a query runner with a response cache', () => {
  function rig(answers: (nth: number) => { readonly lag?: boolean } | Promise<object> = () => ({})) {
    let runs = 0
    const changes = createChangeCounters()
    const positions = createCheckpointTracker(createManualClock())
    const runner = withResponseCache(
      {
        async run() {
          runs += 1
          const bytes = new TextEncoder().encode(`${runs}`)
          return { bytes, position: 1, lag: false, isAhead: false, revision: null, ...(await answers(runs)) }
        },
      },
      { cacheable: new Map([['totals', ['buyers']]]), positions, cacheVersionOf: changes.cacheVersionOf },
    )
    const given = async (more: Partial<QueryRequest> = {}) => {
      const answer = await runner.run({ ...requests, ...more })
      return 'bytes' in answer ? new TextDecoder().decode(answer.bytes) : answer
    }
    return { runner, given, changes, positions }
  }

  test('returns the cached response of an identical query until its projections change', async () => {
    const { given, changes } = rig()
    expect([await given(), await given()]).toEqual(['1', '1'])
    expect(await given({ tenant: { workspaceId: 'other', timezone: 'UTC' } })).toBe('2')
    expect(await given({ query: { page: 2 } })).toBe('3')
    changes.recordChange('targets', ['one'])
    expect(await given()).toBe('1')
    changes.recordChange('buyers', ['one'])
    expect([await given(), await given()]).toEqual(['4', '4'])
    expect([await given({ name: 'others' }), await given({ name: 'others' })]).toEqual(['5', '6'])
  })

  test('caches no response that lagged, nor one whose projections changed during the run', async () => {
    const behind = rig((nth) => ({ lag: nth === 1 }))
    expect([await behind.given(), await behind.given(), await behind.given()]).toEqual(['1', '2', '2'])
    const moving: ReturnType<typeof rig> = rig(async (nth) => {
      if (nth === 1) moving.changes.recordChange('buyers', ['one'])
      return {}
    })
    expect([await moving.given(), await moving.given(), await moving.given()]).toEqual(['1', '2', '2'])
  })

  test('runs a query whose minimum position is not reached, and returns the current position with a cached response', async () => {
    const { runner, given, positions } = rig()
    positions.advance('buyers', 5)
    expect([await given(), await given({ minPosition: 5 }), await given({ minPosition: 6 })]).toEqual(['1', '1', '2'])
    positions.advance('buyers', 9)
    expect(await runner.run({ ...requests, minPosition: 6 })).toMatchObject({ position: 9 })
  })
})

describe('documents that another process writes', () => {
  const [low, high] = [0, 1].map((half) => ({ from: half * 128, to: half * 128 + 127 }))
  const [here = '', there = ''] = [low, high].map((range) =>
    Array.from({ length: 20 }, (_, n) => `w${n}`).find((id) => inRange(range ?? ALL_PARTITIONS, partitionOf(id))),
  )

  test('have a new version when their own partition comes further, whichever lags', () => {
    const positions = createCheckpointTracker(createManualClock())
    const versions = () => [here, there].map((id) => positionsVersionOf(positions, ['buyers', 'targets'], id))
    const before = versions()
    positions.advance('targets', 5, low)
    expect(versions().map((version, index) => version === before[index])).toEqual([false, true])
  })

  test('are found to have changed by their own partition, or where they belong to none by the slowest', async () => {
    const positions = createCheckpointTracker(createManualClock())
    positions.advance('notes', 5, low)
    const store = createMemoryReadStore()
    const writes = [here, there, null].map((workspaceId, n) => ({
      collection: 'notes_v1',
      id: `${n}`,
      position: 4,
      doc: { workspaceId },
    }))
    await store.commit(writes, { name: 'notes@1', expected: null, next: { position: 4, at: null } })
    const found: unknown[] = []
    const views = withReadInvalidation(store, positions, { recordChange: (_name, concerned) => found.push(concerned) })
    for (const { id } of writes) await views.get('notes_v1', id)
    expect(found).toEqual([[there], null])
    await views.findDerived('notes_v1', { filter: {} }, { of: ({ id }) => id, bytesOf: ({ length }) => length })
    expect(found).toEqual([[there], null, [there], null])
  })
})

describe('a query runner with single-flight', () => {
  /** Runs that end by hand; each answers with its number. */
  function runs() {
    const heard: QueryRequest[] = []
    const ends: (() => void)[] = []
    const runner = withSingleFlight({
      async run(request) {
        heard.push(request)
        const number = heard.length
        await new Promise<void>((resolve) => ends.push(resolve))
        return { bytes: new Uint8Array([number]), position: null, lag: false, isAhead: false, revision: null }
      },
    })
    const ask = async (more: Partial<QueryRequest> = {}) => {
      const answer = await runner.run({ ...requests, ...more })
      return 'bytes' in answer && answer.bytes[0]
    }
    return { heard, ask, end: (number: number) => ends[number - 1]?.() }
  }

  test('runs identical queries that are asked meanwhile once more, as of the latest instant of them', async () => {
    const { heard, ask, end } = runs()
    const first = Promise.all([ask(), ask()])
    await flushEventLoop()
    const instants = ['2026-11-21T12:00:00.001Z', '2026-11-21T12:00:00.002Z']
    const next = Promise.all(instants.map((now) => ask({ now })))
    await flushEventLoop()
    expect(heard).toHaveLength(1)
    end(1)
    expect(await first).toEqual([1, 1])
    await flushEventLoop()
    expect(heard.map(({ now }) => now)).toEqual([requests.now, instants[1]])
    end(2)
    expect(await next).toEqual([2, 2])
  })

  test('runs other queries, and those with events of their requester, at once', async () => {
    const { heard, ask, end } = runs()
    const event = { type: 'Begun' } as never
    const asked = Promise.all([ask(), ask({ minPosition: 7 }), ask({ events: [event] }), ask({ events: [event] })])
    await flushEventLoop()
    expect(heard).toHaveLength(4)
    for (const number of [1, 2, 3, 4]) end(number)
    expect(new Set(await asked).size).toBe(4)
  })
})
