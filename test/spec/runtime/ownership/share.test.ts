import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Lane, laneOf, lanesOf, overlaps, parseLaneKey } from '../../../../src/runtime/ownership/lane.ts'
import { type Assignments, shareOut, surplusOf } from '../../../../src/runtime/ownership/share.ts'

const any = () => true
const assignments = (
  owners: Readonly<Record<string, readonly Lane[]>>,
  runs: Assignments['candidates'] = new Map(),
) => ({
  candidates: new Map(Object.keys(owners).map((owner) => [owner, runs.get(owner) ?? any])),
  owners: new Map(Object.entries(owners).flatMap(([owner, lanes]) => lanes.map(({ key }) => [key, owner] as const))),
})
const keysOf = (lanes: readonly Lane[]) => lanes.map(({ key }) => key)

describe('lanes', () => {
  test('are named by their group and range', () => {
    expect(keysOf(lanesOf({ name: 'call-log@3', shards: 2 }))).toEqual(['call-log@3/00-7f', 'call-log@3/80-ff'])
    expect(keysOf(lanesOf({ name: 'users@1', shards: 1 }))).toEqual(['users@1/00-ff'])
    expect(parseLaneKey('call-log@3~2/80-ff')).toEqual(laneOf('call-log@3~2', { from: 128, to: 255 }))
    expect(() => parseLaneKey('call-log@3')).toThrow('names no lane')
  })

  test('of one group overlap where they share a partition and are not the same', () => {
    const [low, high] = lanesOf({ name: 'a', shards: 2 })
    const whole = laneOf('a')
    if (!low || !high) throw new Error('There are two lanes.')
    expect([overlaps(low, high), overlaps(low, whole), overlaps(whole, high), overlaps(low, low)]).toEqual([
      false,
      true,
      true,
      false,
    ])
    expect(overlaps(low, laneOf('b'))).toBe(false)
  })
})

describe('sharing lanes out', () => {
  const lanes = lanesOf({ name: 'x', shards: 8 })

  test('gives all to a process that is alone, and equal shares of neighbours to several', () => {
    expect(new Set(shareOut(lanes, assignments({ a: [] })).values())).toEqual(new Set(['a']))
    const shared = shareOut(lanes, assignments({ a: [], b: [] }))
    expect(lanes.map(({ key }) => shared.get(key))).toEqual(['a', 'a', 'a', 'a', 'b', 'b', 'b', 'b'])
  })

  test('gives the lanes of a dead process to those that have fewer', () => {
    const shared = shareOut(lanes.slice(5), assignments({ a: lanes.slice(0, 4), b: lanes.slice(4, 5) }))
    expect([...shared.values()]).toEqual(['b', 'b', 'b'])
  })

  test('leaves no lane without an owner that only a busy process can run', () => {
    const rare = laneOf('rare')
    const runs = new Map([['b', ({ group }: Lane) => group === 'x']])
    expect(shareOut([rare], assignments({ a: lanes, b: [] }, runs)).get(rare.key)).toBe('a')
    expect(shareOut([rare], assignments({ b: [] }, runs)).size).toBe(0)
  })

  test('takes from a process what another that joins can run', () => {
    const surplus = surplusOf('a', lanes, assignments({ a: lanes, b: [] }))
    expect(keysOf(surplus)).toEqual(keysOf(lanes.slice(4).toReversed()))
    expect(surplusOf('a', lanes, assignments({ a: lanes, b: [] }, new Map([['b', () => false]])))).toEqual([])
    expect(surplusOf('a', lanes.slice(0, 4), assignments({ a: lanes.slice(0, 4), b: lanes.slice(4, 7) }))).toEqual([])
  })

  test('comes to rest with loads that differ by at most one, from any start', () =>
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 4 }), { minLength: 8, maxLength: 8 }), (owned) => {
        const names = ['a', 'b', 'c', 'd']
        // Index 4: free.
        let holders = new Map(
          lanes.flatMap((lane, n) => (names[owned[n] ?? 4] ? [[lane, names[owned[n] ?? 4] ?? '']] : [])),
        )
        const now = () =>
          assignments(
            Object.fromEntries(names.map((name) => [name, lanes.filter((lane) => holders.get(lane) === name)])),
          )
        for (let round = 0; round < 3; round++) {
          const before = now()
          const given = names.flatMap((name) =>
            surplusOf(
              name,
              lanes.filter((lane) => holders.get(lane) === name),
              before,
            ),
          )
          holders = new Map([...holders].filter(([lane]) => !given.includes(lane)))
          const free = lanes.filter((lane) => !holders.has(lane))
          const shared = shareOut(free, now())
          for (const lane of free) holders.set(lane, shared.get(lane.key) ?? '')
        }
        const loads = names.map((name) => lanes.filter((lane) => holders.get(lane) === name).length)
        expect(loads).toEqual([2, 2, 2, 2])
      }),
    ))
})
