import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { NewEvent } from '../../../src/kernel/event.ts'
import { cappedIn, createLedgerBench, type LedgerBench, steps } from '../../support/fixtures/ledger-bench.ts'
import { type CapNotice, createLedgerNotices } from '../../support/oracle/cap-notices.ts'

const cap = fc.constantFrom(0, 1, 2, 3)
const money = fc.constantFrom(0, 4_000, 7_000)
const when = fc.constantFrom(
  '2026-03-31T22:59:59.999Z',
  '2026-03-31T23:00:00.000Z',
  '2026-03-31T23:59:59.999Z',
  '2026-04-01T00:00:00.000Z',
  '2026-04-01T00:59:59.999Z',
  '2026-04-01T01:00:00.000Z',
)
const caps = { hourlyCap: cap, dailyCap: cap, monthlyCap: cap, dailyRevenueCapCents: money }
const targetCaps = fc.record({
  ...caps,
  totalCap: cap,
  capCountsOn: fc.constantFrom('claimed', 'connected', 'converted'),
})
const n = fc.nat(7)
const attempt = fc.constantFrom(1, 1, 2)
const step = fc.oneof(
  { weight: 5, arbitrary: fc.record({ kind: fc.constant('arrive' as const), n, at: when }) },
  { weight: 5, arbitrary: fc.record({ kind: fc.constant('answer' as const), n, attempt, at: when }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('fail' as const), n, attempt, at: when }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('release' as const), n, connected: fc.boolean(), at: when }) },
  { weight: 5, arbitrary: fc.record({ kind: fc.constant('settle' as const), n, converted: fc.boolean(), at: when }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('recount' as const), n, converted: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('reset' as const), n: fc.nat(1) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('target' as const), n: fc.nat(1), caps: targetCaps }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('buyer' as const), caps: fc.record(caps) }) },
)
type Step = typeof step extends fc.Arbitrary<infer One> ? One : never

function act(bench: LedgerBench, one: Step): readonly NewEvent[] {
  if (one.kind === 'arrive') return steps.arrive(bench, one.n, one.at)
  if (one.kind === 'answer') return steps.answer(bench, one.n, one.attempt, one.at)
  if (one.kind === 'fail') return steps.fail(bench, one.n, one.attempt, one.at)
  if (one.kind === 'release') return steps.release(bench, one.n, one.connected, one.at)
  if (one.kind === 'settle') return steps.settle(bench, one.n, one.converted, one.at)
  if (one.kind === 'recount') return steps.recount(bench, one.n, one.converted)
  if (one.kind === 'reset') return steps.reset(bench, one.n)
  if (one.kind === 'target') bench.setTarget(one.n, one.caps)
  else bench.setBuyer(one.caps)
  return []
}

/** An expected notice in the form of `cappedIn`. */
const cappedOf = ({ scope, id, window, used, limit }: CapNotice) => {
  const figures = window === 'daily revenue' ? { capCents: limit, cents: used } : { cap: limit, count: used }
  return { scope, id, window, figures }
}

const inOrder = (all: readonly object[]) => all.map((one) => JSON.stringify(one)).toSorted()

describe('cap notifications under claims, answers, failures, settlements, resets and edits of caps in any order', () => {
  it('are appended with the event that reaches the cap, and not again until a reset or a change of the cap', () => {
    let notices = 0
    fc.assert(
      fc.property(
        fc.array(step, { minLength: 10, maxLength: 60 }),
        targetCaps,
        fc.record(caps),
        (taken, target, buyer) => {
          const bench = createLedgerBench(target, buyer)
          const noticesOf = createLedgerNotices()
          for (const one of taken) {
            const written = act(bench, one)
            const { targets, buyers } = bench.workspace()
            const limitsOf = (scope: CapNotice['scope'], id: string) =>
              (scope === 'target' ? targets.get(id) : buyers.get(id)) ?? {}
            const expected = noticesOf(written, limitsOf).map(cappedOf)
            expect(inOrder(cappedIn(written)), JSON.stringify(one)).toEqual(inOrder(expected))
            notices += expected.length
          }
        },
      ),
      { numRuns: 500 },
    )
    expect(notices).toBeGreaterThan(500)
  })
})
