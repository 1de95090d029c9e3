import { describe, expect, it } from 'vitest'
import { adjustCall } from '../../../commands/calls/adjust-call.ts'
import { postConversion } from '../../../commands/calls/post-conversion.ts'
import { settleCall } from '../../../commands/calls/settle-call.ts'
import { countAnswer } from '../../../commands/routing/count-answer.ts'
import { countSettlement } from '../../../commands/routing/count-settlement.ts'
import { recountCall } from '../../../commands/routing/recount-call.ts'
import { releaseCall } from '../../../commands/routing/release-call.ts'
import { resetTargetCaps } from '../../../commands/routing/reset-target-caps.ts'
import { bookedCalls } from '../../../projections/routing/booked-calls.ts'
import { capCounters } from '../../../projections/routing/cap-counters.ts'
import { call } from '../../../src/domain/calls/call.ts'
import { counterOf } from '../../../src/domain/routing/counters.ts'
import { type LedgerState, ledger } from '../../../src/domain/routing/ledger.ts'
import type { AnyCommand } from '../../../src/kernel/command.ts'
import type { NewEvent } from '../../../src/kernel/event.ts'
import { emptyFold, foldEvents } from '../../../src/runtime/write/fold.ts'
import {
  callEventsOf,
  callWorld,
  changeSteps,
  instantAfter,
  noticeSteps,
  nthCallId,
  routeArrival,
} from '../../support/fixtures/call-world.ts'
import { project } from '../../support/fixtures/project.ts'
import { given, NOW, recordedEvents } from '../../support/fixtures/spec.ts'
import type { SetupStep } from '../../support/fixtures/workspace-fixture.ts'

const callId = nthCallId(1)
const TODAY = NOW.slice(0, 10)
const HOUR = NOW.slice(0, 13)
const strict = changeSteps.target({ durationThresholdSeconds: 30, capCountsOn: 'converted' })
const paid = changeSteps.lane({ payoutMode: 'revshare', revsharePct: 50 })
const buffer = changeSteps.campaign({ bufferSeconds: 60 })

/** The ledger's inputs, in order, of a call with a talk time in seconds that settles and is then changed by commands. */
function changed(talk: number, changes: readonly (readonly [AnyCommand, object])[], ...steps: readonly SetupStep[]) {
  const world = callWorld(strict, paid, buffer, ...steps)
  const arrival = routeArrival(world)
  const settled = callEventsOf(arrival, noticeSteps.answer(1, 4), noticeSteps.end(4 + talk), [settleCall, { callId }])
  const events = changes.reduce(
    (before, [command, input]) =>
      given(call, before).when(
        command,
        { callId, ...input },
        { at: instantAfter(90_000), commandId: `${before.length}` },
      ).events,
    settled,
  )
  const heard = (type: string) => events.filter((event) => event.type === type).map(({ data }) => data)
  return { world, arrival, settlement: heard('CallSettled')[0], changes: heard('BooksChanged') }
}

const answer = [countAnswer, { callId, attempt: 1, occurredAt: instantAfter(4) }] as const
const release = [releaseCall, { callId, connected: true, occurredAt: instantAfter(14) }] as const
const adjust = (figures: object) => [adjustCall, { reason: 'Agreed', ...figures }] as const
const convert = [postConversion, { converted: true }] as const

type Played = ReturnType<typeof changed>
type Heard = readonly [AnyCommand, unknown]
const settles = ({ settlement }: Played): Heard => [countSettlement, settlement]
const recounts = ({ changes }: Played): readonly Heard[] => changes.map((change) => [recountCall, change] as const)

function ledgerAfter({ world, arrival }: Played, ...heard: readonly Heard[]): readonly NewEvent[] {
  const { workspace } = world.reads
  return heard.reduce<readonly NewEvent[]>(
    (events, [command, input]) => given(ledger, events).when(command, input, { reads: { workspace } }).events,
    arrival.events,
  )
}

const stateOf = (events: readonly NewEvent[]) => given(ledger, events).when(...answer).state
const centsOf = (state: LedgerState, kind: 'target' | 'buyer' | 'lane', id: string) =>
  counterOf(state, kind, id)
    .cents.filter((cents) => cents > 0)
    .toObject()

/** The ledger's counts of target, buyer and lane. */
function countsIn(played: Played, events: readonly NewEvent[]) {
  const { world } = played
  const state = stateOf(events)
  return {
    target: centsOf(state, 'target', world.targetId()),
    buyer: centsOf(state, 'buyer', world.buyerId),
    lane: centsOf(state, 'lane', `${world.campaignId}:${world.publisherId}`),
    slots: counterOf(state, 'target', world.targetId())
      .taken.filter((count) => count > 0)
      .toObject(),
  }
}

const usual = [answer, release] as const
const SLOT = { [HOUR]: 1, [TODAY]: 1, [TODAY.slice(0, 7)]: 1 }

describe('recount-call', () => {
  it('counts a late conversion on the day of the settlement, and its slot in the windows of the dial', () => {
    const played = changed(10, [convert])
    const settled = ledgerAfter(played, ...usual, settles(played))
    expect(countsIn(played, settled)).toEqual({ target: {}, buyer: {}, lane: {}, slots: {} })
    const counts = countsIn(played, ledgerAfter(played, ...usual, settles(played), ...recounts(played)))
    expect(counts).toEqual({
      target: { [TODAY]: 4_000 },
      buyer: { [TODAY]: 4_000 },
      lane: { [TODAY]: 2_000 },
      slots: SLOT,
    })
  })

  it('counts each correction, up and down, and gives a slot back with its conversion', () => {
    const steps = [adjust({ revenueCents: 9_000 }), adjust({ payoutCents: 1 }), adjust({ converted: false })]
    const played = changed(60, steps)
    const heard = recounts(played)
    const after = (n: number) => countsIn(played, ledgerAfter(played, ...usual, settles(played), ...heard.slice(0, n)))
    expect(after(1)).toMatchObject({ target: { [TODAY]: 9_000 }, lane: { [TODAY]: 4_500 }, slots: SLOT })
    expect(after(2)).toMatchObject({ buyer: { [TODAY]: 9_000 }, lane: { [TODAY]: 1 }, slots: SLOT })
    expect(after(3)).toMatchObject({ target: { [TODAY]: 9_000 }, lane: { [TODAY]: 1 }, slots: {} })
  })

  it('gives the same counts in any order, with repeats, though the settlement comes last', () => {
    const played = changed(10, [convert, adjust({ revenueCents: 700 }), adjust({ converted: false })])
    const [first, second, third] = recounts(played) as [Heard, Heard, Heard]
    const straight = countsIn(played, ledgerAfter(played, ...usual, settles(played), first, second, third))
    for (const order of [
      [settles(played), third, first, second],
      [settles(played), second, second, third, third, settles(played)],
      [third, settles(played), first, second],
      [first, settles(played), settles(played), third, second],
      [second, third, first],
    ]) {
      expect(countsIn(played, ledgerAfter(played, ...usual, ...order))).toEqual(straight)
      expect(countsIn(played, ledgerAfter(played, ...order)), 'nothing else was told').toEqual(straight)
      expect(stateOf(ledgerAfter(played, ...order)).calls.size).toBe(0)
    }
  })

  it('counts on the buyer only when the target’s caps were reset since', () => {
    const played = changed(60, [adjust({ revenueCents: 9_000 })])
    const reset = [resetTargetCaps, { targetId: played.world.targetId() }] as const
    const counts = (...heard: readonly Heard[]) => countsIn(played, ledgerAfter(played, ...usual, ...heard))
    const resetAfter = counts(settles(played), reset, ...recounts(played))
    expect(resetAfter).toMatchObject({ target: {}, buyer: { [TODAY]: 9_000 }, slots: {} })
    const resetBefore = counts(reset, settles(played), ...recounts(played))
    expect(resetBefore).toMatchObject({ target: {}, buyer: { [TODAY]: 9_000 }, slots: {} })
    const resetBetween = counts(reset, ...recounts(played))
    expect(resetBetween).toMatchObject({ target: {}, buyer: { [TODAY]: 9_000 } })
  })

  it('counts on the target a call claimed after a reset', () => {
    const played = changed(60, [adjust({ revenueCents: 9_000 })])
    const { workspace } = played.world.reads
    const targetId = played.world.targetId()
    const earlier = {
      type: 'TargetCapsReset',
      data: {
        targetId,
        targetName: 'Front desk',
        occurredAt: NOW,
        cleared: { hour: 0, day: 0, month: 0, total: 0, dayRevenueCents: 0 },
      },
    }
    const heard = [...usual, settles(played), ...recounts(played)]
    const events = heard.reduce<readonly NewEvent[]>(
      (before, [command, input]) => given(ledger, before).when(command, input, { reads: { workspace } }).events,
      [earlier, ...played.arrival.events],
    )
    expect(countsIn(played, events)).toMatchObject({ target: { [TODAY]: 9_000 } })
  })

  it('notifies a revenue cap that a late figure reaches', () => {
    const capped = changeSteps.target({ dailyRevenueCapCents: 5_000 })
    const played = changed(60, [adjust({ revenueCents: 5_000 }), adjust({ revenueCents: 6_000 })], capped)
    const types = ledgerAfter(played, ...usual, settles(played), ...recounts(played)).map(({ type }) => type)
    expect(types.slice(types.indexOf('CallCounted'))).toEqual([
      'CallCounted',
      'CallRecounted',
      'TargetCapped',
      'CallRecounted',
    ])
  })

  it('counts the payout of a call that did not connect', () => {
    const world = callWorld(strict, paid)
    const arrival = routeArrival(world)
    const missed = given(call, callEventsOf(arrival, noticeSteps.end(8))).when(adjustCall, {
      callId,
      payoutCents: 7,
      reason: 'Goodwill',
    })
    const change = missed.events.find(({ type }) => type === 'BooksChanged')?.data
    const played = { world, arrival, settlement: null, changes: [change] }
    const released = [releaseCall, { callId, connected: false, occurredAt: instantAfter(8) }] as const
    for (const heard of [
      [released, ...recounts(played)],
      [...recounts(played), ...recounts(played), released],
    ]) {
      expect(countsIn(played, ledgerAfter(played, ...heard))).toMatchObject({
        target: {},
        buyer: {},
        lane: { [TODAY]: 7 },
      })
    }
  })

  it('changes the projection of the cap counters', async () => {
    const played = changed(10, [convert, adjust({ revenueCents: 700 }), adjust({ converted: false, revenueCents: 0 })])
    const { targetId, buyerId, campaignId, publisherId } = played.world
    const shown = async (n: number) => {
      const events = ledgerAfter(played, ...usual, settles(played), ...recounts(played).slice(0, n))
      const docs = await project(capCounters, recordedEvents(ledger, events))
      return [docs[`target:${targetId()}`], docs[`buyer:${buyerId}`], docs[`lane:${campaignId}:${publisherId}`]]
    }
    const sold = (cents: number, total: number) => ({
      revenueDays: { [TODAY]: cents },
      total,
      days: total ? { [TODAY]: total } : {},
    })
    expect(await shown(0)).toMatchObject([sold(0, 0), sold(0, 0), { payoutDays: { [TODAY]: 0 } }])
    expect(await shown(1)).toMatchObject([sold(4_000, 1), sold(4_000, 1), { payoutDays: { [TODAY]: 2_000 } }])
    expect(await shown(2)).toMatchObject([sold(700, 1), sold(700, 1), { payoutDays: { [TODAY]: 350 } }])
    const back = { revenueDays: { [TODAY]: 0 }, total: 0, days: { [TODAY]: 0 } }
    expect(await shown(3)).toMatchObject([back, back, { payoutDays: { [TODAY]: 0 } }])
  })

  it('looks up a call that the fold has dropped', async () => {
    const played = changed(10, [convert, adjust({ revenueCents: 700 })])
    const events = ledgerAfter(played, ...usual, settles(played), ...recounts(played).slice(0, 1))
    const memory = (await project(bookedCalls, recordedEvents(ledger, events)))[callId]
    expect(memory).toMatchObject({ change: 1, converted: true, revenueCents: 4_000, resetSince: false })
    const old = foldEvents(ledger, emptyFold(ledger), recordedEvents(ledger, events))
    const later = ['2026-03-10T17:00:00.000Z', '2026-03-10T19:00:00.000Z'].reduce((fold, at, n) => {
      const other = { ...(events.at(-1)?.data as object), callId: nthCallId(50 + n) }
      const [event] = recordedEvents(ledger, [{ type: 'CallRecounted', data: other }], { from: fold.revision + 1, at })
      return foldEvents(ledger, fold, event ? [event] : [])
    }, old)
    const [first, second] = played.changes.map((change) => recountCall.input.parse(change))
    const recalled = { ...memory }
    for (const change of [first, second]) {
      if (!change) throw new Error('There is no such change.')
      const reads = { workspace: played.world.reads.workspace }
      const [recall] = recountCall.lookups(change, later.state, reads)
      expect(recall).toMatchObject({ memory: { name: 'booked-calls' }, id: callId })
      const outcome = recountCall.decide(change, later.state, {
        now: NOW,
        workspaceId: '',
        actor: { type: 'system', id: null, name: 'Spec' },
        commandId: 'command',
        newId: () => callId,
        seed: 1,
        reads,
        revisions: {},
        lookUp: (asked) => asked.doc.parse(recalled),
      })
      const delta = { before: { revenueCents: 4_000 }, after: { revenueCents: 700 }, revision: recalled.revision }
      expect(outcome).toMatchObject(change === first ? [] : [{ type: 'CallRecounted', data: delta }])
    }
  })
})
