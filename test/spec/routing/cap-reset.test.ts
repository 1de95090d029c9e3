import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { settleCall } from '../../../commands/calls/settle-call.ts'
import { countAnswer } from '../../../commands/routing/count-answer.ts'
import { countSettlement } from '../../../commands/routing/count-settlement.ts'
import { failOver } from '../../../commands/routing/fail-over.ts'
import { releaseCall } from '../../../commands/routing/release-call.ts'
import { resetTargetCaps } from '../../../commands/routing/reset-target-caps.ts'
import { capCounters } from '../../../projections/routing/cap-counters.ts'
import { counterOf } from '../../../src/domain/routing/counters.ts'
import { ledger } from '../../../src/domain/routing/ledger.ts'
import type { NewEvent } from '../../../src/kernel/event.ts'
import {
  callEventsOf,
  callWorld,
  changeSteps,
  decisionEvent,
  instantAfter,
  noticeSteps,
  nthCallId,
  routeArrival,
} from '../../support/fixtures/call-world.ts'
import { project } from '../../support/fixtures/project.ts'
import { given, idOf, NOW, recordedEvents } from '../../support/fixtures/spec.ts'

const ZEROS = { hour: 0, day: 0, month: 0, total: 0, dayRevenueCents: 0 }
const DAY = '2026-03-10'

describe.each(['claimed', 'connected', 'converted'] as const)('a target whose caps count on %s', (capCountsOn) => {
  const world = callWorld(
    changeSteps.target({ capCountsOn, dailyCap: 1, totalCap: 1 }),
    changeSteps.campaign({ bufferSeconds: 60 }),
  )
  const targetId = world.targetId()
  const arrival = routeArrival(world)
  const callId = nthCallId(1)
  const answer = { callId, attempt: 1, occurredAt: instantAfter(4) }
  const release = { callId, connected: true, occurredAt: instantAfter(64) }
  const life = callEventsOf(arrival, noticeSteps.answer(1, 4), noticeSteps.end(64), [settleCall, { callId }])
  const settlement = life.at(-1)?.data

  const reset = (events: readonly NewEvent[]) =>
    given(ledger, events).when(resetTargetCaps, { targetId }, { reads: world.reads })
  const answered = () => given(ledger, arrival.events).when(countAnswer, answer).events
  const settled = (events: readonly NewEvent[]) => {
    const released = given(ledger, events).when(releaseCall, release).events
    return given(ledger, released).when(countSettlement, settlement).events
  }
  const look = async (events: readonly NewEvent[]) => {
    const { state } = given(ledger, events).when(countAnswer, { ...answer, callId: nthCallId(99) })
    const docs = await project(capCounters, recordedEvents(ledger, events))
    const figures = (kind: 'target' | 'buyer', id: string) => {
      const counter = counterOf(state, kind, id)
      const found = docs[`${kind}:${id}`]
      const doc = found && capCounters.doc.parse(found)
      const counts = [counter.taken.get(DAY, 0), counter.total, counter.cents.get(DAY, 0), counter.live]
      const shown = doc && [doc.days[DAY] ?? 0, doc.total, doc.revenueDays[DAY] ?? 0, doc.liveCalls]
      return { counts, shown }
    }
    return { target: figures('target', targetId), buyer: figures('buyer', world.buyerId) }
  }

  it('counts from zero after a reset and takes calls at once', async () => {
    const full = settled(answered())
    const again = () => routeArrival(world, { callId: nthCallId(2), caller: '+14155550177' }, full)
    again().gives([{ type: 'CallAdmitted', data: { claim: null, skipped: [{ reason: 'capped' }] } }])
    const cleared = reset(full)
    cleared.gives([
      {
        type: 'TargetCapsReset',
        data: {
          targetId,
          targetName: 'Front desk',
          occurredAt: NOW,
          cleared: { hour: 1, day: 1, month: 1, total: 1, dayRevenueCents: 4_000 },
        },
      },
    ])
    const { target, buyer } = await look(cleared.events)
    expect(target).toEqual({ counts: [0, 0, 0, 0], shown: [0, 0, 0, 0] })
    expect(buyer).toEqual({ counts: [1, 1, 4_000, 0], shown: [1, 1, 4_000, 0] })
    const next = routeArrival(world, { callId: nthCallId(2), caller: '+14155550177' }, cleared.events)
    expect(decisionEvent(next)).toMatchObject({ type: 'CallAdmitted', data: { claim: { target: { id: targetId } } } })
    reset(cleared.events).gives([{ type: 'TargetCapsReset', data: { cleared: ZEROS } }])
  })

  it('counts a call claimed before the reset on its buyer only, however late it is answered and settled', async () => {
    const cleared = reset(arrival.events)
    cleared.gives([
      {
        type: 'TargetCapsReset',
        data: { cleared: capCountsOn === 'claimed' ? { ...ZEROS, hour: 1, day: 1, month: 1, total: 1 } : ZEROS },
      },
    ])
    expect((await look(cleared.events)).target.counts).toEqual([0, 0, 0, 1])
    reset(cleared.events).gives([{ type: 'TargetCapsReset', data: { cleared: ZEROS } }])
    const late = settled(given(ledger, cleared.events).when(countAnswer, answer).events)
    const { target, buyer } = await look(late)
    expect(target).toEqual({ counts: [0, 0, 0, 0], shown: [0, 0, 0, 0] })
    expect(buyer).toEqual({ counts: [1, 1, 4_000, 0], shown: [1, 1, 4_000, 0] })
  })

  it('frees no slot in the new window for a call claimed before the reset', async () => {
    const second = (events: readonly NewEvent[]) =>
      routeArrival(world, { callId: nthCallId(2), caller: '+14155550177' }, events).events
    const busy = { callId, attempt: 1, outcome: 'busy', occurredAt: instantAfter(5) }
    const both = second(reset(arrival.events).events)
    const failed = given(ledger, both).when(failOver, busy, { reads: world.reads }).events
    const gone = given(ledger, both).when(releaseCall, { ...release, connected: false }).events
    const released = given(ledger, given(ledger, both).when(countAnswer, answer).events).when(releaseCall, release)
    const unsold = given(ledger, released.events).when(countSettlement, {
      ...z.object({}).loose().parse(settlement),
      converted: false,
      revenueCents: 0,
    }).events
    for (const [events, keeps] of [
      [failed, ['claimed']],
      [gone, ['claimed']],
      [unsold, ['claimed', 'connected']],
    ] as const) {
      const { target, buyer } = await look(events)
      expect(target.counts).toEqual([1, 1, 0, 1])
      const held = keeps.some((each) => each === capCountsOn) ? 2 : 1
      expect(buyer.counts).toEqual([held, held, 0, 1])
    }
  })
})

describe('reset-target-caps', () => {
  const world = callWorld()

  it('refuses an unknown target, and records zeros when nothing was counted', () => {
    given(ledger)
      .when(resetTargetCaps, { targetId: idOf(9) }, { reads: world.reads })
      .gives({ refused: 'target-not-found' })
    given(ledger)
      .when(resetTargetCaps, { targetId: world.targetId() }, { reads: world.reads })
      .gives([{ type: 'TargetCapsReset', data: { cleared: ZEROS } }])
  })

  it('excludes earlier dials also when every count was zero', () => {
    const failed = { callId: nthCallId(1), attempt: 1, outcome: 'busy', occurredAt: instantAfter(5) }
    const { events } = given(ledger, routeArrival(world).events).when(failOver, failed, { reads: world.reads })
    const target = { targetId: world.targetId() }
    const reset = given(ledger, events).when(resetTargetCaps, target, { reads: world.reads })
    reset.gives([{ type: 'TargetCapsReset', data: { cleared: ZEROS } }])
  })

  it('changes no counter or call of another target', () => {
    const arrival = routeArrival(world)
    const before = counterOf(arrival.state, 'campaign', world.campaignId)
    const { state } = given(ledger, arrival.events).when(
      resetTargetCaps,
      { targetId: world.targetId() },
      { reads: world.reads },
    )
    expect(counterOf(state, 'campaign', world.campaignId)).toEqual(before)
    expect(counterOf(state, 'buyer', world.buyerId)).toEqual(counterOf(arrival.state, 'buyer', world.buyerId))
  })
})
