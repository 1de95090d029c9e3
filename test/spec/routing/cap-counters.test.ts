import { describe, expect, it } from 'vitest'
import { callerMemory } from '../../../projections/routing/caller-memory.ts'
import { capCounters } from '../../../projections/routing/cap-counters.ts'
import { callerKey, connectionKey, laneCallerKey, targetCallerKey } from '../../../src/domain/routing/callers.ts'
import { ledger } from '../../../src/domain/routing/ledger.ts'
import { laneId } from '../../../src/domain/supply/lane.ts'
import {
  anotherTarget,
  CALLER,
  type CallWorld,
  callWorld,
  changeSteps,
  instantAfter,
} from '../../support/fixtures/call-world.ts'
import { type CallScript, playCalls } from '../../support/fixtures/play-call.ts'
import { project } from '../../support/fixtures/project.ts'
import { NOW, recordedEvents, WORKSPACE } from '../../support/fixtures/spec.ts'

const world = callWorld()
const HOUR = '2026-03-10T15'

async function countedIn(on: CallWorld, ...scripts: readonly CallScript[]) {
  const docs = await project(capCounters, recordedEvents(ledger, playCalls(on, ...scripts).ledger))
  return {
    campaign: docs[`campaign:${on.campaignId}`],
    lane: docs[`lane:${laneId(on.campaignId, on.publisherId)}`],
    target: docs[`target:${on.targetId()}`],
    buyer: docs[`buyer:${on.buyerId}`],
  }
}

const one = { hours: { [HOUR]: 1 }, days: { '2026-03-10': 1 }, months: { '2026-03': 1 }, total: 1 }
const none = { hours: {}, days: {}, months: {}, total: 0 }

describe('cap counters', () => {
  it('counts an arrival on campaign and lane at once, without slots that a dial only holds', async () => {
    const { campaign, lane, target, buyer } = await countedIn(world, { dials: [], overAfter: null })
    expect(campaign).toMatchObject({ kind: 'campaign', liveCalls: 1, ...one })
    expect(lane).toMatchObject({ kind: 'lane', liveCalls: 1, ...one })
    expect(target).toMatchObject({ kind: 'target', liveCalls: 1, ...none, health: null })
    expect(buyer).toMatchObject({ kind: 'buyer', liveCalls: 1, ...none })
  })

  it.each([
    ['claimed', { dials: [], overAfter: null }, one],
    ['connected', { overAfter: null }, one],
    ['converted', { settled: false }, none],
    ['converted', {}, one],
  ] as const)('counts a call on target and buyer when %s', async (capCountsOn, script, counts) => {
    const on = callWorld(changeSteps.target({ capCountsOn }), changeSteps.campaign({ bufferSeconds: 60 }))
    const { target, buyer } = await countedIn(on, script)
    expect(target).toMatchObject(counts)
    expect(buyer).toMatchObject(counts)
  })

  it('moves a call in progress from the failed target to the next one', async () => {
    const two = callWorld(...anotherTarget(1, {}, { priority: 200 }))
    const failed: CallScript = { dials: [['busy', 2]], overAfter: null }
    const docs = await project(capCounters, recordedEvents(ledger, playCalls(two, failed).ledger))
    expect(docs[`target:${two.targetId(0)}`]).toMatchObject({ liveCalls: 0, total: 0 })
    expect(docs[`target:${two.targetId(1)}`]).toMatchObject({ liveCalls: 1, total: 0 })
    expect(docs[`buyer:${two.buyerId}`]).toMatchObject({ liveCalls: 1 })
  })

  it('has no calls in progress after the end, and revenue and payout on the day of the settlement', async () => {
    const paid = callWorld(changeSteps.lane({ payoutMode: 'fixed', payoutCents: 1_500 }))
    const counted = await countedIn(paid, {}, { at: '2026-03-11T01:00:00.000Z' })
    for (const doc of Object.values(counted)) expect(doc).toMatchObject({ liveCalls: 0, total: 2 })
    const sold = { '2026-03-10': 4_000, '2026-03-11': 4_000 }
    expect(counted.target).toMatchObject({ revenueDays: sold, payoutDays: {} })
    expect(counted.buyer).toMatchObject({ revenueDays: sold })
    expect(counted.lane).toMatchObject({ revenueDays: {}, payoutDays: { '2026-03-10': 1_500, '2026-03-11': 1_500 } })
    expect(counted.campaign).toMatchObject({ revenueDays: {}, payoutDays: {} })
  })

  it('drops windows past their retention', async () => {
    const at = '2026-03-14T10:00:00.000Z'
    const both = playCalls(world, {}, { at }).ledger
    const first = playCalls(world, {}).ledger
    const later = recordedEvents(ledger, both.slice(first.length), { from: first.length, at })
    const docs = await project(capCounters, [...recordedEvents(ledger, first), ...later])
    expect(docs[`target:${world.targetId()}`]).toMatchObject({
      hours: { '2026-03-14T10': 1 },
      days: { '2026-03-10': 1, '2026-03-14': 1 },
      months: { '2026-03': 2 },
      total: 2,
    })
  })

  it('shows the health of a target by its failures in a row, until a call connects', async () => {
    const failure: CallScript = { dials: [['no_answer', 25]], overAfter: 0 }
    const healthAfter = async (...scripts: readonly CallScript[]) => (await countedIn(world, ...scripts)).target
    expect(await healthAfter(failure)).toMatchObject({
      health: { health: 'degraded', lastError: 'no_answer', consecutiveFailures: 1, suppressedUntil: null },
    })
    expect(await healthAfter(failure, failure, failure)).toMatchObject({
      health: { health: 'down', consecutiveFailures: 3 },
    })
    expect(await healthAfter(failure, failure, failure, {})).toMatchObject({
      health: { health: 'healthy', lastError: 'no_answer', consecutiveFailures: 0 },
    })
    expect(await healthAfter({ dials: [], overAfter: 4 })).toMatchObject({ health: null, liveCalls: 0 })
  })
})

describe('the projection of callers', () => {
  const seen = async (...scripts: readonly CallScript[]) =>
    project(callerMemory, recordedEvents(ledger, playCalls(world, ...scripts).ledger))
  const admission = callerKey(world.campaignId, CALLER)
  const lane = laneCallerKey(laneId(world.campaignId, world.publisherId), CALLER)
  const reached = targetCallerKey(world.targetId(), CALLER)
  const doc = (at: string, targetId: string | null) => ({ workspaceId: WORKSPACE, at, targetId })
  const letIn = (at: string) => ({ [admission]: doc(at, null), [lane]: doc(at, null) })
  const connected = (at: string) => {
    const answer = doc(at, world.targetId())
    return { [connectionKey(admission)]: answer, [reached]: answer }
  }

  it('has the last sighting of a caller by campaign and lane, and the target that answered', async () => {
    expect(await seen({ dials: [], overAfter: null })).toEqual(letIn(NOW))
    expect(await seen({})).toEqual({ ...letIn(NOW), ...connected(instantAfter(3)) })
    expect(await seen({ caller: null })).toEqual({})
  })

  it('keeps the connected target through later unanswered calls, and the latest sighting of calls in any order', async () => {
    const lost: CallScript = { at: instantAfter(600), dials: [], overAfter: 4 }
    expect(await seen({}, lost)).toEqual({ ...letIn(instantAfter(600)), ...connected(instantAfter(3)) })
    expect(await seen(lost, {})).toEqual({ ...letIn(instantAfter(600)), ...connected(instantAfter(3)) })
    expect(await seen({}, { at: instantAfter(-600) })).toEqual({ ...letIn(NOW), ...connected(instantAfter(3)) })
  })
})
