import { describe, expect, it } from 'vitest'
import { rangesOf } from '../../../../src/kernel/partition.ts'
import { laneOf } from '../../../../src/runtime/ownership/lane.ts'
import type { StoredLease } from '../../../../src/runtime/ownership/leases.ts'
import { createOwnerWatch, WATCH_EVERY_MS } from '../../../../src/runtime/ownership/owner-watch.ts'
import { DEAD_MS } from '../../../../src/runtime/ownership/ownership.ts'

/** The leases of a group that is cut into as many ranges as there are owners; null for a released one. */
function leasesOf(group: string, ...owners: readonly (string | null)[]): ReadonlyMap<string, StoredLease> {
  const lanes = rangesOf(owners.length).map((range) => laneOf(group, range))
  return new Map(lanes.map((lane, n) => [lane.key, { lane, owner: owners[n] ?? null, epoch: 1, version: 1 }]))
}

/** Looks every second for a time, while the beats of the living move. */
function watching() {
  const watch = createOwnerWatch()
  let now = 0
  let beat = 0
  const silent = new Map<string, number>()
  return {
    watch,
    now: () => now,
    /** An owner whose beat is still there, and does not move. */
    die: (owner: string) => void silent.set(owner, beat),
    lookFor(ms: number, leases: ReadonlyMap<string, StoredLease>, living: readonly string[]) {
      for (const end = now + ms; now < end; now += WATCH_EVERY_MS) {
        beat += 1
        const beats = new Map([...silent, ...living.map((owner) => [owner, beat] as const)])
        watch.look(leases, beats, now)
      }
    },
  }
}

describe('the watch of who owns the lanes of a pool', () => {
  it('finds a group without a lease unowned from the beginning', () => {
    const { watch, now, lookFor } = watching()
    lookFor(2_000, leasesOf('calls@1', 'a'), ['a'])
    expect(watch.unownedMs('calls@1', now())).toBe(WATCH_EVERY_MS)
    expect(watch.unownedMs('numbers@1', now())).toBe(Number.POSITIVE_INFINITY)
  })

  it('counts from when the beat of its owner has not moved for as long as a process may be silent', () => {
    const { watch, now, die, lookFor } = watching()
    const leases = leasesOf('calls@1', 'a')
    lookFor(10_000, leases, ['a'])
    die('a')
    const silentLooks = Math.floor(DEAD_MS / WATCH_EVERY_MS)
    lookFor(silentLooks * WATCH_EVERY_MS, leases, [])
    expect([watch.isAlive('a'), watch.unownedMs('calls@1', now())]).toEqual([true, WATCH_EVERY_MS])
    lookFor(5_000, leases, [])
    expect([watch.isAlive('a'), watch.unownedMs('calls@1', now())]).toEqual([false, 5_000 + WATCH_EVERY_MS])
    lookFor(WATCH_EVERY_MS, leasesOf('calls@1', 'b'), ['b'])
    expect(watch.unownedMs('calls@1', now())).toBe(WATCH_EVERY_MS)
  })

  it('needs a living owner for every partition', () => {
    const { watch, now, lookFor } = watching()
    lookFor(2_000, leasesOf('calls@1', 'a', 'b', 'a', 'b'), ['a', 'b'])
    expect(watch.unownedMs('calls@1', now())).toBe(WATCH_EVERY_MS)
    lookFor(3_000, leasesOf('calls@1', 'a', 'b', null, 'b'), ['a', 'b'])
    expect(watch.unownedMs('calls@1', now())).toBe(4_000)
  })

  it('takes lanes of different numbers of shards together', () => {
    const { watch, now, lookFor } = watching()
    const halves = [...leasesOf('calls@1', 'a', null)]
    const quarters = [...leasesOf('calls@1', null, null, 'b', 'b')]
    lookFor(1_000, new Map([...quarters, ...halves]), ['a', 'b'])
    expect(watch.unownedMs('calls@1', now())).toBe(WATCH_EVERY_MS)
  })

  it('declares nobody dead after a time in which it did not look', () => {
    const { watch, lookFor } = watching()
    const leases = leasesOf('calls@1', 'a')
    lookFor(2_000, leases, ['a'])
    watch.look(leases, new Map([['a', 2]]), 3_600_000)
    expect([watch.isAlive('a'), watch.unownedMs('calls@1', 3_600_000)]).toEqual([true, 0])
  })
})
