import { describe, expect, test } from 'vitest'
import { type LaneGroup, lanesOf } from '../../../../src/runtime/ownership/lane.ts'
import { readLeases } from '../../../../src/runtime/ownership/leases.ts'
import { type Contender, contenders } from '../../../support/fixtures/owners.ts'
import { createManualClock } from '../../../support/memory/clock.ts'

const MINUTES = 60_000
const group = (shards: number): readonly LaneGroup[] => [{ name: 'x', shards }]
const keysOf = (shards: number) =>
  group(shards)
    .flatMap(lanesOf)
    .map(({ key }) => key)

function setUp() {
  const clock = createManualClock()
  const { ops, start } = contenders(clock)
  const epochs = async () =>
    Object.fromEntries([...(await readLeases(ops, 'test', clock.now()))].map(([key, { epoch }]) => [key, epoch]))
  /** Moves on in small steps until the condition holds; how long that took (ms). */
  const msUntil = async (condition: () => boolean) => {
    const begun = clock.now()
    while (!condition()) {
      if (clock.now() - begun > 60_000) throw new Error(`Never so: ${condition}`)
      await clock.advance(100)
    }
    return clock.now() - begun
  }
  return { clock, ops, start, epochs, msUntil }
}

const ownsAll = (process: Contender, shards: number) => process.lanes().join() === keysOf(shards).join()

describe('the ownership of lanes', () => {
  test('goes to a process that is alone, at once, under a first epoch', async () => {
    const { clock, start, epochs } = setUp()
    const one = await start('a:1', group(4))
    await clock.advance(0)
    expect(one.lanes()).toEqual(keysOf(4))
    expect(new Set(Object.values(await epochs()))).toEqual(new Set([1]))
  })

  test.each([0, 5 * MINUTES, -5 * MINUTES])(
    'of a killed process passes within 5 s under a later epoch, to one whose clock is off by %d ms',
    async (skewMs) => {
      for (const killAfter of [10_000, 10_300, 10_600, 10_999]) {
        const { clock, start, epochs, msUntil } = setUp()
        const first = await start('a:1', group(4))
        const second = await start('b:1', group(4), { skewMs })
        await clock.advance(killAfter)
        const lost = first.lanes()
        expect(lost).toHaveLength(2)
        const before = await epochs()
        first.kill()
        const ms = await msUntil(() => ownsAll(second, 4))
        expect(ms).toBeLessThan(5_000)
        expect(ms).toBeGreaterThan(2_000)
        const after = await epochs()
        for (const key of lost) expect(after[key]).toBe((before[key] ?? 0) + 1)
      }
    },
  )

  test.each([5 * MINUTES, -5 * MINUTES])('is not lost to a process whose clock is off by %d ms', async (skewMs) => {
    const { clock, start, epochs } = setUp()
    const first = await start('a:1', group(2))
    const second = await start('b:1', group(2), { skewMs })
    await clock.advance(3_000)
    const [before, held] = [await epochs(), [first.lanes(), second.lanes()]]
    await clock.advance(10 * MINUTES)
    expect([first.lanes(), second.lanes()]).toEqual(held)
    expect(await epochs()).toEqual(before)
  })

  test('is not lost while a process can read nothing, as long as it beats', async () => {
    const { clock, start, epochs } = setUp()
    let isStuck = false
    const first = await start('a:1', group(2), {
      faults: (method) => (isStuck && method === 'list' ? 'fail' : undefined),
    })
    await clock.advance(1_000)
    const second = await start('b:1', [])
    isStuck = true
    await clock.advance(20_000)
    second.ownership.contendFor(group(2))
    await clock.advance(20_000)
    expect(second.lanes()).toEqual([])
    expect([first.lanes(), await epochs()]).toEqual([keysOf(2), { 'x/00-7f': 1, 'x/80-ff': 1 }])
  })

  test('passes at once from a process that stops, and to the next run of the same instance', async () => {
    const { clock, start, msUntil } = setUp()
    const first = await start('a:1', group(2))
    const second = await start('b:1', group(2))
    await clock.advance(5_000)
    await first.close()
    expect(await msUntil(() => ownsAll(second, 2))).toBeLessThanOrEqual(600)
    second.kill()
    const third = await start('b:1', group(2))
    expect(await msUntil(() => ownsAll(third, 2))).toBeLessThanOrEqual(100)
  })

  test('is shared out among those who live, and again when one joins or leaves', async () => {
    const { clock, start, msUntil } = setUp()
    const first = await start('a:1', group(8))
    await clock.advance(1_000)
    const second = await start('b:1', group(8))
    await msUntil(() => first.lanes().length === 4 && second.lanes().length === 4)
    expect(first.lanes()).toEqual(keysOf(8).slice(0, 4))
    const others = await Promise.all(['c:1', 'd:1'].map((instance) => start(instance, group(8))))
    const all = [first, second, ...others]
    await msUntil(() => all.every((one) => one.lanes().length === 2))
    expect(all.flatMap((one) => one.lanes()).toSorted()).toEqual(keysOf(8))
    second.kill()
    await others[0]?.close()
    await msUntil(() => first.lanes().length === 4 && others[1]?.lanes().length === 4)
    await clock.advance(10_000)
    expect(first.lanes()).toHaveLength(4)
  })

  test('of many lanes passes to a process that joins once, though they are given back one by one', async () => {
    const { clock, start, epochs } = setUp()
    const first = await start('a:1', group(64), { hasWork: true })
    await clock.advance(1_000)
    // Their work ends at different moments, all before the other process looks again.
    first.ownership.onChange(() => {
      const [leaving] = [...first.ownership.owned().values()].filter((lane) => lane.leaving)
      if (leaving) clock.schedule(clock.now() + 2, () => first.ownership.release(leaving.key))
    })
    const second = await start('b:1', group(64))
    await clock.advance(20_000)
    expect([first, second].map((one) => one.lanes().length)).toEqual([32, 32])
    expect(Object.values(await epochs()).toSorted()).toEqual([
      ...Array.from({ length: 32 }, () => 1),
      ...Array.from({ length: 32 }, () => 2),
    ])
  })

  test('is never shared by lanes that overlap, while processes with another number of shards live', async () => {
    const { clock, start, msUntil } = setUp()
    const old = await start('a:1', group(1))
    await clock.advance(1_000)
    const next = await Promise.all(['b:1', 'c:1'].map((instance) => start(instance, group(4))))
    await clock.advance(20_000)
    expect([old, ...next].map((one) => one.lanes())).toEqual([keysOf(1), [], []])
    old.kill()
    expect(await msUntil(() => next.flatMap((one) => one.lanes()).length === 4)).toBeLessThan(5_000)
    const again = await start('a:2', group(1))
    await clock.advance(20_000)
    expect(again.lanes()).toEqual([])
  })

  test('of lanes that overlap, taken at one moment, stays with the narrower ones', async () => {
    const { clock, ops, start } = setUp()
    const wide = await start('a:1', group(1))
    await clock.advance(1_000)
    const narrow = await start('b:1', [])
    await ops.putIf('lanes:test:lease:x/00-7f', 0, { owner: narrow.owner, epoch: 1 }, null, clock.now())
    narrow.ownership.contendFor(group(2))
    await clock.advance(5_000)
    expect([wide.lanes(), narrow.lanes()]).toEqual([[], keysOf(2)])
  })

  test('passes to nobody when a process slept, or its clock jumped', async () => {
    const { clock, start, epochs } = setUp()
    const both = await Promise.all(['a:1', 'b:1'].map((instance) => start(instance, group(4))))
    await clock.advance(5_000)
    const before = [await epochs(), ...both.map((one) => one.lanes())]
    await clock.jump(60_000)
    await clock.advance(5_000)
    expect([await epochs(), ...both.map((one) => one.lanes())]).toEqual(before)
  })

  test('is known to a process that lost the answer of the store', async () => {
    for (let nth = 1; nth <= 4; nth++) {
      const { clock, start } = setUp()
      const one = await start('a:1', group(4), {
        faults: (method, count) => (method === 'putIf' && count === nth ? 'lose' : undefined),
      })
      await clock.advance(3_000)
      expect(one.lanes()).toEqual(keysOf(4))
    }
  })

  test('ends at the next look of a process whose lanes others have taken meanwhile', async () => {
    const { clock, ops, start } = setUp()
    const one = await start('a:1', group(1))
    await clock.advance(1_000)
    const [lease] = await ops.list('lanes:test:lease:', clock.now())
    await ops.put(lease?.key ?? '', { owner: 'z:1#9', epoch: 7 }, null)
    await ops.put('beat:z:1#9', 1, null)
    await clock.advance(600)
    expect(one.lanes()).toEqual([])
    await clock.advance(5_000)
    expect(one.lanes()).toEqual(keysOf(1))
    expect(one.ownership.owned().get('x/00-ff')?.epoch).toBe(8)
  })

  test('is given up for good, or renewed under an epoch later than a given one', async () => {
    const { clock, start, epochs } = setUp()
    const one = await start('a:1', group(2))
    await clock.advance(0)
    one.ownership.giveUp('x/00-7f')
    one.ownership.renew('x/80-ff', 41)
    expect(one.lanes()).toEqual([])
    await clock.advance(10_000)
    expect(one.lanes()).toEqual(['x/80-ff'])
    expect(await epochs()).toEqual({ 'x/00-7f': 1, 'x/80-ff': 42 })
    const other = await start('b:1', group(2))
    await clock.advance(1_000)
    expect(other.lanes()).toEqual(['x/00-7f'])
  })

  test('of a group that is dropped is forgotten', async () => {
    const { clock, start, epochs } = setUp()
    const one = await start('a:1', [...group(2), { name: 'y', shards: 1 }])
    await clock.advance(0)
    one.ownership.contendFor([{ name: 'y', shards: 1 }])
    await clock.advance(1_000)
    expect(one.lanes()).toEqual(['y/00-ff'])
    await one.ownership.forget('x')
    expect(await epochs()).toEqual({ 'y/00-ff': 1 })
  })
})

test('a process whose work takes long to end gives back its surplus once, and no more', async () => {
  const clock = createManualClock()
  const { start } = contenders(clock)
  const first = await start('a:1', group(8), { hasWork: true })
  await clock.advance(1_000)
  const second = await start('b:1', group(8))
  await clock.advance(10_000)
  const leaving = () => [...first.ownership.owned().values()].filter((lane) => lane.leaving)
  expect(leaving()).toHaveLength(4)
  for (const { key } of leaving()) {
    first.ownership.release(key)
    await clock.advance(2_000)
  }
  await clock.advance(10_000)
  expect([first, second].map((one) => one.lanes().length)).toEqual([4, 4])
  expect(leaving()).toEqual([])
})
