import { expect } from 'vitest'
import { setRoute } from '../../../commands/campaigns/set-route.ts'
import { changeTarget } from '../../../commands/demand/change-target.ts'
import { setBuyerStatus } from '../../../commands/demand/set-buyer-status.ts'
import { setTargetStatus } from '../../../commands/demand/set-target-status.ts'
import type { StreamWriter } from '../../../src/runtime/write/stream-writer.ts'
import type { Json } from '../../support/e2e/api-client.ts'
import { shown } from '../../support/e2e/document-2.ts'
import { waitUntil } from '../../support/e2e/server.ts'
import { suite } from '../../support/e2e/suite.ts'
import { answerScript, detailsOf, skipsOf, stepsOf } from '../../support/e2e/tenant-client.ts'
import { createTenantWorkspace } from '../../support/e2e/world.ts'

const SHUT = { tz: 'UTC', days: { mon: [['00:00', '00:01']], tue: [], wed: [], thu: [], fri: [], sat: [], sun: [] } }
/** Noon of the sixth of January 2026, a Tuesday, and of other days of that month. */
const noon = (day = 6) => `2026-01-${String(day).padStart(2, '0')}T12:00:00.000Z`
const TEXAN = '+15125550123'

async function world(writer: StreamWriter) {
  const main = await createTenantWorkspace(writer, { name: 'Main' })
  const { target, line, buyer, act } = main
  const acme = await buyer({ name: 'Acme' })
  const idle = await buyer({ name: 'Idle' })
  const narrow = await buyer({ name: 'Narrow', dailyCap: 1 })
  const single = await buyer({ name: 'Single', concurrencyCap: 1 })
  const rich = await buyer({ name: 'Rich', dailyRevenueCapCents: 1_500 })
  const t = {
    first: await target(acme, {
      name: 'First',
      endpoint: { destinationE164: '+13125550001' },
      durationThresholdSeconds: 30,
    }),
    second: await target(acme, { name: 'Second', endpoint: { destinationE164: '+13125550002' }, revenueCents: 2_000 }),
    same: await target(acme, { name: 'Same number', endpoint: { destinationE164: '+13125550001' } }),
    sip: await target(acme, {
      name: 'Switch',
      type: 'sip',
      endpoint: { sipUri: 'sip:desk@pbx.example' },
      revenueCents: 0,
    }),
    paused: await target(acme, { name: 'Paused' }),
    idle: await target(idle, { name: 'Idle desk' }),
    unplugged: await target(acme, { name: 'Unplugged' }),
    closed: await target(acme, { name: 'Closed', hoursSchedule: SHUT }),
    texan: await target(acme, { name: 'Texan', states: ['TX'] }),
    single: await target(acme, { name: 'One line', concurrencyCap: 1 }),
    claimed: await target(acme, { name: 'Claimed', dailyCap: 1, capCountsOn: 'claimed' }),
    connected: await target(acme, { name: 'Connected', dailyCap: 1 }),
    converted: await target(acme, {
      name: 'Converted',
      dailyCap: 1,
      capCountsOn: 'converted',
      durationThresholdSeconds: 30,
    }),
    lifetime: await target(acme, { name: 'Lifetime', totalCap: 1 }),
    hourly: await target(acme, { name: 'Hourly', hourlyCap: 1 }),
    narrow: await target(narrow, { name: 'Narrow desk' }),
    single1: await target(single, { name: 'Single desk' }),
    rich: await target(rich, { name: 'Rich desk', revenueCents: 1_500 }),
    whisper: await target(acme, {
      name: 'Whispered',
      endpoint: { destinationE164: '+13125550003', whisper: { text: 'A lead', acceptDigit: '1' } },
    }),
    once: await target(acme, { name: 'Once', dedupeWindowSeconds: 3_600 }),
    slow: await target(acme, { name: 'Slow', endpoint: { destinationE164: '+13125550004', ringTimeoutSeconds: 10 } }),
  }
  const lines = {
    two: await line({ name: 'Two' }, [t.first, t.second]),
    shared: await line({ name: 'Shared' }, [t.first, t.same]),
    mixed: await line({ name: 'Mixed' }, [t.first, t.sip]),
    every: await line({ name: 'Every skip' }, [t.paused, t.idle, t.unplugged, t.closed, t.texan]),
    past: await line({ name: 'Past them' }, [t.paused, t.idle, t.unplugged, t.closed, t.texan, t.second]),
    texas: await line({ name: 'Texas only', states: ['TX'] }, [t.second]),
    single: await line({ name: 'Line' }, [t.single, t.second]),
    claimed: await line({ name: 'Claimed' }, [t.claimed, t.second]),
    connected: await line({ name: 'Connected' }, [t.connected, t.second]),
    converted: await line({ name: 'Converted' }, [t.converted, t.second]),
    lifetime: await line({ name: 'Lifetime' }, [t.lifetime, t.second]),
    hourly: await line({ name: 'Hourly' }, [t.hourly, t.second]),
    narrow: await line({ name: 'Narrow' }, [t.narrow, t.second]),
    single1: await line({ name: 'Single' }, [t.single1, t.second]),
    rich: await line({ name: 'Rich' }, [t.rich, t.second]),
    whisper: await line({ name: 'Whisper' }, [t.whisper, t.second]),
    budget: await line({ name: 'Budget', dialTimeoutSeconds: 15, failoverBudgetSeconds: 20 }, [
      t.slow,
      t.first,
      t.second,
    ]),
    weighted: await line({ name: 'Weighted', routingMode: 'weighted' }, [
      { targetId: t.first, weight: 0 },
      { targetId: t.second, weight: 100 },
    ]),
    drawn: await line({ name: 'Drawn' }, [
      { targetId: t.first, priority: 100 },
      { targetId: t.second, priority: 100 },
    ]),
    once: await line({ name: 'Once' }, [t.once, t.second]),
    hollow: await line({ name: 'Hollow' }, [t.second]),
    pooled: await line({ name: 'Pooled' }, [t.second]),
  }
  await act(setTargetStatus, { targetId: t.paused, status: 'paused' })
  await act(setBuyerStatus, { buyerId: idle, status: 'paused' })
  await act(changeTarget, { targetId: t.unplugged, changes: { endpoint: { destinationE164: null } } })
  await act(setRoute, { campaignId: lines.hollow.campaignId, targetId: t.second, settings: { active: false } })
  return { main, t, lines }
}

const { it, main, the } = suite('routing', world)

it(`the first target that answers takes the call; the story tells it step by step (${shown('status: completed')}, ${shown('attribution: tracking_number')})`, async () => {
  const { call, story } = await main.playCall({
    to: the.lines.two.e164,
    from: '+13105550123',
    at: noon(),
    script: { [the.t.first]: answerScript(90, { hungUpBy: 'buyer' }) },
  })
  expect(call).toMatchObject({
    ref: expect.stringMatching(/^CA-\d{10}$/),
    startedAt: noon(),
    status: 'completed',
    outcome: 'converted',
    callerNumber: '+13105550123',
    callerState: 'CA',
    dialedNumber: the.lines.two.e164,
    dialedNumberId: the.lines.two.numberId,
    numberPoolId: null,
    dniSessionId: null,
    campaign: { id: the.lines.two.campaignId, name: 'Two' },
    publisher: null,
    buyer: { name: 'Acme' },
    target: { id: the.t.first, name: 'First' },
    direction: 'inbound',
    attribution: 'tracking_number',
    routingMode: 'priority',
    deliveryMode: 'pstn',
    attemptCount: 1,
    ringSeconds: 2,
    talkSeconds: 90,
    answeredAt: '2026-01-06T12:00:02.000Z',
    endedAt: '2026-01-06T12:01:32.000Z',
    hungUpBy: 'agent',
    endedReason: null,
    reasonCode: null,
    reasonSentence: null,
    converted: true,
    conversionSource: 'duration',
    settledAt: '2026-01-06T12:01:32.000Z',
    convertedAt: '2026-01-06T12:01:32.000Z',
    revenueCents: 1_000,
    payoutCents: 0,
    profitCents: 1_000,
    usageCents: 6,
    usageRateCents: 3,
    settlementMode: 'books_only',
    frozen: { revenueCents: 1_000, payoutCents: 0, durationThresholdSeconds: 30, payoutWithheld: null },
    corrections: null,
    adjustments: [],
    recordings: [{ durationSeconds: 90 }],
    recordingsReason: null,
    hasRecording: true,
  })
  expect(stepsOf(story)).toEqual(['incoming', 'gates', 'plan', 'dial', 'connected', 'ended', 'settled'])
  expect(story.summary.outcome).toBe('converted')
  expect(story.attempts).toEqual([
    {
      attemptNo: 1,
      startedAt: noon(),
      endedAt: '2026-01-06T12:01:32.000Z',
      rangSeconds: 2,
      outcome: 'answered',
      result: expect.stringContaining('First'),
      tone: 'success',
      targetId: the.t.first,
      targetName: 'First',
      buyerId: call.buyer.id,
      buyerName: 'Acme',
      agentName: null,
      deliveryMode: 'pstn',
      destination: '•••0001',
      sipCode: null,
      sipText: null,
      lossCode: null,
      whisperAccepted: null,
    },
  ])
  expect(story.pings).toEqual([])
  expect(story.money).toMatchObject({
    converted: true,
    revenueCents: 1_000,
    usageCents: 6,
    usageRateCents: 3,
    adjustments: [],
  })
  for (const event of story.events)
    expect(event).toEqual({
      id: expect.any(String),
      at: expect.stringMatching(/Z$/),
      source: expect.stringMatching(/^(carrier|system)$/),
      type: expect.any(String),
    })
  expect(JSON.stringify(story.steps)).not.toContain('+13125550001')
})

it.each([
  ['busy', { result: 'busy' }, 3, { outcome: 'busy', sipCode: 486 }],
  ['no answer', { result: 'no_answer' }, 25, { outcome: 'no_answer' }],
  ['rejected', { result: 'rejected', afterSeconds: 1 }, 1, { outcome: 'rejected' }],
  ['failed', { result: 'failed', sipCode: 480 }, 3, { outcome: 'failed', sipCode: 480 }],
  ['unavailable', { result: 'unavailable' }, 3, { outcome: 'failed', sipCode: 503 }],
])('a target that does not take the call (%s) is failed over to the next', async (_name, entry, rings, lost) => {
  const { call, story } = await main.playCall({
    to: the.lines.two.e164,
    at: noon(),
    script: { '+13125550001': [entry] },
  })
  expect(call).toMatchObject({
    status: 'completed',
    target: { name: 'Second' },
    attemptCount: 2,
    ringSeconds: rings + 3,
  })
  expect(stepsOf(story)).toEqual([
    'incoming',
    'gates',
    'plan',
    'dial',
    'result',
    'dial',
    'connected',
    'ended',
    'settled',
  ])
  expect(story.attempts[0]).toMatchObject({ attemptNo: 1, ...lost, lossCode: lost.outcome, rangSeconds: rings })
  expect(story.attempts[1]).toMatchObject({ attemptNo: 2, outcome: 'answered', lossCode: null })
})

it.each([
  ['busy', 'busy', shown('status: busy')],
  ['no_answer', 'no_answer', shown('status: no_answer')],
  ['rejected', 'rejected', shown('unrouted: all_targets_failed')],
  ['failed', 'failed', shown('status: failed')],
  ['unavailable', 'failed', 'SIP 503'],
])('when every target is lost the call ends with the last loss: %s → %s (%s)', async (result, status) => {
  const lost = [{ result }]
  const script = { '+13125550001': [{ result: 'busy' }], '+13125550002': lost }
  const { call, story } = await main.playCall({ to: the.lines.two.e164, at: noon(), script })
  expect(call).toMatchObject({
    status,
    outcome: 'unrouted',
    reasonCode: 'all_targets_failed',
    endedReason: 'all_targets_failed',
    attemptCount: 2,
    talkSeconds: 0,
    revenueCents: 0,
    usageCents: 0,
  })
  expect(stepsOf(story)).toEqual([
    'incoming',
    'gates',
    'plan',
    'dial',
    'result',
    'dial',
    'result',
    'unrouted',
    'ended',
    'settled',
  ])
})

it(`a plan with no active route, and one whose targets are all passed over (${shown('unrouted: no_targets')}, ${shown('unrouted: no_eligible_target')}, ${shown('status: rejected')})`, async () => {
  const hollow = await main.playCall({ to: the.lines.hollow.e164, at: noon() })
  expect(hollow.call).toMatchObject({ status: 'rejected', outcome: 'unrouted', reasonCode: 'no_targets' })
  const every = await main.playCall({ to: the.lines.every.e164, at: noon(), from: '+13105550123' })
  expect(every.call).toMatchObject({ status: 'rejected', outcome: 'unrouted', reasonCode: 'no_eligible_target' })
  expect(skipsOf(every.story)).toEqual([
    ['Paused', 'paused'],
    ['Idle desk', 'buyer_paused'],
    ['Unplugged', 'no_destination'],
    ['Closed', 'closed'],
    ['Texan', 'state'],
  ])
})

it(`targets that cannot take the call are passed over in order (${shown('skip: paused')}, ${shown('skip: buyer_paused')}, ${shown('skip: no_destination')}, ${shown('skip: closed')}, ${shown('skip: state')})`, async () => {
  const { call, story } = await main.playCall({ to: the.lines.past.e164, at: noon(), from: '+13105550123' })
  expect(call.target.name).toBe('Second')
  expect(stepsOf(story)).toEqual([
    'incoming',
    'gates',
    'plan',
    ...Array(5).fill('skipped'),
    'dial',
    'connected',
    'ended',
    'settled',
  ])
  const sentences = story.steps.filter(({ step }: Json) => step === 'skipped').map(({ sentence }: Json) => sentence)
  expect(sentences).toEqual([
    'The target is paused.',
    expect.stringContaining('Idle'),
    'The target has nothing to dial.',
    expect.stringContaining('Closed'),
    expect.stringMatching(/Texan.*CA/),
  ])
  expect(detailsOf(story, 'skipped')[4]).toMatchObject({
    targetId: the.t.texan,
    targetName: 'Texan',
    reason: 'state',
    state: 'CA',
  })
  const texan = await main.playCall({ to: the.lines.past.e164, at: noon(), from: TEXAN })
  expect(texan.call.target.name).toBe('Texan')
})

it('the campaign states skip every target, and so does a caller of no known state', async () => {
  const { e164: to } = the.lines.texas
  expect((await main.playCall({ to, at: noon(), from: TEXAN })).call.outcome).toBe('converted')
  for (const from of ['+13105550123', null])
    expect(skipsOf((await main.playCall({ to, at: noon(), from })).story)).toEqual([['Second', 'state']])
})

it(`a concurrency cap of one lets one live call through, whoever calls meanwhile (${shown('skip: concurrency')})`, async () => {
  for (const { line, name, reason } of [
    { line: the.lines.single, name: 'One line', reason: 'concurrency' },
    { line: the.lines.single1, name: 'Single desk', reason: 'buyer_capped' },
  ]) {
    const { e164: to } = line
    const burst = Array.from({ length: 4 }, () =>
      main.placeCall({
        to,
        speed: 100,
        script: { [the.t.single]: answerScript(200), [the.t.single1]: answerScript(200) },
      }),
    )
    const placed = (await Promise.all(burst)).map(({ body }) => body.callId)
    const during = await main.playCall({ to })
    expect(skipsOf(during.story)).toEqual([[name, reason]])
    expect(detailsOf(during.story, 'skipped')[0]).toMatchObject({ window: 'concurrency', cap: 1, count: 1 })
    const calls = await Promise.all(
      placed.map((id) =>
        waitUntil('The call ends', async () => {
          const read = await main.readCall(id)
          return read.call.outcome !== 'live' && read
        }),
      ),
    )
    expect(calls.filter(({ call }) => call.target.name === name)).toHaveLength(1)
    expect((await main.playCall({ to })).call.target.name).toBe(name)
  }
})

it(`a cap that counts at the dial is taken by a call that was not answered (${shown('skip: capped')})`, async () => {
  const { e164: to } = the.lines.claimed
  const missed = await main.playCall({ to, at: noon(), script: { [the.t.claimed]: [{ result: 'busy' }] } })
  expect(missed.call.target.name).toBe('Second')
  const { story } = await main.playCall({ to, at: noon() })
  expect(skipsOf(story)).toEqual([['Claimed', 'capped']])
  expect(detailsOf(story, 'skipped')[0]).toMatchObject({ window: 'daily', cap: 1, count: 1 })
  expect(story.steps.find(({ step }: Json) => step === 'skipped').sentence).toMatch(/Claimed.*daily cap.*1 of 1/)
  expect((await main.playCall({ to, at: noon(7) })).call.target.name).toBe('Claimed')
})

it('a cap that counts on connection is given back by a call that was not answered', async () => {
  const { e164: to } = the.lines.connected
  await main.playCall({ to, at: noon(), script: { [the.t.connected]: [{ result: 'busy' }] } })
  expect((await main.playCall({ to, at: noon() })).call.target.name).toBe('Connected')
  expect(skipsOf((await main.playCall({ to, at: noon() })).story)).toEqual([['Connected', 'capped']])
})

it('a cap that counts on conversion is given back at settlement by a call that did not convert', async () => {
  const { e164: to } = the.lines.converted
  const short = await main.playCall({ to, at: noon(), script: { [the.t.converted]: answerScript(29) } })
  expect(short.call).toMatchObject({ target: { name: 'Converted' }, converted: false, outcome: 'connected' })
  expect((await main.playCall({ to, at: noon() })).call).toMatchObject({
    target: { name: 'Converted' },
    converted: true,
  })
  expect(skipsOf((await main.playCall({ to, at: noon() })).story)).toEqual([['Converted', 'capped']])
})

it('hourly and lifetime caps; each window of a past call is its own', async () => {
  await main.playCall({ to: the.lines.hourly.e164, at: noon() })
  expect(skipsOf((await main.playCall({ to: the.lines.hourly.e164, at: '2026-01-06T12:30:00Z' })).story)).toEqual([
    ['Hourly', 'capped'],
  ])
  expect((await main.playCall({ to: the.lines.hourly.e164, at: '2026-01-06T13:00:00Z' })).call.target.name).toBe(
    'Hourly',
  )
  await main.playCall({ to: the.lines.lifetime.e164, at: noon() })
  expect(skipsOf((await main.playCall({ to: the.lines.lifetime.e164, at: noon(20) })).story)).toEqual([
    ['Lifetime', 'capped'],
  ])
})

it(`a buyer's call cap and revenue cap pass over all of its targets (${shown('skip: buyer_capped')})`, async () => {
  await main.playCall({ to: the.lines.narrow.e164, at: noon() })
  const narrow = await main.playCall({ to: the.lines.narrow.e164, at: noon() })
  expect(skipsOf(narrow.story)).toEqual([['Narrow desk', 'buyer_capped']])
  await main.playCall({ to: the.lines.rich.e164, at: noon() })
  const rich = await main.playCall({ to: the.lines.rich.e164, at: noon() })
  expect(skipsOf(rich.story)).toEqual([['Rich desk', 'buyer_capped']])
  expect(detailsOf(rich.story, 'skipped')[0]).toMatchObject({ capCents: 1_500, cents: 1_500 })
})

it('a whisper that is not accepted is a rejection; one that is, connects', async () => {
  const { e164: to } = the.lines.whisper
  const dial = (digits: string) =>
    main.playCall({ to, at: noon(), script: { '+13125550003': [{ result: 'answer', talkSeconds: 20, digits }] } })
  const refused = await dial('2')
  expect(refused.story.attempts[0]).toMatchObject({ outcome: 'rejected', whisperAccepted: false })
  expect(refused.call.target.name).toBe('Second')
  const taken = await dial('1')
  expect(taken.story.attempts[0]).toMatchObject({ outcome: 'answered', whisperAccepted: true })
})

it('a target rings for its own time-out, and the waterfall ends with the budget', async () => {
  const never = [{ result: 'no_answer' }]
  const script = { '+13125550004': never, '+13125550001': never, '+13125550002': never }
  const { call, story } = await main.playCall({ to: the.lines.budget.e164, at: noon(), script })
  expect(story.attempts.map(({ rangSeconds }: Json) => rangSeconds)).toEqual([10, 10])
  expect(call).toMatchObject({
    status: 'no_answer',
    reasonCode: 'all_targets_failed',
    attemptCount: 2,
    endedAt: '2026-01-06T12:00:20.000Z',
  })
})

it('an instant call ends now, whichever target is drawn first', async () => {
  const script = { [the.t.first]: [{ result: 'busy', afterSeconds: 25 }], [the.t.second]: answerScript(40) }
  const { e164: to } = the.lines.drawn
  for (let n = 0; n < 12; n += 1) {
    const before = Date.now()
    const { call } = await main.playCall({ to, script })
    expect(call).toMatchObject({ status: 'completed', target: { name: 'Second' } })
    expect(Date.parse(call.endedAt)).toBeGreaterThanOrEqual(before - 1_000)
    expect(Date.parse(call.endedAt)).toBeLessThanOrEqual(Date.now())
  }
  const at = new Date(Date.now() - 60_000).toISOString()
  const late = { [the.t.first]: answerScript(600), [the.t.second]: answerScript(600) }
  const { status, body } = await main.placeCall({ to, mode: 'instant', at, script: late })
  expect([status, body.error.details]).toEqual([400, { at: 'the call would end after now' }])
})

it('an instant call has ended by now, also where a longer script would have run before its refusal', async () => {
  const { e164: to } = the.lines.once
  const call = (talk: number) =>
    main.playCall({
      to,
      from: '+14155550177',
      script: { [the.t.once]: answerScript(20), [the.t.second]: answerScript(talk) },
    })
  const names: string[] = []
  for (const talk of [20, 20, 500]) {
    const { call: played, story } = await call(talk)
    names.push(played.target.name)
    expect(Date.parse(played.endedAt)).toBeLessThanOrEqual(Date.now())
    const duplicate = detailsOf(story, 'skipped').some(({ reason }: Json) => reason === 'duplicate')
    expect(duplicate).toBe(played.target.name === 'Second')
  }
  expect(names.slice(0, 2)).toEqual(['Once', 'Second'])
})

it('weighted: a target of weight 0 is dialled only when no other is left', async () => {
  for (let n = 0; n < 5; n++) {
    const { call, story } = await main.playCall({ to: the.lines.weighted.e164, at: noon() })
    expect(call).toMatchObject({ routingMode: 'weighted', target: { name: 'Second' } })
    expect(detailsOf(story, 'plan')[0].targets.map(({ name }: Json) => name)).toEqual(['Second', 'First'])
  }
})

it('a sip target that is handed the call books nothing; its address is masked', async () => {
  const script = { '+13125550001': [{ result: 'busy' }], 'sip:desk@pbx.example': answerScript(75) }
  const { call, story } = await main.playCall({ to: the.lines.mixed.e164, at: noon(), script })
  expect(call).toMatchObject({
    deliveryMode: 'sip',
    target: { name: 'Switch' },
    revenueCents: 0,
    converted: true,
    usageCents: 6,
    talkSeconds: 75,
  })
  expect(story.attempts[1].destination).toBe('sip:•••')
})

it(`a caller who gives up before a buyer answers has abandoned the call (${shown('status: abandoned')})`, async () => {
  const { call, story } = await main.playCall({ to: the.lines.two.e164, at: noon(), callerHangsUpAfterSeconds: 1 })
  expect(call).toMatchObject({
    status: 'abandoned',
    outcome: 'missed',
    hungUpBy: 'caller',
    reasonCode: null,
    endedReason: null,
    ringSeconds: 1,
    talkSeconds: 0,
    endedAt: '2026-01-06T12:00:01.000Z',
  })
  expect(story.attempts[0]).toMatchObject({ outcome: 'abandoned', lossCode: 'abandoned', rangSeconds: 1 })
  const talking = await main.playCall({ to: the.lines.two.e164, at: noon(), callerHangsUpAfterSeconds: 10 })
  expect(talking.call).toMatchObject({ status: 'completed', hungUpBy: 'caller', talkSeconds: 7 })
})

it('a buyer who hangs up as soon as they answer has answered', async () => {
  const script = { [the.t.first]: [{ result: 'answer', talkSeconds: 0, hungUpBy: 'buyer' }] }
  const { call, story } = await main.playCall({ to: the.lines.two.e164, at: noon(), script })
  expect(call).toMatchObject({
    status: 'completed',
    target: { name: 'First' },
    hungUpBy: 'agent',
    talkSeconds: 0,
    answeredAt: call.endedAt,
    usageCents: 0,
    recordingsReason: 'not_saved',
  })
  expect(story.attempts).toMatchObject([{ outcome: 'answered', lossCode: null }])
})

it('a call on a number of a pool names the pool that it was in then', async () => {
  const { campaignId, numberId, e164: to } = the.lines.pooled
  const body = { name: 'Visitors', campaignId }
  const poolId = (await main.console('/api/tracking/pools', { method: 'POST', body })).body.pool.id
  const join = (poolId: string | null) =>
    main.console(`/api/tracking/numbers/${numberId}`, { method: 'PATCH', body: { poolId } })
  await join(poolId)
  const { call } = await main.playCall({ to, at: noon() })
  expect(call).toMatchObject({ numberPoolId: poolId, dialedNumberId: numberId })
  await join(null)
  expect((await main.playCall({ to, at: noon() })).call.numberPoolId).toBeNull()
  expect((await main.readCall(call.id)).call.numberPoolId).toBe(poolId)
})

it('a script has an entry for each successive dial of a call, and the last repeats', async () => {
  const script = { [the.t.first]: [{ result: 'busy' }, { result: 'answer', talkSeconds: 5 }] }
  for (let n = 0; n < 2; n++) {
    const { call } = await main.playCall({ to: the.lines.two.e164, at: noon(), script })
    expect(call.target.name).toBe('Second')
  }
  const busyOnce = { '+13125550001': [{ result: 'busy' }, { result: 'answer', talkSeconds: 5 }] }
  const { call } = await main.playCall({ to: the.lines.shared.e164, at: noon(), script: busyOnce })
  expect([call.target.name, call.talkSeconds]).toEqual(['Same number', 5])
})
