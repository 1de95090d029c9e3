import { afterEach, describe, expect, test } from 'vitest'
import { partitionOf } from '../../../../src/kernel/partition.ts'
import { type EventLog, LogUnavailable } from '../../../../src/ports/event-log.ts'
import { readReactionPositions } from '../../../../src/runtime/reactions/reaction-checkpoint.ts'
import { withFaults } from '../../../support/faults/with-faults.ts'
import { reactionFixture, stopReactions } from '../../../support/fixtures/reaction-fixture.ts'
import { added, appendIn, appendTo, metaAt, tallyBegun } from '../../../support/fixtures/sample.ts'

const MINUTES = 60_000

afterEach(stopReactions)

const idsOf = (seen: readonly string[]) => seen.map((one) => one.slice(one.indexOf(':', 3) + 1))

describe('processes that share reactions', () => {
  test('run each in one of them', async () => {
    const { clock, log, seen, join } = reactionFixture()
    const processes = [await join('a:1'), await join('b:1')]
    for (let n = 0; n < 10; n++) {
      await appendTo(log, 'tally-1', clock.now(), added(n))
      await clock.advance(3_000)
    }
    expect(seen).toHaveLength(10)
    expect(processes.flatMap(({ status }) => status().map(({ state }) => state)).toSorted()).toEqual([
      'contending',
      'owner',
    ])
  })

  test.each([0, 5 * MINUTES, -5 * MINUTES])(
    'take over from a killed one, whose clock was off by %d ms, within 5 s',
    async (skewMs) => {
      const { clock, log, seen, on, join, until } = reactionFixture()
      on(({ meta }, instance) => (instance === 'a:1' && meta.eventId > 'tally-2' ? new Promise(() => {}) : undefined))
      const first = await join('a:1', { graceMs: 0 }, skewMs)
      await clock.advance(1_000)
      await join('b:1', { graceMs: 0 })
      for (let n = 0; n < 6; n++) await appendTo(log, `tally-${n}`, clock.now(), added(n))
      await clock.advance(4_000)
      expect(seen.slice(0, 2).toSorted()).toEqual(['a:1:tally-0#0', 'a:1:tally-1#0'])
      first.kill()
      const killedAt = clock.now()
      await until(() => seen.length === 6)
      expect(clock.now() - killedAt).toBeLessThan(5_000)
      expect(seen.slice(2).toSorted()).toEqual([2, 3, 4, 5].map((n) => `b:1:tally-${n}#0`))
    },
  )

  test('a clock that is minutes ahead or behind delays nothing: the grace counts from reading', async () => {
    for (const skewMs of [5 * MINUTES, -5 * MINUTES]) {
      const { clock, log, seen, join } = reactionFixture()
      await join('a:1')
      await clock.advance(1_000)
      await appendTo(log, 'tally-1', clock.now() + skewMs, added(1))
      await clock.advance(1_900)
      expect(seen).toEqual([])
      await clock.advance(200)
      expect(seen).toEqual(['a:1:tally-1#0'])
    }
  })

  test('give a lane back when another joins, and repeat nothing', async () => {
    const { clock, log, seen, watcher, join } = reactionFixture()
    const reactions = [watcher('one'), watcher('two')]
    const first = await join('a:1', { reactions, graceMs: 0 })
    for (let n = 0; n < 5; n++) await appendTo(log, `tally-${n}`, clock.now(), added(n))
    await clock.advance(1_000)
    const second = await join('b:1', { reactions, graceMs: 0 })
    await clock.advance(3_000)
    expect([first, second].map(({ ownership }) => ownership.owned().size)).toEqual([1, 1])
    for (let n = 5; n < 10; n++) await appendTo(log, `tally-${n}`, clock.now(), added(n))
    await clock.advance(3_000)
    await first.end()
    await clock.advance(3_000)
    expect(second.ownership.owned().size).toBe(2)
    expect(idsOf(seen).toSorted()).toEqual(
      Array.from({ length: 10 }, (_, n) => [`tally-${n}#0`, `tally-${n}#0`])
        .flat()
        .toSorted(),
    )
  })

  test('share the partitions out, and process each event once and each stream in order', async () => {
    const { clock, log, seen, join } = reactionFixture()
    const processes = [await join('a:1', { shards: 8 }), await join('b:1', { shards: 8 })]
    await clock.advance(5_000)
    expect(processes.map(({ ownership }) => ownership.owned().size)).toEqual([4, 4])
    for (let n = 0; n < 40; n++) await appendIn(`w${n}`, log, `tally-${n}`, clock.now(), added(1), added(2), added(3))
    await clock.advance(5_000)
    expect(new Set(seen.map((one) => one.slice(0, 3)))).toEqual(new Set(['a:1', 'b:1']))
    expect(seen).toHaveLength(120)
    const ids = idsOf(seen)
    expect(new Set(ids).size).toBe(120)
    for (let n = 0; n < 40; n++)
      expect(ids.filter((id) => id.startsWith(`tally-${n}#`))).toEqual([0, 1, 2].map((m) => `tally-${n}#${m}`))
  })

  test('may be started with another number of shards, beside the old ones too', async () => {
    const { clock, log, ops, seen, join } = reactionFixture()
    const append = async (from: number) => {
      for (let n = from; n < from + 20; n++) await appendIn(`w${n}`, log, `tally-${n}`, clock.now(), added(n))
      await clock.advance(4_000)
    }
    const old = await join('a:1', { shards: 4 })
    await append(0)
    const next = await join('b:1', { shards: 2 })
    await append(20)
    expect(next.ownership.owned().size).toBe(0)
    await old.end()
    await append(40)
    expect(next.ownership.owned().size).toBe(2)
    await next.end()
    await join('c:1', { shards: 8 })
    await append(60)
    expect(idsOf(seen).toSorted()).toEqual(Array.from({ length: 80 }, (_, n) => `tally-${n}#0`).toSorted())
    const positions = await readReactionPositions(ops, 'watcher', clock.now())
    expect(positions.get('watcher/00-1f')?.position).toBe(await log.head())
  })

  test('repeat nothing of faster partitions under another number of shards', async () => {
    const { clock, log, seen, on, join } = reactionFixture()
    const isLow = (workspaceId: string | null) => partitionOf(workspaceId ?? '') < 128
    let isLowStuck = true
    on(({ meta }) => (isLow(meta.workspaceId) && isLowStuck ? new Promise(() => undefined) : undefined))
    const first = await join('a:1', { graceMs: 0, shards: 2 })
    await clock.advance(1_000)
    for (let n = 0; n < 20; n++) await appendIn(`w${n}`, log, `tally-${n}`, clock.now(), added(n))
    await clock.advance(1_000)
    const high = Array.from({ length: 20 }, (_, n) => n).filter((n) => !isLow(`w${n}`))
    expect(idsOf(seen).toSorted()).toEqual(high.map((n) => `tally-${n}#0`).toSorted())
    first.kill()
    isLowStuck = false
    await join('b:1', { graceMs: 0, shards: 1 })
    await clock.advance(6_000)
    expect(idsOf(seen).toSorted()).toEqual(Array.from({ length: 20 }, (_, n) => `tally-${n}#0`).toSorted())
  })
})

describe('a reaction', () => {
  test('that lags holds no other one up', async () => {
    const { clock, log, seen, watcher, on, join } = reactionFixture()
    const quick = watcher('quick', { from: 'now' })
    for (let n = 0; n < 3_000; n++) await appendTo(log, `tally-${n % 100}`, clock.now(), added(n))
    // A step of an old event takes a second.
    on(async ({ data }) => {
      const { amount } = data as { readonly amount: number }
      if (amount < 1_000_000) await new Promise<void>((resolve) => clock.schedule(clock.now() + 1_000, resolve))
    })
    const process = await join('a:1', { reactions: [quick, watcher('late')], graceMs: 0 })
    await clock.advance(2_000)
    await appendTo(log, 'tally-new', clock.now(), added(1_000_000))
    await clock.advance(100)
    expect(seen.filter((one) => one.includes('new'))).toHaveLength(1)
    const late = process.status().find(({ name }) => name === 'late')
    expect(late?.position).toBeLessThan((await log.head()) / 2)
  })

  test.each([
    ['start', ['a:1:tally-1#0', 'a:1:tally-2#0']],
    ['now', ['a:1:tally-2#0']],
  ] as const)('without a checkpoint begins as it says: from %s', async (from, processed) => {
    const { clock, log, seen, watcher, join } = reactionFixture()
    await appendTo(log, 'tally-1', clock.now(), added(1))
    const options = { reactions: [watcher('new', { from })], graceMs: 0 }
    const first = await join('a:1', options)
    await clock.advance(1_000)
    await appendTo(log, 'tally-2', clock.now(), added(2))
    await clock.advance(1_000)
    expect(seen).toEqual(processed)
    await first.end()
    await appendTo(log, 'tally-3', clock.now(), added(3))
    await join('b:1', options)
    await clock.advance(1_000)
    expect(seen).toEqual([...processed, 'b:1:tally-3#0'])
  })

  test('from now, killed before its first event, misses none that comes after its first start', async () => {
    const { clock, log, seen, watcher, join } = reactionFixture()
    const options = { reactions: [watcher('new', { from: 'now' })], graceMs: 0 }
    const first = await join('a:1', options)
    await clock.advance(1_000)
    first.kill()
    await appendTo(log, 'tally-1', clock.now(), added(1))
    await join('b:1', options)
    await clock.advance(6_000)
    expect(seen).toEqual(['b:1:tally-1#0'])
  })

  test('does not run a step that another process has done, as the event that followed shows', async () => {
    const { clock, log, seen, watcher, join } = reactionFixture()
    await join('a:1', { reactions: [watcher('watcher', { doneBy: { TallyAdded: ['TallyClosed'] } })] })
    await clock.advance(1_000)
    await appendTo(log, 'tally-1', clock.now(), tallyBegun('t'), added(1), added(2), added(3))
    const append = async (type: string, data: unknown, causationId: string) => {
      const [{ stream = '' } = {}] = log.events
      const revision = (await log.read(stream, 0)).length
      const meta = { ...metaAt(clock.now(), `after ${causationId} ${type}`), causationId }
      await log.append(stream, revision - 1, [{ type, data, version: 1, meta }])
    }
    await append('TallyClosed', {}, 'tally-1#1')
    // Another event with the same cause says nothing.
    await append('TallyBegun', { name: 'x' }, 'tally-1#2')
    await clock.advance(5_000)
    expect(seen).toEqual(['a:1:tally-1#2', 'a:1:tally-1#3'])
  })

  test('does not read past an event of a version that it does not know, nor contend again', async () => {
    const { clock, log, seen, join } = reactionFixture()
    const old = await join('a:1', { graceMs: 0 })
    await appendTo(log, 'tally-1', clock.now(), added(1))
    await log.append('tally-00-x', -1, [
      { type: 'TallyAdded', data: { amount: 2 }, version: 2, meta: metaAt(clock.now(), 'newer') },
    ])
    await appendTo(log, 'tally-2', clock.now(), added(3))
    await clock.advance(60_000)
    expect(seen).toEqual(['a:1:tally-1#0'])
    expect(old.status()).toMatchObject([{ state: 'outdated', waiting: 0 }])
    expect(old.status()[0]?.problem).toContain('TallyAdded')
    expect(old.ownership.owned().size).toBe(0)
    await join('b:1', { graceMs: 0, upcasts: { TallyAdded: [(data) => data] } })
    await clock.advance(1_000)
    expect(seen).toEqual(['a:1:tally-1#0', 'b:1:newer', 'b:1:tally-2#0'])
  })

  test('reads on after a log that does not answer for one lane', async () => {
    const { clock, log, seen, join } = reactionFixture()
    let away = true
    const faulty = withFaults<EventLog>(
      log,
      () => new LogUnavailable('away'),
      (method) => (away && method === 'readAll' ? 'fail' : undefined),
    )
    await join('a:1', { log: faulty, graceMs: 0, shards: 2 })
    await appendTo(log, 'tally-1', clock.now(), added(1))
    await clock.advance(20_000)
    expect(seen).toEqual([])
    away = false
    await clock.advance(6_000)
    expect(seen).toEqual(['a:1:tally-1#0'])
  })
})
