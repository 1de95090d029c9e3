import { describe, expect, test } from 'vitest'
import { createCheckpointTracker, pollCheckpoints } from '../../../../src/runtime/projections/checkpoint-tracker.ts'
import { createPollFreshness } from '../../../../src/runtime/queries/poll-freshness.ts'
import { withResponseCache } from '../../../../src/runtime/queries/response-cache.ts'
import { createManualClock } from '../../../support/memory/clock.ts'
import { createMemoryReadStore } from '../../../support/memory/read-store.ts'

/** A poller of a store that counts how often it was read. */
function polled() {
  const clock = createManualClock()
  const stop = new AbortController()
  const stored = createMemoryReadStore()
  let reads = 0
  const store = {
    ...stored,
    checkpoints: async () => {
      reads += 1
      return stored.checkpoints()
    },
  }
  const positions = createCheckpointTracker(clock)
  const poller = pollCheckpoints({ store, projections: [], positions, clock, signal: stop.signal })
  const readsIn = async (ms: number) => {
    const before = reads
    await clock.advance(ms)
    return reads - before
  }
  return { clock, poller, readsIn, stop: () => stop.abort() }
}

describe('polls of the checkpoints', () => {
  test('come every 200 ms while nobody waits, and every 25 ms for two seconds after somebody began to', async () => {
    const { poller, readsIn, stop } = polled()
    await readsIn(200)
    expect(await readsIn(2_000)).toBe(10)
    poller.hurry()
    expect(await readsIn(0)).toBe(1)
    expect(await readsIn(1_975)).toBe(79)
    poller.hurry()
    expect(await readsIn(1_975)).toBe(79)
    await readsIn(25)
    expect(await readsIn(2_000)).toBe(10)
    stop()
  })

  test('end with the signal', async () => {
    const { readsIn, stop } = polled()
    await readsIn(0)
    stop()
    await readsIn(0)
    expect(await readsIn(10_000)).toBe(0)
  })
})

describe('the freshness of polled positions', () => {
  test('is reached 100 ms after the first question, and lost when nobody has asked for two seconds', async () => {
    const clock = createManualClock()
    let hurried = 0
    const isFresh = createPollFreshness(clock, () => {
      hurried += 1
    })
    expect(isFresh()).toBe(false)
    await clock.advance(99)
    expect(isFresh()).toBe(false)
    await clock.advance(1)
    expect([isFresh(), hurried]).toEqual([true, 1])
    await clock.advance(900)
    expect([isFresh(), hurried]).toEqual([true, 2])
    await clock.advance(1_999)
    expect([isFresh(), hurried]).toEqual([true, 3])
    await clock.advance(2_000)
    expect([isFresh(), hurried]).toEqual([false, 4])
  })

  test('decides whether a response comes from the cache', async () => {
    let version: string | null = null
    let runs = 0
    const run = async () => {
      runs += 1
      return { bytes: new TextEncoder().encode(`${runs}`), position: 1, lag: false, isAhead: false, revision: null }
    }
    const cacheable = new Map([['totals', ['buyers']]])
    const positions = createCheckpointTracker(createManualClock())
    const runner = withResponseCache({ run }, { cacheable, positions, cacheVersionOf: () => version })
    const tenant = { workspaceId: 'one', timezone: 'UTC' }
    const asked = {
      name: 'totals',
      params: {},
      query: {},
      tenant,
      surface: 'rest' as const,
      now: '2026-11-21T12:00:00.000Z',
    }
    const answers = async () => {
      await runner.run({ ...asked, minPosition: null })
      return runs
    }
    expect([await answers(), await answers()]).toEqual([1, 2])
    version = 'known'
    expect([await answers(), await answers()]).toEqual([3, 3])
    version = null
    expect(await answers()).toBe(4)
  })
})
