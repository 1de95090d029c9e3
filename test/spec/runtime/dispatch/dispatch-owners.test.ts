import { afterEach, describe, expect, test } from 'vitest'
import { partitionOf, rangesOf } from '../../../../src/kernel/partition.ts'
import { dispatchRig, never, type SentItem, stopDispatchers } from '../../../support/fixtures/dispatch-rig.ts'
import { contenders } from '../../../support/fixtures/owners.ts'
import { advanceUntil, processClock } from '../../../support/memory/clock.ts'

afterEach(stopDispatchers)

const QUEUES = Array.from({ length: 20 }, (_, n) => `w${n}`)
const ITEMS = 12

/** A rig with full queues, whose requests take a second each. */
function fullQueues() {
  const rig = dispatchRig()
  for (const queue of QUEUES) {
    rig.answers.set(queue, async (item) => {
      await new Promise<void>((resolve) => rig.clock.schedule(rig.clock.now() + 1_000, resolve))
      return rig.leave(item)
    })
    rig.add(
      Array.from({ length: ITEMS }, (_, n) => `${queue}:${n}`),
      { queue },
    )
  }
  return rig
}

const sentBy = (sent: readonly SentItem[], owner: string) => sent.filter(({ by }) => by === owner)

describe('dispatchers that share a store', () => {
  test('never send a queue at the same time, and send each item once', async () => {
    const { clock, ids, overlaps, start } = fullQueues()
    for (const owner of ['a', 'b', 'c']) start(owner)
    await clock.advance(60_000)
    expect(ids()).toHaveLength(QUEUES.length * ITEMS)
    expect(new Set(ids()).size).toBe(QUEUES.length * ITEMS)
    expect(overlaps()).toBe(0)
  })

  test('take the queues of one that is stopped over', async () => {
    const { clock, ids, overlaps, sent, start } = fullQueues()
    const first = start('a')
    await clock.advance(500)
    start('b')
    await clock.advance(1_000)
    expect(sentBy(sent, 'b')).toEqual([])
    first.stop()
    await clock.advance(60_000)
    expect(sentBy(sent, 'a').length).toBeGreaterThan(0)
    expect(new Set(sentBy(sent, 'b').map(({ queue }) => queue))).toEqual(new Set(QUEUES))
    expect(new Set(ids()).size).toBe(QUEUES.length * ITEMS)
    expect(ids()).toHaveLength(QUEUES.length * ITEMS)
    expect(overlaps()).toBe(0)
  })

  test('take the queues of one that has died over, with what it had under way', async () => {
    const { add, answers, clock, leave, sent, start } = dispatchRig()
    answers.set('q', (item) => (item.by === 'a' ? never() : leave(item)))
    add(['x', 'y'])
    const own = processClock(clock)
    const first = start('a', { clock: own })
    await clock.advance(500)
    own.die()
    first.stop()
    start('b')
    await clock.advance(1_000)
    expect(sent.map(({ id, by }) => `${by}:${id}`)).toEqual(['a:x'])
    await advanceUntil(clock, () => sent.length === 3)
    expect(sent.map(({ id, by }) => `${by}:${id}`)).toEqual(['a:x', 'b:x', 'b:y'])
  })

  test('ask for the claim of a queue that another sends now and then', async () => {
    const { add, answers, clock, ops, start } = dispatchRig()
    answers.set('q', never)
    add(['x'])
    start('a')
    await clock.advance(500)
    let asked = 0
    start('b', {
      ops: {
        ...ops,
        claim(...claim) {
          asked += 1
          return ops.claim(...claim)
        },
      },
    })
    await clock.advance(10_000)
    expect(asked).toBeGreaterThan(1)
    expect(asked).toBeLessThanOrEqual(11)
  })
})

describe('queues by ranges of partitions', () => {
  test('are sent by the owner of their partition, and by no other', async () => {
    const { add, clock, ops, sent, start } = dispatchRig()
    const shared = contenders(clock, ops)
    for (const instance of ['a:1', 'b:1']) {
      const process = await shared.start(instance, [], { hasWork: true })
      start(instance, { ...process, shards: 2 })
    }
    await clock.advance(3_000)
    for (const queue of QUEUES) add([queue], { queue })
    await clock.advance(1_000)
    expect(sent.map(({ id }) => id).toSorted()).toEqual(QUEUES.toSorted())
    const halves = rangesOf(2).map(({ from, to }) =>
      QUEUES.filter((id) => partitionOf(id) >= from && partitionOf(id) <= to).toSorted(),
    )
    const owned = ['a:1', 'b:1'].map((by) =>
      sentBy(sent, by)
        .map(({ id }) => id)
        .toSorted(),
    )
    expect(owned.every((ids) => ids.length > 0)).toBe(true)
    expect(owned.toSorted()).toEqual(halves.toSorted())
  })

  test('are not sent by a process that owns none', async () => {
    const { add, clock, ops, reads, sent, start } = dispatchRig()
    const shared = contenders(clock, ops)
    const owner = await shared.start('a:1', [], { hasWork: true })
    start('a:1', owner)
    await clock.advance(1_000)
    const other = await shared.start('b:1', [], { hasWork: true })
    start('b:1', other)
    await clock.advance(3_000)
    for (const queue of QUEUES) add([queue], { queue })
    await clock.advance(1_000)
    expect(sent).toHaveLength(QUEUES.length)
    expect(sentBy(sent, 'b:1')).toEqual([])
    expect(reads.length).toBeGreaterThan(0)
  })

  test('that a process is sending when it gives their partition back are sent once', async () => {
    const { clock, ids, ops, overlaps, sent, start } = fullQueues()
    const shared = contenders(clock, ops)
    start('a:1', { ...(await shared.start('a:1', [], { hasWork: true })), shards: 2 })
    await clock.advance(1_500)
    start('b:1', { ...(await shared.start('b:1', [], { hasWork: true })), shards: 2 })
    await clock.advance(60_000)
    expect(new Set(ids()).size).toBe(QUEUES.length * ITEMS)
    expect(sent).toHaveLength(QUEUES.length * ITEMS)
    expect(overlaps()).toBe(0)
  })
})
