import { afterEach, describe, expect, test } from 'vitest'
import { type ReadStore, StoreUnavailable } from '../../../../src/ports/read-store.ts'
import type { TimerKind, TimerKinds } from '../../../../src/runtime/reactions/timer-jobs.ts'
import { runTimers } from '../../../../src/runtime/reactions/timers.ts'
import { withFaults } from '../../../support/faults/with-faults.ts'
import { documentWrite } from '../../../support/fixtures/documents.ts'
import { createManualClock, processClock } from '../../../support/memory/clock.ts'
import { createMemoryOperationalStore } from '../../../support/memory/operational-store.ts'
import { createMemoryReadStore } from '../../../support/memory/read-store.ts'

const stops: AbortController[] = []

afterEach(() => {
  for (const stop of stops.splice(0)) stop.abort()
})

type Runs = Readonly<Record<string, TimerKind['run']>>

/** Kinds with slots for all that these tests have at once. */
function kindsOf(runs: Runs): TimerKinds {
  return Object.fromEntries(Object.entries(runs).map(([kind, run]) => [kind, { slots: 64, run }]))
}

function setUp() {
  const clock = createManualClock()
  const store = createMemoryReadStore()
  const ops = createMemoryOperationalStore()
  const rung: string[] = []
  let position = 0
  const write = async (id: string, dueInMs: number | null, kind = 'ring') => {
    const doc = dueInMs === null ? null : { workspaceId: 'w1', kind, dueAt: clock.now() + dueInMs }
    const expected = position === 0 ? null : position
    position += 1
    await store.commit([documentWrite('timers', { id, doc, workspaceId: 'w1' }, position)], {
      name: 'timers',
      expected,
      next: { position, at: null },
    })
  }
  const start = (owner = 'a', runs: Runs = {}, views: ReadStore = store) => {
    const stop = new AbortController()
    stops.push(stop)
    const own = processClock(clock)
    const ring: Runs = { ring: async ({ id }) => void rung.push(`${owner}:${id}`) }
    const runner = runTimers({
      store: views,
      ops,
      collection: 'timers',
      kinds: kindsOf({ ...ring, ...runs }),
      clock: own,
      signal: stop.signal,
      owner,
    })
    return { ...runner, stop, die: own.die }
  }
  return { clock, store, rung, write, start }
}

describe('due work', () => {
  test('is done when it is due, within a second of its row, or at once when woken', async () => {
    const { clock, rung, write, start } = setUp()
    await write('early', 300)
    const runner = start()
    await clock.advance(299)
    expect(rung).toEqual([])
    await clock.advance(1)
    expect(rung).toEqual(['a:early'])
    await write('late', 100)
    await clock.advance(1_000)
    expect(rung).toEqual(['a:early', 'a:late'])
    await write('now', 0)
    runner.wake()
    await clock.advance(0)
    expect(rung).toEqual(['a:early', 'a:late', 'a:now'])
  })

  test('of several kinds is looked for by one question while none is due, and is done when one is', async () => {
    const { clock, store, rung, write, start } = setUp()
    let finds = 0
    const counting: ReadStore = {
      ...store,
      find: (collection, page) => {
        finds += 1
        return store.find(collection, page)
      },
    }
    const toll = async ({ id }: { readonly id: string }) => void rung.push(`toll:${id}`)
    start('a', { toll, chime: toll }, counting)
    await clock.advance(500)
    finds = 0
    await clock.advance(5_000)
    expect(finds).toBe(5)
    await write('late', 2_500, 'toll')
    await write('soon', 700)
    await clock.advance(699)
    expect(rung).toEqual([])
    await clock.advance(301)
    expect(rung).toEqual(['a:soon'])
    await clock.advance(1_499)
    expect(rung).toEqual(['a:soon'])
    await clock.advance(1)
    expect(rung).toEqual(['a:soon', 'toll:late'])
  })

  test('is not done again while its row waits to be removed, but is when nothing came of it', async () => {
    const { clock, rung, write, start } = setUp()
    await write('x', 0)
    start()
    await clock.advance(8_000)
    expect(rung).toEqual(['a:x'])
    await clock.advance(4_000)
    expect(rung).toEqual(['a:x', 'a:x'])
    await write('x', null)
    await clock.advance(60_000)
    expect(rung).toEqual(['a:x', 'a:x'])
  })

  test('that says when it is due again is done then, and not before', async () => {
    const { clock, write, start } = setUp()
    const times: number[] = []
    const begun = clock.now()
    start('a', {
      look: async () => {
        times.push(clock.now() - begun)
        return clock.now() + 30_000
      },
    })
    await write('x', 0, 'look')
    await clock.advance(29_000)
    expect(times).toHaveLength(1)
    await clock.advance(3_000)
    expect(times).toHaveLength(2)
    expect((times[1] ?? 0) - (times[0] ?? 0)).toBeGreaterThanOrEqual(30_000)
    expect((times[1] ?? 0) - (times[0] ?? 0)).toBeLessThanOrEqual(31_000)
  })

  test('a row that comes back with another instant is other work', async () => {
    const { clock, rung, write, start } = setUp()
    start()
    await write('x', 0)
    await clock.advance(1_000)
    await write('x', 2_000)
    await clock.advance(3_000)
    expect(rung).toEqual(['a:x', 'a:x'])
  })

  test('is done by one of two processes, and by the other when that one dies', async () => {
    const { clock, rung, write, start } = setUp()
    const dead = start('dead', { stuck: () => new Promise(() => {}) })
    start('b', { stuck: async ({ id }) => void rung.push(`b:${id}`) })
    for (let n = 0; n < 20; n++) await write(`x${n}`, 100)
    await clock.advance(2_000)
    expect(rung.map((one) => one.split(':')[1]).toSorted()).toEqual(
      Array.from({ length: 20 }, (_, n) => `x${n}`).toSorted(),
    )
    await write('stuck', 0, 'stuck')
    await clock.advance(1_000)
    dead.die()
    await clock.advance(40_000)
    expect(rung).toContain('b:stuck')
  })

  test('that fails waits longer each time and holds no other work up', async () => {
    const { clock, rung, write, start } = setUp()
    const tries: number[] = []
    const broken: Runs = {
      broken: async () => {
        tries.push(clock.now())
        throw new Error('no')
      },
    }
    for (let n = 0; n < 5; n++) await write(`b${n}`, 0, 'broken')
    await write('unknown', 0, 'never-heard-of')
    start('a', broken)
    await write('fine', 500)
    await clock.advance(10_000)
    expect(rung).toEqual(['a:fine'])
    const first = tries.filter((_, index) => index % 5 === 0)
    const gaps = first.slice(1).map((at, index) => at - (first[index] ?? 0))
    expect(gaps.length).toBeGreaterThan(3)
    expect(gaps.every((gap, index) => index === 0 || gap >= (gaps[index - 1] ?? 0))).toBe(true)
  })

  test('is done once, however long it takes', async () => {
    const { clock, rung, write, start } = setUp()
    const slow: Runs = {
      slow: async ({ id }) => {
        await new Promise<void>((resolve) => clock.schedule(clock.now() + 60_000, resolve))
        rung.push(`slow:${id}`)
      },
    }
    await write('x', 0, 'slow')
    for (const owner of ['a', 'b']) start(owner, slow)
    await clock.advance(60_000)
    await write('x', null)
    await clock.advance(60_000)
    expect(rung).toEqual(['slow:x'])
  })

  test('much at once is all done, some at a time', async () => {
    const { clock, rung, write, start } = setUp()
    for (let n = 0; n < 700; n++) await write(`x${n}`, 0)
    start()
    await clock.advance(5_000)
    expect(new Set(rung).size).toBe(700)
    expect(rung).toHaveLength(700)
  })

  test('the timer runner survives an unavailable store', async () => {
    const { clock, store, rung, write, start } = setUp()
    let away = true
    const faulty = withFaults<ReadStore>(
      store,
      () => new StoreUnavailable('away'),
      () => (away ? 'fail' : undefined),
    )
    await write('x', 0)
    start('a', {}, faulty)
    await clock.advance(60_000)
    away = false
    await clock.advance(6_000)
    expect(rung).toEqual(['a:x'])
  })
})
