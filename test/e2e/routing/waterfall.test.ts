import { expect } from 'vitest'
import { setRoute } from '../../../commands/campaigns/set-route.ts'
import { changeTarget } from '../../../commands/demand/change-target.ts'
import { setBuyerStatus } from '../../../commands/demand/set-buyer-status.ts'
import { setTargetStatus } from '../../../commands/demand/set-target-status.ts'
import type { StreamWriter } from '../../../src/runtime/write/stream-writer.ts'
import type { Json } from '../../support/e2e/api-client.ts'
import { documentCode } from '../../support/e2e/document-2.ts'
import { suite } from '../../support/e2e/suite.ts'
import { answerScript, detailsOf, skipsOf, stepsOf } from '../../support/e2e/tenant-client.ts'
import { createTenantWorkspace } from '../../support/e2e/world.ts'

const SHUT = { tz: 'UTC', days: { mon: [['00:00', '00:01']], tue: [], wed: [], thu: [], fri: [], sat: [], sun: [] } }
/** Noon of the sixth of January 2026, a Tuesday. */
const noon = () => '2026-01-06T12:00:00.000Z'
const TEXAN = '+15125550123'

async function world(writer: StreamWriter) {
  const main = await createTenantWorkspace(writer, { name: 'Main' })
  const { target, line, buyer, act } = main
  const acme = await buyer({ name: 'Acme' })
  const idle = await buyer({ name: 'Idle' })
  const t = {
    first: await target(acme, {
      name: 'First',
      endpoint: { destinationE164: '+13125550001' },
      durationThresholdSeconds: 30,
    }),
    second: await target(acme, { name: 'Second', endpoint: { destinationE164: '+13125550002' }, revenueCents: 2_000 }),
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
    slow: await target(acme, { name: 'Slow', endpoint: { destinationE164: '+13125550004', ringTimeoutSeconds: 10 } }),
  }
  const lines = {
    two: await line({ name: 'Two' }, [t.first, t.second]),
    mixed: await line({ name: 'Mixed' }, [t.first, t.sip]),
    every: await line({ name: 'Every skip' }, [t.paused, t.idle, t.unplugged, t.closed, t.texan]),
    past: await line({ name: 'Past them' }, [t.paused, t.idle, t.unplugged, t.closed, t.texan, t.second]),
    texas: await line({ name: 'Texas only', states: ['TX'] }, [t.second]),
    budget: await line({ name: 'Budget', dialTimeoutSeconds: 15, failoverBudgetSeconds: 20 }, [
      t.slow,
      t.first,
      t.second,
    ]),
    weighted: await line({ name: 'Weighted', routingMode: 'weighted' }, [
      { targetId: t.first, weight: 0 },
      { targetId: t.second, weight: 100 },
    ]),
    hollow: await line({ name: 'Hollow' }, [t.second]),
  }
  await act(setTargetStatus, { targetId: t.paused, status: 'paused' })
  await act(setBuyerStatus, { buyerId: idle, status: 'paused' })
  await act(changeTarget, { targetId: t.unplugged, changes: { endpoint: { destinationE164: null } } })
  await act(setRoute, { campaignId: lines.hollow.campaignId, targetId: t.second, settings: { active: false } })
  return { main, t, lines }
}

const { it, main, the } = suite('the waterfall', world, { stores: 'embedded' })

/** The converted call of the line `two`, answered by its first target. */
const convertedCall = () => ({
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

/** Its only attempt. */
const answeredAttempt = (buyerId: string) => ({
  attemptNo: 1,
  startedAt: noon(),
  endedAt: '2026-01-06T12:01:32.000Z',
  rangSeconds: 2,
  outcome: 'answered',
  result: expect.stringContaining('First'),
  tone: 'success',
  targetId: the.t.first,
  targetName: 'First',
  buyerId,
  buyerName: 'Acme',
  agentName: null,
  deliveryMode: 'pstn',
  destination: '•••0001',
  sipCode: null,
  sipText: null,
  lossCode: null,
  whisperAccepted: null,
})

it(`the first target that answers takes the call; the story tells it step by step (${documentCode('status: completed')}, ${documentCode('attribution: tracking_number')})`, async () => {
  const { call, story } = await main.playCall({
    to: the.lines.two.e164,
    from: '+13105550123',
    at: noon(),
    script: { [the.t.first]: answerScript(90, { hungUpBy: 'buyer' }) },
  })
  expect(call).toMatchObject(convertedCall())
  expect(stepsOf(story)).toEqual(['incoming', 'gates', 'plan', 'dial', 'connected', 'ended', 'settled'])
  expect(story.summary.outcome).toBe('converted')
  expect(story.attempts).toEqual([answeredAttempt(call.buyer.id)])
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
  ['busy', 'busy', documentCode('status: busy')],
  ['no_answer', 'no_answer', documentCode('status: no_answer')],
  ['rejected', 'rejected', documentCode('unrouted: all_targets_failed')],
  ['failed', 'failed', documentCode('status: failed')],
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

it(`a plan with no active route, and one whose targets are all passed over (${documentCode('unrouted: no_targets')}, ${documentCode('unrouted: no_eligible_target')}, ${documentCode('status: rejected')})`, async () => {
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

it(`targets that cannot take the call are passed over in order (${documentCode('skip: paused')}, ${documentCode('skip: buyer_paused')}, ${documentCode('skip: no_destination')}, ${documentCode('skip: closed')}, ${documentCode('skip: state')})`, async () => {
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

it('the sentence of a state skip names whose list it is, the campaign or the target', async () => {
  const sentenceOf = async (to: string, target: string) => {
    const { story } = await main.playCall({ to, at: noon(), from: '+13105550123' })
    const skipped = story.steps.find(({ step, detail }: Json) => step === 'skipped' && detail.targetName === target)
    return skipped.sentence
  }
  expect(await sentenceOf(the.lines.texas.e164, 'Second')).toBe('Campaign Texas only does not take callers from CA.')
  expect(await sentenceOf(the.lines.past.e164, 'Texan')).toBe('Target Texan does not take callers from CA.')
})

it('weighted: a target of weight 0 is dialled only when no other is left', async () => {
  for (let n = 0; n < 5; n++) {
    const { call, story } = await main.playCall({ to: the.lines.weighted.e164, at: noon() })
    expect(call).toMatchObject({ routingMode: 'weighted', target: { name: 'Second' } })
    expect(detailsOf(story, 'plan')[0].targets.map(({ name }: Json) => name)).toEqual(['Second', 'First'])
  }
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
