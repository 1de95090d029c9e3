import { expect } from 'vitest'
import { assignNumber } from '../../../commands/supply/assign-number.ts'
import type { StreamWriter } from '../../../src/runtime/write/stream-writer.ts'
import { errorWithoutRequestId, UNKNOWN_ID } from '../../support/e2e/api-client.ts'
import { waitUntil } from '../../support/e2e/server.ts'
import { suite } from '../../support/e2e/suite.ts'
import { answerScript, createTenantClient, minutesAgo, stepsOf } from '../../support/e2e/tenant-client.ts'
import { createTenantWorkspace } from '../../support/e2e/world.ts'

const DESK = '+13125550001'
const AT = '2026-01-06T12:00:00.000Z'
const SHUT = { tz: 'UTC', days: { mon: [['00:00', '00:01']], tue: [], wed: [], thu: [], fri: [], sat: [], sun: [] } }

async function world(writer: StreamWriter) {
  const main = await createTenantWorkspace(writer, { name: 'Main' })
  const { line, publisher } = main
  const buyerId = await main.buyer({ name: 'Acme' })
  const desk = await main.target(buyerId, {
    name: 'Desk',
    endpoint: { destinationE164: DESK },
    durationThresholdSeconds: 30,
  })
  const north = await publisher({ name: 'North' })
  const newcomer = await publisher({ name: 'Newcomer', status: 'paused' })
  const lane = (terms: Readonly<Record<string, unknown>>, publisherId = north) => ({ publisherId, terms })
  const odd = { targetId: desk, revenueOverrideCents: 999 }
  const lines = {
    plain: await line({ name: 'Plain' }, [desk]),
    buffered: await line({ name: 'Buffered', bufferSeconds: 2 }, [desk]),
    fixed: await line({ name: 'Fixed' }, [desk], lane({ payoutMode: 'fixed', payoutCents: 350 })),
    share: await line({ name: 'Share' }, [odd], lane({ payoutMode: 'revshare', revsharePct: 50 })),
    floor: await line({ name: 'Floor' }, [desk], lane({ payoutMode: 'revshare', revsharePct: 1, minPayoutCents: 200 })),
    ceiling: await line(
      { name: 'Ceiling' },
      [desk],
      lane({ payoutMode: 'revshare', revsharePct: 90, maxPayoutCents: 700 }),
    ),
    inherit: await line({ name: 'Inherit', payout: { mode: 'fixed', payoutCents: 125 } }, [desk], lane({})),
    free: await line({ name: 'Inherit nothing' }, [desk], lane({})),
    paused: await line({ name: 'Paused publisher' }, [desk], lane({ payoutMode: 'fixed', payoutCents: 350 }, newcomer)),
    shut: await line(
      { name: 'Lane shut' },
      [desk],
      lane({ payoutMode: 'fixed', payoutCents: 350, hoursSchedule: SHUT }),
    ),
    states: await line(
      { name: 'Lane states' },
      [desk],
      lane({ payoutMode: 'fixed', payoutCents: 350, states: ['TX'] }),
    ),
    capped: await line({ name: 'Lane capped' }, [desk], lane({ payoutMode: 'fixed', payoutCents: 350, dailyCap: 1 })),
    deleted: await line({ name: 'Lane deleted' }, [desk], lane({ payoutMode: 'fixed', payoutCents: 350 })),
    override: await line({ name: 'Override' }, [{ targetId: desk, revenueOverrideCents: 1_750 }]),
  }
  const unready = await main.number({ ready: false, e164: '+13105550005' })
  await main.act(assignNumber, { numberId: unready.numberId, campaignId: lines.plain.campaignId })
  const other = await createTenantWorkspace(writer, { name: 'Other', planId: 'growth' })
  const theirs = await other.line({ name: 'Theirs' }, [
    await other.target(await other.buyer({ name: 'Buyer' }), { endpoint: { destinationE164: DESK } }),
  ])
  return { main, lines, north, unready: unready.e164, other, theirs, desk }
}

const { it, main, the, server } = suite('books', world)

const converting = { [DESK]: answerScript(61) }

it('usage is talk in whole minutes rounded up at the rate of the plan, charged once the call is two minutes past', async () => {
  for (const [talk, minutes] of [
    [0, 0],
    [1, 1],
    [60, 1],
    [61, 2],
  ] as const) {
    const { call } = await main.playCall({ to: the.lines.plain.e164, at: AT, script: { [DESK]: answerScript(talk) } })
    expect(call).toMatchObject({ talkSeconds: talk, usageCents: minutes * 3, usageRateCents: 3 })
  }
  const theirs = await createTenantClient(server, the.other).playCall({
    to: the.theirs.e164,
    at: AT,
    script: converting,
  })
  expect(theirs.call).toMatchObject({ usageCents: 8, usageRateCents: 4 })
})

it('usage of a call that has just ended is not due yet', async () => {
  const { call, story } = await main.playCall({ to: the.lines.plain.e164, script: converting })
  expect(call).toMatchObject({ outcome: 'converted', usageCents: 0 })
  expect(Date.now() - Date.parse(call.endedAt)).toBeLessThan(20_000)
  expect(Date.parse(call.endedAt) - Date.parse(call.startedAt)).toBe(63_000)
  expect(story.money.usageCents).toBe(0)
})

it.each([
  [29, { converted: false, outcome: 'connected', revenueCents: 0, conversionSource: null }],
  [30, { converted: true, outcome: 'converted', revenueCents: 1_000, conversionSource: 'duration' }],
])('%i seconds of talk against a threshold of 30', async (talk, books) => {
  const { call, story } = await main.playCall({
    to: the.lines.plain.e164,
    at: AT,
    script: { [DESK]: answerScript(talk) },
  })
  expect(call).toMatchObject({ status: 'completed', ...books })
  expect(story.steps.at(-1)).toMatchObject({ step: 'settled' })
  if (!books.converted) expect(story.steps.at(-1).sentence).toMatch(/29.*30/)
})

it.each([
  ['fixed', { payoutCents: 350 }],
  ['share', { revenueCents: 999, payoutCents: 500 }],
  ['floor', { payoutCents: 200 }],
  ['ceiling', { payoutCents: 700 }],
  ['inherit', { payoutCents: 125 }],
  ['free', { payoutCents: 0 }],
  ['override', { revenueCents: 1_750, payoutCents: 0, publisher: null }],
] as const)('payout by the terms of the lane: %s', async (name, books) => {
  const { call, story } = await main.playCall({ to: the.lines[name].e164, at: AT, script: converting })
  const expected = { revenueCents: 1_000, ...books }
  expect(call).toMatchObject({
    ...expected,
    converted: true,
    profitCents: expected.revenueCents - expected.payoutCents,
    frozen: {
      revenueCents: expected.revenueCents,
      payoutCents: expected.payoutCents,
      durationThresholdSeconds: 30,
      payoutWithheld: null,
    },
  })
  expect(story.money).toMatchObject({
    revenueCents: call.revenueCents,
    payoutCents: call.payoutCents,
    profitCents: call.profitCents,
  })
  const short = await main.playCall({ to: the.lines[name].e164, at: AT, script: { [DESK]: answerScript(5) } })
  expect(short.call).toMatchObject({ converted: false, revenueCents: 0, payoutCents: 0, profitCents: 0 })
})

it.each([
  ['paused', {}, 'publisher_not_live', 'the publisher was not live'],
  ['shut', {}, 'lane_closed', 'outside the hours'],
  ['states', { from: '+13105550123' }, 'lane_state', 'callers from this state'],
  ['states', { from: null }, 'lane_state', 'callers from this state'],
] as const)(
  'a lane that may not send leaves the call unpaid, and the story says why: %s',
  async (name, sent, why, words) => {
    const { call, story } = await main.playCall({ to: the.lines[name].e164, at: AT, script: converting, ...sent })
    expect(call).toMatchObject({
      converted: true,
      revenueCents: 1_000,
      payoutCents: 0,
      profitCents: 1_000,
      frozen: { payoutWithheld: why, payoutCents: 0 },
    })
    const [arrived, settled] = [story.steps[0].sentence, story.steps.at(-1).sentence]
    expect(arrived).toMatch(new RegExp(`The call earns its publisher no payout: .*${words}.*\\.$`))
    expect(settled).toMatch(new RegExp(`The payout is withheld: .*${words}.*\\.$`))
  },
)

it('a call of a publisher whose lane was deleted says that it earns no payout', async () => {
  const { campaignId, e164 } = the.lines.deleted
  const lane = `/api/tracking/campaigns/${campaignId}/publishers/${the.north}`
  expect((await main.console(lane, { method: 'DELETE' })).status).toBe(200)
  const { call, story } = await main.playCall({ to: e164, script: converting })
  expect(call).toMatchObject({ converted: true, payoutCents: 0, frozen: { payoutWithheld: null } })
  expect(story.steps[0].sentence).toContain('earns its publisher no payout: the publisher has no lane on the campaign.')
})

it('a conversion after the settlement says why its payout is withheld, and the settlement without one does not', async () => {
  const script = { [DESK]: answerScript(5) }
  const { call, story } = await main.playCall({ to: the.lines.paused.e164, at: minutesAgo(5), script })
  expect(call).toMatchObject({ converted: false, settledAt: expect.any(String) })
  expect(story.steps.at(-1).sentence).not.toContain('withheld')
  const body = { converted: true, revenueCents: 4_000 }
  expect((await main.rest(`/api/v1/calls/${call.id}/conversion`, { method: 'POST', body })).status).toBe(200)
  const after = await main.readCall(call.id)
  expect(after.call).toMatchObject({ converted: true, revenueCents: 4_000, payoutCents: 0 })
  expect(after.story.steps.at(-1).sentence).toMatch(/ The payout is withheld: the publisher was not live .*\.$/)
})

it('a full lane leaves the call unpaid', async () => {
  const play = (to: string, from: string) => main.playCall({ to, from, at: AT, script: converting })
  const { capped } = the.lines
  expect((await play(capped.e164, '+13105550123')).call).toMatchObject({
    payoutCents: 350,
    frozen: { payoutWithheld: null },
  })
  expect((await play(capped.e164, '+13105550124')).call).toMatchObject({
    payoutCents: 0,
    frozen: { payoutWithheld: 'lane_capped' },
  })
})

it('a call settles without a request once its buffer is over', async () => {
  const { call, story } = await main.playCall({ to: the.lines.buffered.e164, script: converting })
  expect(call).toMatchObject({
    status: 'completed',
    outcome: 'connected',
    converted: false,
    revenueCents: 0,
    settledAt: null,
  })
  expect(stepsOf(story)).not.toContain('settled')
  const settled = await main.readCallAfter('settled', call.id)
  expect(settled.call).toMatchObject({ outcome: 'converted', revenueCents: 1_000 })
  expect(Date.parse(settled.call.settledAt) - Date.parse(call.endedAt)).toBe(2_000)
  expect(stepsOf(settled.story).filter((step) => step === 'settled')).toHaveLength(1)
  const past = await main.playCall({ to: the.lines.buffered.e164, at: minutesAgo(60), script: converting })
  expect(past.call).toMatchObject({ outcome: 'converted' })
})

/** The row of a call on the live board, and the board's instant. */
async function liveRowOf(callId: string) {
  const { body, headers } = await main.rest('/api/v1/calls/live')
  expect(headers.get('cache-control')).toBe('no-store')
  expect(body.count).toBe(body.live.length)
  expect(body.connected).toBe(
    body.live.filter((row: { readonly status: string }) => row.status === 'in_progress').length,
  )
  return { row: body.live.find(({ id }: { readonly id: string }) => id === callId), at: body.at }
}

it('a live call is on the board until it ends, and follows its plan', async () => {
  const before = (await main.rest('/api/v1/calls/live')).body.count
  const placed = await main.placeCall({
    to: the.lines.fixed.e164,
    from: '+13105550123',
    speed: 20,
    script: { [DESK]: answerScript(60) },
  })
  expect(placed.status, placed.text).toBe(201)
  expect(placed.body).toEqual({
    callId: expect.any(String),
    ref: expect.stringMatching(/^CA-\d{10}$/),
    carrierCallId: expect.any(String),
  })
  const { row } = await liveRowOf(placed.body.callId)
  expect(row.status).toMatch(/^(ringing|in_progress)$/)
  const talking = await waitUntil('The buyer answers', async () => {
    const seen = await liveRowOf(placed.body.callId)
    return seen.row?.status === 'in_progress' && seen
  })
  expect(talking.row).toEqual({
    id: placed.body.callId,
    ref: placed.body.ref,
    status: 'in_progress',
    startedAt: expect.any(String),
    answeredAt: expect.any(String),
    elapsedSeconds: expect.any(Number),
    talkSeconds: expect.any(Number),
    callerNumber: '+13105550123',
    callerState: 'CA',
    dialedNumber: the.lines.fixed.e164,
    campaign: { id: the.lines.fixed.campaignId, name: 'Fixed' },
    publisher: { id: the.north, name: 'North' },
    target: { id: the.desk, name: 'Desk' },
    buyer: { id: expect.any(String), name: 'Acme' },
    attemptNo: 1,
  })
  const during = await main.readCall(placed.body.callId)
  expect(during.call).toMatchObject({ outcome: 'live', endedAt: null, converted: false })
  const target = (await main.rest(`/api/v1/targets/${the.desk}`)).body.target
  expect(target).toMatchObject({ liveCalls: expect.any(Number), usage: { liveCalls: target.liveCalls } })
  expect(target.liveCalls).toBeGreaterThanOrEqual(1)
  const { call } = await main.readCallAfter('ended', placed.body.callId)
  expect(call).toMatchObject({ status: 'completed', talkSeconds: 3, converted: false, payoutCents: 0 })
  // The call's end is visible first; its slot is released a moment later.
  await waitUntil('The board and the target are free of it', async () => {
    const board = (await main.rest('/api/v1/calls/live')).body.count
    const { liveCalls } = (await main.rest(`/api/v1/targets/${the.desk}`)).body.target
    return board === before && liveCalls === target.liveCalls - 1
  })
})

it('where a sandbox call cannot be placed', async () => {
  const { e164: to } = the.lines.plain
  const refusal = async (call: object) => {
    const { status, body } = await main.placeCall(call)
    return [status, body.error?.code, Object.keys(body.error?.details ?? {})]
  }
  expect(await refusal({ to: '+13105550000', mode: 'instant' })).toEqual([404, 'not_found', []])
  expect(await refusal({ to: the.unready, mode: 'instant' })).toEqual([409, 'conflict', ['to']])
  expect(await refusal({ to, mode: 'instant', at: minutesAgo(0) })).toEqual([400, 'bad_request', ['at']])
  expect(await refusal({ to, mode: 'instant', at: minutesAgo(-60) })).toEqual([400, 'bad_request', ['at']])
  for (const [field, call] of Object.entries({
    to: { to: '310-555-0101' },
    from: { to, from: '3105550101' },
    at: { to, at: 'yesterday' },
    mode: { to, mode: 'slow' },
    speed: { to, speed: 0 },
    callerHangsUpAfterSeconds: { to, callerHangsUpAfterSeconds: -1 },
    surprise: { to, surprise: 1 },
  }))
    expect(await refusal(call)).toEqual([400, 'validation_error', [field]])
  expect(await refusal({})).toEqual([400, 'validation_error', ['to']])
  expect((await refusal({ to, script: { [DESK]: [{ result: 'answer', surprise: 1 }] } }))[0]).toBe(400)
})

it('a call is known in its own workspace alone', async () => {
  const { call } = await main.playCall({ to: the.lines.plain.e164, at: AT })
  const other = createTenantClient(server, the.other)
  const paths = [call.id, UNKNOWN_ID, 'CA-0000000001', 'nonsense'].map((id) => `/api/v1/calls/${id}`)
  const answers = await Promise.all(paths.map((path) => other.rest(path)))
  expect(new Set(answers.map(errorWithoutRequestId)).size).toBe(1)
  expect(answers[0]).toMatchObject({
    status: 404,
    body: { error: { code: 'not_found', message: 'Call not found.', details: null } },
  })
  const { status } = await other.placeCall({ to: the.lines.fixed.e164.replace('+1310', '+1399'), mode: 'instant' })
  expect(status).toBe(404)
})
