import { describe, expect, it } from 'vitest'
import { instantAfter, nthCallId } from '../../support/fixtures/call-world.ts'

import { callsOf, cappedIn, createLedgerBench, NOON, steps, world } from '../../support/fixtures/ledger-bench.ts'

describe('a reached cap is notified', () => {
  it('at the dial when claims count', () => {
    const bench = createLedgerBench({ capCountsOn: 'claimed', dailyCap: 2 })
    expect(cappedIn(steps.arrive(bench, 1))).toEqual([])
    const reached = steps.arrive(bench, 2)
    expect(reached.map(({ type }) => type)).toEqual(['CallAdmitted', 'TargetCapped'])
    expect(reached[1]?.data).toEqual({
      callId: nthCallId(2),
      occurredAt: NOON,
      scope: 'target',
      window: 'daily',
      countedAt: NOON,
      figures: { cap: 2, count: 2 },
      target: { id: world.targetId(), name: 'Front desk' },
      externalRef: null,
      buyer: { id: world.buyerId, name: 'Solar Co' },
    })
    expect(cappedIn([...steps.answer(bench, 2), ...steps.release(bench, 2), ...steps.settle(bench, 2)])).toEqual([])
  })

  it('at the answer when connections count, not by a held slot', () => {
    const bench = createLedgerBench({ capCountsOn: 'connected', dailyCap: 2 })
    for (const n of [1, 2]) expect(cappedIn(steps.arrive(bench, n))).toEqual([])
    expect(cappedIn(steps.answer(bench, 1))).toEqual([])
    expect(cappedIn(steps.answer(bench, 2))).toMatchObject([callsOf('daily', 2)])
    expect(steps.answer(bench, 2)).toEqual([])
  })

  it('at the end or the settlement of a call whose answer was lost', () => {
    for (const late of [steps.release, steps.settle] as const) {
      const bench = createLedgerBench({ capCountsOn: 'connected', totalCap: 1 })
      steps.arrive(bench, 1)
      expect(cappedIn(late(bench, 1))).toMatchObject([callsOf('lifetime', 1)])
    }
  })

  it('at the settlement when conversions count, by converted calls only', () => {
    const bench = createLedgerBench({ capCountsOn: 'converted', hourlyCap: 1 })
    steps.arrive(bench, 1)
    steps.answer(bench, 1)
    expect(cappedIn(steps.settle(bench, 1, false))).toEqual([])
    steps.arrive(bench, 2)
    steps.answer(bench, 2)
    expect(cappedIn(steps.settle(bench, 2))).toMatchObject([callsOf('hourly', 1)])
  })

  it('for target and buyer, and for every window at once', () => {
    const caps = { hourlyCap: 1, dailyCap: 1, monthlyCap: 1 }
    const bench = createLedgerBench({ capCountsOn: 'claimed', ...caps, totalCap: 1 }, caps)
    expect(cappedIn(steps.arrive(bench, 1))).toMatchObject([
      ...['hourly', 'daily', 'monthly', 'lifetime'].map((window) => callsOf(window, 1)),
      ...['hourly', 'daily', 'monthly'].map((window) => callsOf(window, 1, 'buyer')),
    ])
  })

  it('by the claim of a failover', () => {
    const bench = createLedgerBench({})
    bench.setTarget(1, { capCountsOn: 'claimed', dailyCap: 1 })
    steps.arrive(bench, 1)
    expect(cappedIn(steps.fail(bench, 1))).toMatchObject([{ id: world.targetId(1), ...callsOf('daily', 1) }])
  })

  it('at the settlement for revenue, which may exceed its cap', () => {
    const bench = createLedgerBench({ dailyRevenueCapCents: 5_000 }, { dailyRevenueCapCents: 8_000 })
    for (const n of [1, 2, 3]) steps.arrive(bench, n)
    for (const n of [1, 2, 3]) steps.answer(bench, n)
    const money = (scope: string, capCents: number, cents: number) => ({
      scope,
      window: 'daily revenue',
      figures: { capCents, cents },
    })
    expect(cappedIn(steps.settle(bench, 1))).toEqual([])
    expect(cappedIn(steps.settle(bench, 2))).toMatchObject([
      money('target', 5_000, 8_000),
      money('buyer', 8_000, 8_000),
    ])
    expect(cappedIn(steps.settle(bench, 3))).toEqual([])
  })

  it('again in a new window, after a reset, and when a raised cap is reached', () => {
    const bench = createLedgerBench({ capCountsOn: 'claimed', dailyCap: 1 })
    expect(cappedIn(steps.arrive(bench, 1))).toHaveLength(1)
    expect(cappedIn(steps.arrive(bench, 2, instantAfter(-86_400, NOON)))).toHaveLength(1)
    steps.reset(bench, 0)
    expect(cappedIn(steps.arrive(bench, 3))).toHaveLength(1)
    bench.setTarget(0, { dailyCap: 3 })
    expect(cappedIn(steps.arrive(bench, 4))).toEqual([])
    expect(cappedIn(steps.arrive(bench, 5))).toMatchObject([callsOf('daily', 3)])
  })

  it('by the next counted call after it was lowered below the count, not by calls counted elsewhere', () => {
    const bench = createLedgerBench({ capCountsOn: 'connected', dailyCap: 0 })
    for (const n of [1, 2, 3]) steps.arrive(bench, n)
    expect(cappedIn([...steps.answer(bench, 1), ...steps.answer(bench, 2)])).toEqual([])
    bench.setTarget(0, { dailyCap: 1 })
    expect(cappedIn(steps.answer(bench, 3))).toMatchObject([callsOf('daily', 1, 'target', 3)])
    expect(cappedIn(steps.arrive(bench, 4))).toEqual([])
    expect(cappedIn(steps.answer(bench, 4))).toEqual([])
  })

  it('on the buyer only by a call claimed before a reset', () => {
    const bench = createLedgerBench({ capCountsOn: 'connected', dailyCap: 1 }, { dailyCap: 1 })
    steps.arrive(bench, 1)
    steps.reset(bench, 0)
    expect(cappedIn(steps.answer(bench, 1))).toMatchObject([callsOf('daily', 1, 'buyer')])
  })
})
