import { expect, test } from 'vitest'
import type { Holder } from '../../../src/reactions/lease-entries.ts'
import { createLeaseQueues } from '../../../src/reactions/lease-queues.ts'
import { pooledNumber } from '../../support/fixtures/leases.ts'

const POOL = 'pool'
const numbers = [pooledNumber(1), pooledNumber(2)]
const rotation = new Map(numbers.map((number) => [number.id, number]))
const held = (until: number): Holder => ({ sessionId: '1', takenAt: 0, until, before: null })

/** The orders of a process over holders that other processes set, and how often they were read. */
function rig(isAlone: boolean) {
  const holders = new Map<string, Holder>()
  let now = 1_000
  let reads = 0
  const entries = {
    async holders() {
      reads += 1
      return new Map(holders)
    },
  }
  const queues = createLeaseQueues(entries, { now: () => now, schedule: () => () => undefined }, { isAlone })
  return {
    holders,
    reads: () => reads,
    pass: (ms: number) => {
      now += ms
    },
    firstFree: async () => {
      const first = (await queues.of(POOL, rotation)).free.first()
      return first && first.at <= now ? first.id : null
    },
  }
}

test.each([
  ['with a free number are read anew after five seconds', false, 4_999, 1],
  ['with a free number are read anew after five seconds', false, 5_000, 2],
  ['of a process that is alone are not read anew', true, 60_000, 1],
])('orders %s (alone: %s, after %i ms)', async (_what, isAlone, ms, reads) => {
  const it = rig(isAlone)
  await it.firstFree()
  it.pass(ms)
  await it.firstFree()
  expect(it.reads()).toBe(reads)
})

test('a number that another process has freed early is found a quarter of a second later, before one is shared', async () => {
  const it = rig(false)
  for (const { id } of numbers) it.holders.set(id, held(1_000_000))
  expect(await it.firstFree()).toBeNull()
  it.holders.set(numbers[1]?.id ?? '', held(1_000))
  it.pass(249)
  expect([await it.firstFree(), it.reads()]).toEqual([null, 1])
  it.pass(1)
  expect([await it.firstFree(), it.reads()]).toEqual([numbers[1]?.id, 2])
})
