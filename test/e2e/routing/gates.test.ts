import { expect } from 'vitest'
import { setCampaignStatus } from '../../../commands/campaigns/set-campaign-status.ts'
import { setTargetStatus } from '../../../commands/demand/set-target-status.ts'
import { blockCaller } from '../../../commands/routing/block-caller.ts'
import { assignNumber } from '../../../commands/supply/assign-number.ts'
import { setLane } from '../../../commands/supply/set-lane.ts'
import type { StreamWriter } from '../../../src/runtime/write/stream-writer.ts'
import { type Json, queryString } from '../../support/e2e/api-client.ts'
import { documentCode } from '../../support/e2e/document-2.ts'
import { waitUntil } from '../../support/e2e/server.ts'
import { suite } from '../../support/e2e/suite.ts'
import { answerScript, createTenantClient, detailsOf, minutesAgo, stepsOf } from '../../support/e2e/tenant-client.ts'
import { cancelSubscription, createTenantWorkspace } from '../../support/e2e/world.ts'

const GATES = [
  'subscription',
  'wallet',
  'campaign_status',
  'blocked_caller',
  'anonymous_caller',
  'hours',
  'campaign_cap',
  'repeat_caller',
]
const SHUT = { tz: 'UTC', days: { mon: [['00:00', '00:01']], tue: [], wed: [], thu: [], fri: [], sat: [], sun: [] } }
/** The last Wednesday noon, when `SHUT` is closed. */
function wednesdayNoon(): string {
  const day = new Date(Date.now() - 86_400_000)
  while (day.getUTCDay() !== 3) day.setUTCDate(day.getUTCDate() - 1)
  return `${day.toISOString().slice(0, 10)}T12:00:00.000Z`
}

async function world(writer: StreamWriter) {
  const main = await createTenantWorkspace(writer, { name: 'Main' })
  const buyer = await main.buyer({ name: 'Buyer' })
  const desk = await main.target(buyer, { name: 'Desk' })
  const off = await main.target(buyer, { name: 'Off', status: 'active' })
  const lines = {
    open: await main.line({ name: 'Open' }, [desk]),
    paused: await main.line({ name: 'Resting' }, [desk]),
    anonymous: await main.line({ name: 'Known callers', anonymousPolicy: 'block' }, [desk]),
    shut: await main.line({ name: 'Shut', hoursSchedule: SHUT }, [desk]),
    daily: await main.line({ name: 'Two a day', dailyCap: 2 }, [desk]),
    single: await main.line({ name: 'One at once', concurrencyCap: 1 }, [desk]),
    once: await main.line({ name: 'Once', repeatCallerPolicy: 'block', dedupeWindowSeconds: 7_200 }, [desk]),
    same: await main.line({ name: 'Same again', repeatCallerPolicy: 'same_target', dedupeWindowSeconds: 86_400 }, [
      off,
      desk,
    ]),
    message: await main.line(
      { name: 'Sorry', dailyCap: 1, unroutedAction: 'message', unroutedMessage: 'Try tomorrow.' },
      [desk],
    ),
    forward: await main.line(
      { name: 'Forwarding', dailyCap: 1, unroutedAction: 'forward', unroutedForwardE164: '+14155550111' },
      [desk],
    ),
    blocking: await main.line({ name: 'Blocking' }, [desk]),
    lane: await main.line({ name: 'Laned' }, [desk], { publisherId: await main.publisher({ name: 'North' }) }),
  }
  await main.act(setCampaignStatus, { campaignId: lines.paused.campaignId, status: 'paused', note: 'Resting' })
  await main.act(blockCaller, { callerNumber: '+14155550199' })
  await main.act(blockCaller, { callerNumber: '(415) 555-0198', campaignId: lines.blocking.campaignId })
  const publisherId: Json = await main.act(setLane, {
    campaignId: lines.open.campaignId,
    publisherId: await main.publisher({ name: 'South' }),
    terms: { active: false },
    key: { prefix: 'rk_x', hash: 'f'.repeat(64) },
  })
  const south = await main.number()
  await main.act(assignNumber, {
    numberId: south.numberId,
    campaignId: lines.open.campaignId,
    publisherId: publisherId[0].data.lane.publisherId,
  })
  const stray = await main.number()

  const lapsed = await createTenantWorkspace(writer, { name: 'Lapsed' })
  const lapsedLine = await lapsed.line({ name: 'Open' }, [await lapsed.target(await lapsed.buyer({ name: 'Buyer' }))])
  await cancelSubscription(lapsed)
  const poor = await createTenantWorkspace(writer, { name: 'Poor', fundCents: 1 })
  const poorLine = await poor.line({ name: 'Open' }, [await poor.target(await poor.buyer({ name: 'Buyer' }))])
  await main.act(setTargetStatus, { targetId: off, status: 'paused' })
  return { main, lines, south, stray, lapsed, lapsedLine, poor, poorLine }
}

const { it, main, the, server } = suite('gates', world, { stores: 'embedded' })

/** Expects all that the documents state of a call refused by a gate. */
function expectTurnedAway({ call, story }: Json, gate: string, reason: string, sentence: string | RegExp) {
  expect(call).toMatchObject({
    status: 'rejected',
    outcome: 'unrouted',
    reasonCode: reason,
    endedReason: reason,
    buyer: null,
    target: null,
    attemptCount: 0,
    answeredAt: null,
    talkSeconds: 0,
    revenueCents: 0,
    payoutCents: 0,
    usageCents: 0,
    converted: false,
    hungUpBy: 'platform',
    recordings: [],
    recordingsReason: 'never_answered',
  })
  if (typeof sentence === 'string') expect(call.reasonSentence).toBe(sentence)
  else expect(call.reasonSentence).toMatch(sentence)
  expect(stepsOf(story).slice(0, 3)).toEqual(['incoming', 'gates', 'unrouted'])
  expect(detailsOf(story, 'gates')).toEqual([{ passed: GATES.slice(0, GATES.indexOf(gate)), failed: gate }])
  expect(story.summary).toEqual({ outcome: 'unrouted', sentence: call.reasonSentence })
  expect(story.attempts).toEqual([])
}

it('a call that passes every gate lists all eight, in order', async () => {
  const { story } = await main.playCall({ to: the.lines.open.e164 })
  expect(detailsOf(story, 'gates')).toEqual([{ passed: GATES, failed: null }])
})

it(`subscription: a lapsed workspace takes no calls (${documentCode('unrouted: workspace_inactive')})`, async () => {
  const lapsed = createTenantClient(server, the.lapsed)
  const turned = await lapsed.playCall({ to: the.lapsedLine.e164 })
  expectTurnedAway(turned, 'subscription', 'workspace_inactive', /subscription/i)
})

it(`wallet: a workspace whose usage emptied its wallet takes no more (${documentCode('unrouted: workspace_unfunded')})`, async () => {
  const poor = createTenantClient(server, the.poor)
  const first = await poor.playCall({ to: the.poorLine.e164, at: minutesAgo(30) })
  expect(first.call).toMatchObject({ outcome: 'converted', usageCents: 3 })
  expectTurnedAway(await poor.playCall({ to: the.poorLine.e164 }), 'wallet', 'workspace_unfunded', /wallet.*-2/i)
})

it(`campaign status: a paused campaign and a lane switched off are not live (${documentCode('unrouted: campaign_not_live')})`, async () => {
  expectTurnedAway(
    await main.playCall({ to: the.lines.paused.e164 }),
    'campaign_status',
    'campaign_not_live',
    /Resting/,
  )
  const lane = await main.playCall({ to: the.south.e164 })
  expectTurnedAway(lane, 'campaign_status', 'campaign_not_live', /South/)
  expect(lane.call).toMatchObject({ publisher: { name: 'South' }, payoutCents: 0 })
})

it(`a call on a number with no campaign is recorded without one (${documentCode('attribution: direct')})`, async () => {
  const placed = await main.placeCall({ to: the.stray.e164, mode: 'instant' })
  expect(placed.status, placed.text).toBe(201)
  const { call } = await main.readCall(placed.body.callId)
  expect(call).toMatchObject({
    campaign: null,
    attribution: 'direct',
    routingMode: null,
    reasonCode: 'campaign_not_live',
    dialedNumberId: the.stray.numberId,
  })
})

it(`blocked caller: workspace-wide and on one campaign, by the last ten digits (${documentCode('unrouted: caller_blocked')})`, async () => {
  const { blocking, open } = the.lines
  expectTurnedAway(
    await main.playCall({ to: open.e164, from: '+14155550199' }),
    'blocked_caller',
    'caller_blocked',
    /block/i,
  )
  const one = await main.playCall({ to: blocking.e164, from: '+14155550198' })
  expectTurnedAway(one, 'blocked_caller', 'caller_blocked', /Blocking/)
  const elsewhere = await main.playCall({ to: open.e164, from: '+14155550198' })
  expect(elsewhere.call.reasonCode).toBeNull()
})

it(`anonymous caller: a hidden number is turned away where the campaign says so (${documentCode('unrouted: anonymous_blocked')})`, async () => {
  const turned = await main.playCall({ to: the.lines.anonymous.e164, from: null })
  expectTurnedAway(turned, 'anonymous_caller', 'anonymous_blocked', /Known callers/)
  expect(turned.call).toMatchObject({ callerNumber: null, callerState: null })
  const open = await main.playCall({ to: the.lines.open.e164, from: null })
  expect(open.call).toMatchObject({ outcome: 'converted', callerNumber: null })
})

it(`hours: a closed campaign says the context-free sentence (${documentCode('unrouted: campaign_closed')})`, async () => {
  const turned = await main.playCall({ to: the.lines.shut.e164, at: wednesdayNoon() })
  expectTurnedAway(turned, 'hours', 'campaign_closed', 'The call arrived outside campaign hours.')
})

it(`campaign cap: the daily cap counts admitted calls of the UTC day of the call (${documentCode('unrouted: campaign_capped')})`, async () => {
  const { e164: to } = the.lines.daily
  const days = [2, 3].map(
    (ago) => `${new Date(Date.now() - ago * 86_400_000).toISOString().slice(0, 10)}T10:00:00.000Z`,
  )
  const [one, other] = days
  for (const at of [one, one, other, other]) expect((await main.playCall({ to, at })).call.reasonCode).toBeNull()
  expectTurnedAway(await main.playCall({ to, at: one }), 'campaign_cap', 'campaign_capped', /Two a day.* 2 of 2 /)
  expectTurnedAway(await main.playCall({ to, at: other }), 'campaign_cap', 'campaign_capped', /2 of 2/)
})

it('campaign cap: concurrency counts the calls in progress, and frees when they end', async () => {
  const { e164: to } = the.lines.single
  const placed = await main.placeCall({ to, script: { '+13125550100': answerScript(3_000) }, speed: 1_000 })
  expect(placed.status, placed.text).toBe(201)
  const turned = await main.playCall({ to })
  expectTurnedAway(turned, 'campaign_cap', 'campaign_capped', /One at once.* 1 of 1 /)
  await waitUntil('The call ends', async () => (await main.readCall(placed.body.callId)).call.outcome !== 'live')
  expect((await main.playCall({ to })).call.reasonCode).toBeNull()
})

it(`repeat caller: the same caller is turned away inside the window, hidden ones never (${documentCode('unrouted: repeat_blocked')})`, async () => {
  const { e164: to } = the.lines.once
  const from = '+14155550123'
  expect((await main.playCall({ to, from, at: minutesAgo(300) })).call.reasonCode).toBeNull()
  expectTurnedAway(
    await main.playCall({ to, from, at: minutesAgo(240) }),
    'repeat_caller',
    'repeat_blocked',
    /Once.*2 hours/,
  )
  expect((await main.playCall({ to, from, at: minutesAgo(170) })).call.reasonCode).toBeNull()
  for (const at of [minutesAgo(100), minutesAgo(90)])
    expect((await main.playCall({ to, from: null, at })).call.reasonCode).toBeNull()
})

it('same_target tries the target that connected last time first', async () => {
  const { e164: to } = the.lines.same
  const from = '+14155550124'
  const first = await main.playCall({ to, from, at: minutesAgo(60) })
  expect(first.call.target.name).toBe('Desk')
  const second = await main.playCall({ to, from, at: minutesAgo(30) })
  expect(detailsOf(first.story, 'plan')[0].targets.map(({ name }: Json) => name)).toEqual(['Off', 'Desk'])
  expect(detailsOf(second.story, 'plan')[0].targets.map(({ name }: Json) => name)).toEqual(['Desk', 'Off'])
})

it('same_target still tries that target first after an unanswered call', async () => {
  const { e164: to } = the.lines.same
  const from = '+14155550125'
  await main.playCall({ to, from, at: minutesAgo(50) })
  const lost = await main.playCall({ to, from, at: minutesAgo(40), script: { '+13125550100': [{ result: 'busy' }] } })
  expect(lost.call).toMatchObject({ reasonCode: 'all_targets_failed' })
  const third = await main.playCall({ to, from, at: minutesAgo(20) })
  expect(detailsOf(third.story, 'plan')[0].targets.map(({ name }: Json) => name)).toEqual(['Desk', 'Off'])
})

it('a refused caller hears a message', async () => {
  const { e164: to } = the.lines.message
  const at = '2026-01-05T10:00:00.000Z'
  await main.playCall({ to, at })
  const { call, story } = await main.playCall({ to, at })
  expect(call).toMatchObject({ status: 'rejected', deliveryMode: null, reasonCode: 'campaign_capped' })
  expect(detailsOf(story, 'unrouted')[0]).toMatchObject({ action: 'message', message: 'Try tomorrow.' })
})

it('a forwarded call is unrouted, reaches no buyer and has no books', async () => {
  const { e164: to } = the.lines.forward
  const at = '2026-01-05T10:00:00.000Z'
  await main.playCall({ to, at })
  const { call, story } = await main.playCall({ to, at })
  expect(call).toMatchObject({
    status: 'rejected',
    outcome: 'unrouted',
    deliveryMode: 'forward',
    talkSeconds: 0,
    answeredAt: null,
    usageCents: 0,
    revenueCents: 0,
  })
  expect(detailsOf(story, 'unrouted')[0]).toMatchObject({ action: 'forward' })
})

it('a call being forwarded is found by its reason, and is unrouted once it has ended', async () => {
  const { e164: to, campaignId } = the.lines.forward
  await main.playCall({ to })
  const { body } = await main.placeCall({ to, callerHangsUpAfterSeconds: 4 })
  const found = async (filter: Json) => {
    const { data, stats } = (await main.rest(`/api/v1/calls${queryString({ campaignId, ...filter })}`)).body
    const { outcome, reasonCode } = data.find(({ id }: Json) => id === body.callId) ?? {}
    return { outcome, reasonCode, unrouted: stats.unrouted }
  }
  const reason = 'campaign_capped'
  const live = { outcome: 'live', reasonCode: reason, unrouted: 0 }
  await waitUntil('It is being forwarded', async () => (await found({ reason })).reasonCode)
  expect([await found({ reason }), await found({ outcome: 'live' })]).toEqual([live, live])
  expect((await found({ outcome: 'unrouted' })).outcome).toBeUndefined()
  expect(await main.readCall(body.callId)).toMatchObject({ call: { endedReason: null, reasonCode: reason } })

  const ended = { outcome: 'unrouted', reasonCode: reason, unrouted: 1 }
  await waitUntil('It has ended', async () => (await found({ reason })).outcome === 'unrouted')
  expect([await found({ reason }), await found({ outcome: 'unrouted' })]).toEqual([ended, ended])
  expect(await main.readCall(body.callId)).toMatchObject({ call: { endedReason: reason, reasonCode: reason } })
})
