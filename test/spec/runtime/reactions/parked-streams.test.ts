import { afterEach, describe, expect, test } from 'vitest'
import { StoreUnavailable } from '../../../../src/ports/read-store.ts'
import { listParked, type ParkedAction, requestAction } from '../../../../src/runtime/reactions/parked-streams.ts'
import { reactionFixture, stopReactions } from '../../../support/fixtures/reaction-fixture.ts'
import { added, appendIn, appendTo } from '../../../support/fixtures/sample.ts'

afterEach(stopReactions)

const amountOf = ({ data }: { readonly data: unknown }) => (data as { readonly amount: number }).amount

/** A reaction that fails on amounts of 13 until they are cured. */
function poisoned() {
  const fixture = reactionFixture()
  const { clock, ops, on, log } = fixture
  const tried: string[] = []
  let isCured = false
  on((event) => {
    tried.push(event.meta.eventId)
    if (amountOf(event) === 13 && !isCured) throw new RangeError('thirteen')
  })
  const parked = () => listParked(ops, clock.now())
  return {
    ...fixture,
    tried,
    parked,
    cure() {
      isCured = true
    },
    async request(action: ParkedAction) {
      const [one] = await parked()
      if (!one) throw new Error('Nothing is parked.')
      return requestAction(ops, one, action, clock.now())
    },
    append: (stream: string, ...amounts: readonly number[]) =>
      appendTo(log, stream, clock.now(), ...amounts.map(added)),
    position: async () => (await ops.list('reaction-position:', clock.now())).map(({ value }) => value),
  }
}

const INSTANT = { graceMs: 0 }
/** Longer than it takes until an event that fails is parked. */
const PARKED_MS = 7_000

describe('an event that fails again and again', () => {
  test('parks its stream, and everything else goes on', async () => {
    const { clock, log, seen, tried, parked, append, join, position } = poisoned()
    const told: string[] = []
    const process = await join('a:1', { ...INSTANT, onPark: ({ stream }) => told.push(stream) })
    await append('tally-1', 1, 13, 2)
    await append('tally-2', 3)
    const failedAt = clock.now()
    await clock.advance(10_000)
    await append('tally-1', 4)
    await append('tally-3', 5)
    await clock.advance(1_000)
    expect(seen).toEqual(['a:1:tally-1#0', 'a:1:tally-2#0', 'a:1:tally-3#0'])
    expect(tried.filter((id) => id === 'tally-1#1')).toHaveLength(6)
    expect(told).toHaveLength(1)
    const [stream] = log.events.map((event) => event.stream)
    expect(await parked()).toEqual([
      {
        id: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-a[0-9a-f]{3}-[0-9a-f]{12}$/),
        reaction: 'watcher',
        stream,
        workspaceId: 'w1',
        type: 'TallyAdded',
        position: log.events[1]?.position,
        revision: 1,
        at: expect.any(String),
        attempts: 6,
        problem: 'RangeError: thirteen',
        waiting: 2,
      },
    ])
    const at = Date.parse((await parked())[0]?.at ?? '')
    expect(at - failedAt).toBeGreaterThan(3_000)
    expect(at - failedAt).toBeLessThan(PARKED_MS)
    expect(process.status()).toMatchObject([{ state: 'owner', waiting: 0, problem: null }])
    expect(await position()).toMatchObject([{ position: await log.head() }])
  })

  test('is not counted while a dependency is unavailable', async () => {
    const { clock, on, parked, append, join, seen } = poisoned()
    let away = true
    on(() => {
      if (away) throw new StoreUnavailable('away')
    })
    await join('a:1', INSTANT)
    await append('tally-1', 1)
    await clock.advance(120_000)
    expect(await parked()).toEqual([])
    away = false
    await clock.advance(6_000)
    expect(seen).toEqual(['a:1:tally-1#0'])
  })

  test('is tried again when an operator asks, and then those behind it, in order, with what comes meanwhile', async () => {
    const { clock, seen, parked, append, request, cure, join } = poisoned()
    await join('a:1', INSTANT)
    await append('tally-1', 13, 1, 2)
    await clock.advance(PARKED_MS)
    await append('tally-1', 3)
    await clock.advance(1_000)
    expect(seen).toEqual([])
    cure()
    expect(await request('retry')).toBe(true)
    expect(await request('retry')).toBe(false)
    await append('tally-1', 4)
    await clock.advance(2_000)
    expect(seen).toEqual([0, 1, 2, 3, 4].map((n) => `a:1:tally-1#${n}`))
    expect(await parked()).toEqual([])
    await append('tally-1', 5)
    await clock.advance(1_000)
    expect(seen.at(-1)).toBe('a:1:tally-1#5')
    expect(seen).toHaveLength(6)
  })

  test('that fails once more stays parked, with all its attempts', async () => {
    const { clock, seen, parked, append, request, join } = poisoned()
    await join('a:1', INSTANT)
    await append('tally-1', 13, 1)
    await clock.advance(PARKED_MS)
    const [before] = await parked()
    await request('retry')
    await clock.advance(PARKED_MS + 1_000)
    expect(await parked()).toEqual([{ ...before, attempts: 12 }])
    expect(seen).toEqual([])
    expect(await request('retry')).toBe(true)
  })

  test('is passed over when an operator asks; the next one that fails parks the stream again', async () => {
    const { clock, seen, parked, append, request, join } = poisoned()
    await join('a:1', INSTANT)
    await append('tally-1', 13, 1, 13, 2, 3)
    await clock.advance(PARKED_MS)
    const [first] = await parked()
    await request('skip')
    await clock.advance(PARKED_MS + 1_000)
    expect(seen).toEqual(['a:1:tally-1#1'])
    const [second] = await parked()
    expect(second).toMatchObject({ revision: 2, attempts: 6, waiting: 2 })
    expect(second?.id).not.toBe(first?.id)
    await request('skip')
    await clock.advance(2_000)
    expect(seen).toEqual(['a:1:tally-1#1', 'a:1:tally-1#3', 'a:1:tally-1#4'])
    expect(await parked()).toEqual([])
  })

  test('waits in its parked stream for the next owner too, however the first one ended', async () => {
    for (const how of ['kill', 'end'] as const) {
      const { clock, seen, parked, append, request, cure, join } = poisoned()
      const first = await join('a:1', INSTANT)
      await append('tally-1', 13, 1)
      await append('tally-2', 2)
      await clock.advance(PARKED_MS)
      await first[how]()
      await append('tally-1', 3)
      await join('b:1', INSTANT)
      await clock.advance(6_000)
      expect(seen).toEqual(['a:1:tally-2#0'])
      expect(await parked()).toMatchObject([{ stream: expect.stringContaining('tally'), waiting: 2 }])
      cure()
      await request('retry')
      await clock.advance(2_000)
      expect(seen.slice(1)).toEqual([0, 1, 2].map((n) => `b:1:tally-1#${n}`))
      expect(await parked()).toEqual([])
    }
  })

  test('is resumed by the next owner when the first one dies while it resumes', async () => {
    const { clock, on, seen, tried, parked, append, request, join } = poisoned()
    const first = await join('a:1', INSTANT)
    await append('tally-1', 13, 1, 2)
    await clock.advance(PARKED_MS)
    on((event, instance) => {
      tried.push(event.meta.eventId)
      return instance === 'a:1' && amountOf(event) === 1 ? new Promise(() => undefined) : undefined
    })
    await request('retry')
    await clock.advance(2_000)
    expect(seen).toEqual(['a:1:tally-1#0'])
    first.kill()
    await join('b:1', INSTANT)
    await clock.advance(8_000)
    expect(seen.slice(1)).toEqual([0, 1, 2].map((n) => `b:1:tally-1#${n}`))
    expect(await parked()).toEqual([])
  })

  test('parks its stream in the lane that has its partition', async () => {
    const { clock, log, seen, parked, request, cure, join } = poisoned()
    await Promise.all([join('a:1', { ...INSTANT, shards: 4 }), join('b:1', { ...INSTANT, shards: 4 })])
    await clock.advance(3_000)
    for (let n = 0; n < 12; n++)
      await appendIn(`w${n}`, log, `tally-${n}`, clock.now(), added(n === 5 ? 13 : n), added(1))
    await clock.advance(PARKED_MS)
    expect(seen).toHaveLength(22)
    expect(await parked()).toHaveLength(1)
    cure()
    await request('retry')
    await clock.advance(2_000)
    expect(seen).toHaveLength(24)
    expect(await parked()).toEqual([])
  })
})
