import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { countAnswer } from '../../../commands/routing/count-answer.ts'
import { countSettlement } from '../../../commands/routing/count-settlement.ts'
import { failOver } from '../../../commands/routing/fail-over.ts'
import { recountCall } from '../../../commands/routing/recount-call.ts'
import { releaseCall } from '../../../commands/routing/release-call.ts'
import { resetTargetCaps } from '../../../commands/routing/reset-target-caps.ts'
import { routeCall } from '../../../commands/routing/route-call.ts'
import type { WorkspaceState } from '../../../src/domain/configuration/workspace.ts'
import type { Claim } from '../../../src/domain/routing/decision.ts'
import { type LedgerState, ledger } from '../../../src/domain/routing/ledger.ts'
import { targetCapped } from '../../../src/domain/routing/notified-caps.ts'
import type { AnyCommand } from '../../../src/kernel/command.ts'
import type { NewEvent } from '../../../src/kernel/event.ts'
import { isRefusal } from '../../../src/kernel/refusal.ts'
import { emptyFold, foldEvents } from '../../../src/runtime/write/fold.ts'
import { anotherTarget, callWorld, DIALED, instantAfter, nthCallId } from '../../support/fixtures/call-world.ts'
import { idOf, recordedEvents, WORKSPACE } from '../../support/fixtures/spec.ts'
import { type CapNotice, createLedgerNotices } from '../../support/oracle/cap-notices.ts'

const world = callWorld(...anotherTarget(1, {}, { priority: 200 }))
/** An hour after a month begins. */
const NOON = '2026-04-01T01:30:00.000Z'

/** One ledger in memory, and the workspace beside it, whose caps may change at any time. */
function ledgerOf() {
  let fold = emptyFold(ledger)
  let workspace: WorkspaceState = world.reads.workspace
  const settled = new Map<string, { readonly claim: Claim; readonly at: string; changes: number }>()
  const state = (): LedgerState => fold.state
  function take(command: AnyCommand, input: unknown): readonly NewEvent[] {
    const outcome = command.decide(command.input.parse(input), state(), {
      now: NOON,
      workspaceId: WORKSPACE,
      actor: { type: 'system', id: null, name: 'Spec' },
      commandId: 'command',
      newId: () => idOf(0),
      seed: 1,
      reads: { ...world.reads, workspace },
      revisions: {},
      lookUp: () => null,
    })
    if (isRefusal(outcome)) throw new Error(`${command.name}: ${outcome.refused}`)
    const written = recordedEvents(ledger, outcome, { from: fold.revision + 1, at: NOON })
    for (const { type, data } of written) expect(command.entity.events[type]?.parse(data)).toEqual(data)
    fold = foldEvents(ledger, fold, written)
    return written
  }
  return {
    state,
    take,
    settled,
    workspace: () => workspace,
    setTarget(n: number, caps: object) {
      const targets = workspace.targets.update(world.targetId(n), (old) => old && { ...old, ...caps })
      workspace = { ...workspace, targets }
    },
    setBuyer(caps: object) {
      const buyers = workspace.buyers.update(world.buyerId, (old) => old && { ...old, ...caps })
      workspace = { ...workspace, buyers }
    },
  }
}
type Bench = ReturnType<typeof ledgerOf>

/** Whose calls these are. */
const OWN = { campaignId: world.campaignId, publisherId: null }
const booksOf = (converted: boolean) => ({
  converted,
  revenueCents: converted ? 4_000 : 0,
  payoutCents: 0,
  source: null,
  reason: 'spec',
  sentence: 'Spec.',
})

const steps = {
  arrive: ({ take }: Bench, n: number, at = NOON) =>
    take(routeCall, { callId: nthCallId(n), carrierCallId: `c${n}`, to: DIALED, caller: null, occurredAt: at }),
  answer: ({ take }: Bench, n: number, attempt = 1, at = NOON) =>
    take(countAnswer, { callId: nthCallId(n), attempt, occurredAt: at }),
  fail: ({ take }: Bench, n: number, attempt = 1, at = NOON) =>
    take(failOver, { callId: nthCallId(n), attempt, outcome: 'busy', occurredAt: at }),
  release: ({ take }: Bench, n: number, connected = true, at = NOON) =>
    take(releaseCall, { callId: nthCallId(n), connected, occurredAt: at }),
  settle({ take, state, settled }: Bench, n: number, converted = true, at = NOON) {
    const claim = state().calls.get(nthCallId(n))?.claim
    if (!claim) return []
    settled.set(nthCallId(n), { claim, at, changes: 0 })
    const { target, buyer, capCountsOn, occurredAt: claimedAt } = claim
    const counts = { targetId: target.id, buyerId: buyer.id, capCountsOn, claimedAt }
    return take(countSettlement, { callId: nthCallId(n), occurredAt: at, ...OWN, ...counts, ...booksOf(converted) })
  },
  recount({ take, settled }: Bench, n: number, converted: boolean) {
    const known = settled.get(nthCallId(n))
    if (!known) return []
    known.changes += 1
    const { claim, at: settledAt, changes: change } = known
    const changed = { change, claim, before: booksOf(!converted), note: null }
    return take(recountCall, {
      callId: nthCallId(n),
      occurredAt: NOON,
      settledAt,
      ...OWN,
      ...changed,
      ...booksOf(converted),
    })
  },
  reset: ({ take }: Bench, n: number) => take(resetTargetCaps, { targetId: world.targetId(n) }),
}

const cappedIn = (events: readonly NewEvent[]) =>
  events
    .filter(({ type }) => type === 'TargetCapped')
    .map(({ data }) => targetCapped.parse(data))
    .map(({ scope, window, figures, ...whose }) => ({ scope, id: whose[scope].id, window, figures }))

/** A bench whose first target counts so and has these caps. */
function benchOf(target: object, buyer: object = {}) {
  const bench = ledgerOf()
  bench.setTarget(0, target)
  bench.setBuyer(buyer)
  return bench
}
const callsOf = (window: string, cap: number, scope = 'target', count = cap) => ({
  scope,
  window,
  figures: { cap, count },
})

describe('a reached cap is notified', () => {
  it('at the dial when claims count', () => {
    const bench = benchOf({ capCountsOn: 'claimed', dailyCap: 2 })
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
    const bench = benchOf({ capCountsOn: 'connected', dailyCap: 2 })
    for (const n of [1, 2]) expect(cappedIn(steps.arrive(bench, n))).toEqual([])
    expect(cappedIn(steps.answer(bench, 1))).toEqual([])
    expect(cappedIn(steps.answer(bench, 2))).toMatchObject([callsOf('daily', 2)])
    expect(steps.answer(bench, 2)).toEqual([])
  })

  it('at the end or the settlement of a call whose answer was lost', () => {
    for (const late of [steps.release, steps.settle] as const) {
      const bench = benchOf({ capCountsOn: 'connected', totalCap: 1 })
      steps.arrive(bench, 1)
      expect(cappedIn(late(bench, 1))).toMatchObject([callsOf('lifetime', 1)])
    }
  })

  it('at the settlement when conversions count, by converted calls only', () => {
    const bench = benchOf({ capCountsOn: 'converted', hourlyCap: 1 })
    steps.arrive(bench, 1)
    steps.answer(bench, 1)
    expect(cappedIn(steps.settle(bench, 1, false))).toEqual([])
    steps.arrive(bench, 2)
    steps.answer(bench, 2)
    expect(cappedIn(steps.settle(bench, 2))).toMatchObject([callsOf('hourly', 1)])
  })

  it('for target and buyer, and for every window at once', () => {
    const caps = { hourlyCap: 1, dailyCap: 1, monthlyCap: 1 }
    const bench = benchOf({ capCountsOn: 'claimed', ...caps, totalCap: 1 }, caps)
    expect(cappedIn(steps.arrive(bench, 1))).toMatchObject([
      ...['hourly', 'daily', 'monthly', 'lifetime'].map((window) => callsOf(window, 1)),
      ...['hourly', 'daily', 'monthly'].map((window) => callsOf(window, 1, 'buyer')),
    ])
  })

  it('by the claim of a failover', () => {
    const bench = benchOf({})
    bench.setTarget(1, { capCountsOn: 'claimed', dailyCap: 1 })
    steps.arrive(bench, 1)
    expect(cappedIn(steps.fail(bench, 1))).toMatchObject([{ id: world.targetId(1), ...callsOf('daily', 1) }])
  })

  it('at the settlement for revenue, which may exceed its cap', () => {
    const bench = benchOf({ dailyRevenueCapCents: 5_000 }, { dailyRevenueCapCents: 8_000 })
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
    const bench = benchOf({ capCountsOn: 'claimed', dailyCap: 1 })
    expect(cappedIn(steps.arrive(bench, 1))).toHaveLength(1)
    expect(cappedIn(steps.arrive(bench, 2, instantAfter(-86_400, NOON)))).toHaveLength(1)
    steps.reset(bench, 0)
    expect(cappedIn(steps.arrive(bench, 3))).toHaveLength(1)
    bench.setTarget(0, { dailyCap: 3 })
    expect(cappedIn(steps.arrive(bench, 4))).toEqual([])
    expect(cappedIn(steps.arrive(bench, 5))).toMatchObject([callsOf('daily', 3)])
  })

  it('by the next counted call after it was lowered below the count, not by calls counted elsewhere', () => {
    const bench = benchOf({ capCountsOn: 'connected', dailyCap: 0 })
    for (const n of [1, 2, 3]) steps.arrive(bench, n)
    expect(cappedIn([...steps.answer(bench, 1), ...steps.answer(bench, 2)])).toEqual([])
    bench.setTarget(0, { dailyCap: 1 })
    expect(cappedIn(steps.answer(bench, 3))).toMatchObject([callsOf('daily', 1, 'target', 3)])
    expect(cappedIn(steps.arrive(bench, 4))).toEqual([])
    expect(cappedIn(steps.answer(bench, 4))).toEqual([])
  })

  it('on the buyer only by a call claimed before a reset', () => {
    const bench = benchOf({ capCountsOn: 'connected', dailyCap: 1 }, { dailyCap: 1 })
    steps.arrive(bench, 1)
    steps.reset(bench, 0)
    expect(cappedIn(steps.answer(bench, 1))).toMatchObject([callsOf('daily', 1, 'buyer')])
  })
})

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

function act(bench: Bench, one: Step): readonly NewEvent[] {
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
    let told = 0
    fc.assert(
      fc.property(
        fc.array(step, { minLength: 10, maxLength: 60 }),
        targetCaps,
        fc.record(caps),
        (taken, target, buyer) => {
          const bench = benchOf(target, buyer)
          const noticesOf = createLedgerNotices()
          for (const one of taken) {
            const written = act(bench, one)
            const { targets, buyers } = bench.workspace()
            const limitsOf = (scope: CapNotice['scope'], id: string) =>
              (scope === 'target' ? targets.get(id) : buyers.get(id)) ?? {}
            const expected = noticesOf(written, limitsOf).map(cappedOf)
            expect(inOrder(cappedIn(written)), JSON.stringify(one)).toEqual(inOrder(expected))
            told += expected.length
          }
        },
      ),
      { numRuns: 500 },
    )
    expect(told).toBeGreaterThan(500)
  })
})
