import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { settleCall } from '../../../commands/calls/settle-call.ts'
import { countAnswer } from '../../../commands/routing/count-answer.ts'
import { countSettlement } from '../../../commands/routing/count-settlement.ts'
import { failOver } from '../../../commands/routing/fail-over.ts'
import { releaseCall } from '../../../commands/routing/release-call.ts'
import { type CounterKind, counterKey, counterOf } from '../../../src/domain/routing/counters.ts'
import type { Claim } from '../../../src/domain/routing/decision.ts'
import { type LedgerState, ledger } from '../../../src/domain/routing/ledger.ts'
import { ledgerEvents } from '../../../src/domain/routing/ledger-events.ts'
import { createRandom } from '../../../src/domain/routing/random.ts'
import { windowsOf } from '../../../src/domain/shared/windows.ts'
import type { AnyCommand } from '../../../src/kernel/command.ts'
import type { NewEvent, RecordedEvent } from '../../../src/kernel/event.ts'
import {
  anotherTarget,
  callEventsOf,
  callWorld,
  changeSteps,
  instantAfter,
  noticeSteps,
  nthCallId,
  routeArrival,
} from '../../support/fixtures/call-world.ts'
import { given } from '../../support/fixtures/spec.ts'
import { playInterleavedCalls } from '../../support/model/interleaved-calls.ts'

const capCounts = ['claimed', 'connected', 'converted'] as const
const settings = { capCountsOn: capCounts[0], durationThresholdSeconds: 30 }

/** Whether the slot is taken after each step of a call. */
describe.each(capCounts)('a slot of a target whose caps count on %s', (capCountsOn) => {
  const world = callWorld(changeSteps.target({ ...settings, capCountsOn }), changeSteps.campaign({ bufferSeconds: 60 }))
  const arrival = routeArrival(world)
  const callId = nthCallId(1)
  const then = (...steps: readonly (readonly [AnyCommand, unknown])[]) =>
    steps.reduce<readonly NewEvent[]>(
      (events, [command, input]) =>
        given(ledger, events).when(command, input, { reads: { workspace: world.reads.workspace } }).events,
      arrival.events,
    )
  const answer = [countAnswer, { callId, attempt: 1, occurredAt: instantAfter(4) }] as const
  const release = (connected: boolean) => [releaseCall, { callId, connected, occurredAt: instantAfter(64) }] as const
  const settles = (talk: number) => {
    const life = callEventsOf(arrival, noticeSteps.answer(1, 4), noticeSteps.end(4 + talk), [settleCall, { callId }])
    return [countSettlement, life.at(-1)?.data] as const
  }
  const failed = [failOver, { callId, attempt: 1, outcome: 'busy', occurredAt: instantAfter(5) }] as const
  const look = (events: readonly NewEvent[]) => {
    const { state } = given(ledger, events).when(countAnswer, {
      callId: nthCallId(99),
      attempt: 1,
      occurredAt: instantAfter(0),
    })
    const [target, buyer] = [counterOf(state, 'target', world.targetId()), counterOf(state, 'buyer', world.buyerId)]
    expect(buyer).toEqual(target)
    const day = target.taken.get('2026-03-10', 0)
    expect([target.taken.get('2026-03-10T15', 0), target.taken.get('2026-03', 0), target.total]).toEqual([
      day,
      day,
      day,
    ])
    return { live: target.live, taken: day }
  }

  it('is held from the dial on, and kept when the call converts', () => {
    expect(look(then())).toEqual({ live: 1, taken: 1 })
    expect(look(then(answer))).toEqual({ live: 1, taken: 1 })
    expect(look(then(answer, release(true)))).toEqual({ live: 0, taken: 1 })
    expect(look(then(answer, release(true), settles(30)))).toEqual({ live: 0, taken: 1 })
  })

  it(`is ${capCountsOn === 'converted' ? 'given back' : 'kept'} when the call connects and does not convert`, () => {
    const taken = capCountsOn === 'converted' ? 0 : 1
    expect(look(then(answer, release(true), settles(29)))).toEqual({ live: 0, taken })
  })

  it(`is ${capCountsOn === 'claimed' ? 'kept' : 'given back'} when nobody answers`, () => {
    const taken = capCountsOn === 'claimed' ? 1 : 0
    expect(look(then(failed))).toEqual({ live: 0, taken })
    expect(look(then(failed, release(false)))).toEqual({ live: 0, taken })
    expect(look(then(release(false)))).toEqual({ live: 0, taken })
  })
})

describe('the counters of campaign and lane', () => {
  const world = callWorld()
  const kinds: readonly (readonly [CounterKind, string])[] = [
    ['campaign', world.campaignId],
    ['lane', `${world.campaignId}:${world.publisherId}`],
  ]

  it.each(kinds)('of a %s count an admitted call at its arrival, and hold it until it is released', (kind, id) => {
    const arrival = routeArrival(world, { occurredAt: '2026-02-28T23:59:59.999Z' })
    const counter = counterOf(arrival.state, kind, id)
    expect(counter).toMatchObject({ live: 1, total: 1 })
    expect(counter.taken.toObject()).toEqual({ '2026-02': 1, '2026-02-28': 1, '2026-02-28T23': 1 })
    const over = given(ledger, arrival.events).when(releaseCall, {
      callId: nthCallId(1),
      connected: false,
      occurredAt: instantAfter(9),
    })
    expect(counterOf(over.state, kind, id)).toMatchObject({ live: 0, total: 1 })
  })

  it('count a call that no target takes', () => {
    const shut = callWorld(changeSteps.target({ states: ['NY'] }))
    expect(counterOf(routeArrival(shut).state, 'campaign', shut.campaignId)).toMatchObject({ live: 1, total: 1 })
  })
})

describe('release-call', () => {
  const arrival = routeArrival(callWorld())
  const released = given(ledger, arrival.events).when(releaseCall, {
    callId: nthCallId(1),
    connected: false,
    occurredAt: instantAfter(9),
  })

  it('release-call changes nothing the second time', () => {
    released.gives([{ type: 'CallReleased', data: { occurredAt: instantAfter(9) } }])
    given(ledger, released.events)
      .when(releaseCall, { callId: nthCallId(1), connected: true, occurredAt: instantAfter(9) })
      .gives([])
    expect(released.state.calls.size).toBe(0)
  })
})

// Any order of steps, each any number of times

const world = callWorld(...anotherTarget(1), ...anotherTarget(2))
const cap = fc.constantFrom(0, 0, 1, 2, 3)
const caps = fc.record({ concurrencyCap: cap, hourlyCap: cap, dailyCap: cap, monthlyCap: cap })
const targets = fc.array(
  fc.tuple(
    caps,
    fc.record({
      totalCap: fc.constantFrom(0, 0, 0, 4),
      capCountsOn: fc.constantFrom(...capCounts),
      durationThresholdSeconds: fc.constantFrom(0, 30),
    }),
  ),
  { minLength: 3, maxLength: 3 },
)
const calls = fc.array(
  fc.record({
    at: fc.constantFrom(instantAfter(0), instantAfter(-3_600), instantAfter(-86_400), instantAfter(-20 * 86_400)),
    caller: fc.constantFrom('+14155550199', '+12125550100', null),
    impatient: fc.boolean(),
  }),
  { minLength: 1, maxLength: 12 },
)

const callIdOf = ({ data }: RecordedEvent) =>
  z
    .union([
      z.object({ callId: z.string() }),
      z.object({ arrival: z.object({ callId: z.string() }) }).transform(({ arrival }) => arrival),
    ])
    .parse(data).callId

/** Every claim of a ledger, and whether it counts. */
function claimsOf(events: readonly RecordedEvent[]): readonly { readonly claim: Claim; readonly counts: boolean }[] {
  const has = (type: string, callId: string, fits: (data: unknown) => boolean) =>
    events.some((event) => event.type === type && callIdOf(event) === callId && fits(event.data))
  return events.flatMap((event) => {
    const claim =
      event.type === 'CallAdmitted'
        ? ledgerEvents.CallAdmitted.parse(event.data).claim
        : event.type === 'TargetClaimed'
          ? ledgerEvents.TargetClaimed.parse(event.data).claim
          : null
    if (!claim) return []
    const callId = callIdOf(event)
    const connected = has(
      'ClaimConnected',
      callId,
      (data) => ledgerEvents.ClaimConnected.parse(data).attempt === claim.attempt,
    )
    const converted = connected && has('CallCounted', callId, (data) => ledgerEvents.CallCounted.parse(data).converted)
    return [{ claim, counts: { claimed: true, connected, converted }[claim.capCountsOn] }]
  })
}

function expectLive(state: LedgerState): void {
  const open = [...state.calls.values()].filter(({ live }) => live)
  expect(counterOf(state, 'campaign', world.campaignId).live).toBe(open.length)
  expect(counterOf(state, 'lane', `${world.campaignId}:${world.publisherId}`).live).toBe(open.length)
  expect(counterOf(state, 'buyer', world.buyerId).live).toBe(open.filter(({ claim }) => claim).length)
  for (const id of world.reads.workspace.targets.keys())
    expect(counterOf(state, 'target', id).live).toBe(open.filter(({ claim }) => claim?.target.id === id).length)
}

type Caps = { readonly [K in 'concurrencyCap' | 'hourlyCap' | 'dailyCap' | 'monthlyCap' | 'totalCap']?: number }

function expectWithin(state: LedgerState, kind: CounterKind, id: string, caps: Caps): void {
  const { live, taken, total } = counterOf(state, kind, id)
  const most = (length: number) => Math.max(0, ...taken.filter((_, window) => window.length === length).values())
  const counts: readonly (readonly [number | undefined, number])[] = [
    [caps.concurrencyCap, live],
    [caps.hourlyCap, most(13)],
    [caps.dailyCap, most(10)],
    [caps.monthlyCap, most(7)],
    [caps.totalCap, total],
  ]
  for (const [cap, count] of counts) if (cap) expect(count).toBeLessThanOrEqual(cap)
}

const oldestHour = windowsOf(instantAfter(-48 * 3_600)).hour

/** Counts in retention: hours are dropped after two days. */
const requests = (counts: Readonly<Record<string, number>>) =>
  Object.fromEntries(
    Object.entries(counts).filter(([window, count]) => count > 0 && (window.length < 13 || window >= oldestHour)),
  )

describe('calls of one ledger, in any order and with any step repeated', () => {
  it('never exceed a cap, are in progress while they hold a claim, and leave exactly the counted slots', () =>
    fc.assert(
      fc.asyncProperty(targets, caps, calls, fc.nat(), async (targetCaps, buyerCaps, calls, seed) => {
        const ids = [0, 1, 2].map(world.targetId)
        const capsOf = new Map(ids.map((id, n) => [id, { ...targetCaps[n]?.[0], ...targetCaps[n]?.[1] }]))
        const { targets, buyers } = world.reads.workspace
        const workspace = {
          ...world.reads.workspace,
          targets: targets.map((target) => ({ ...target, ...capsOf.get(target.id) })),
          buyers: buyers.map((buyer) => ({ ...buyer, ...buyerCaps })),
        }
        const look = (state: LedgerState) => {
          expectLive(state)
          expectWithin(state, 'buyer', world.buyerId, buyerCaps)
          for (const [id, caps] of capsOf) expectWithin(state, 'target', id, caps)
        }
        const { state, events, dialled } = await playInterleavedCalls(
          { workspace, wallet: world.reads.wallet },
          calls,
          createRandom(seed),
          look,
        )

        const of = (type: string) =>
          events
            .filter((event) => event.type === type)
            .map(callIdOf)
            .toSorted()
        const everyCall = calls.map((_, n) => nthCallId(n)).toSorted()
        for (const type of ['CallAdmitted', 'CallArrived', 'CallEnded', 'CallSettled', 'CallReleased'])
          expect(of(type), type).toEqual(everyCall)
        expect(new Set(of('CallCounted')).size).toBe(of('CallCounted').length)
        expect(of('CallCounted')).toEqual(of('TargetAnswered'))
        expect(state.calls.size).toBe(0)
        for (const counter of state.counters.values()) expect(counter.live).toBe(0)

        const orders = Map.groupBy(dialled, ({ callId, attempt }) => `${callId}#${attempt}`)
        for (const same of orders.values()) expect(new Set(same.map(({ commandId }) => commandId)).size).toBe(1)

        const claims = claimsOf(events)
        for (const [key, mine] of [
          ...ids.map((id) => [counterKey('target', id), ({ target }: Claim) => target.id === id] as const),
          [counterKey('buyer', world.buyerId), () => true] as const,
        ]) {
          const counted = claims.filter(({ claim, counts }) => counts && mine(claim))
          const expected: Record<string, number> = {}
          for (const { claim } of counted)
            for (const window of Object.values(windowsOf(claim.occurredAt)))
              expected[window] = (expected[window] ?? 0) + 1
          const counter = state.counters.get(key)
          expect(requests(counter?.taken.toObject() ?? {})).toEqual(requests(expected))
          expect(counter?.total ?? 0).toBe(counted.length)
        }
      }),
      { numRuns: 200 },
    ))
})
