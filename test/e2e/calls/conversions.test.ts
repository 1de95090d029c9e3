import { expect } from 'vitest'
import type { StreamWriter } from '../../../src/runtime/write/stream-writer.ts'
import { type ApiClient, createApiClient, type Json, UNKNOWN_ID } from '../../support/e2e/api-client.ts'
import { documentLine } from '../../support/e2e/document-1.ts'
import { suite } from '../../support/e2e/suite.ts'
import { answerScript, createTenantClient, minutesAgo, stepsOf } from '../../support/e2e/tenant-client.ts'
import { createTenantWorkspace } from '../../support/e2e/world.ts'

const DESK = '+13125550001'
const DELIVERY = '+13125550002'
const HOUR = 60

async function world(writer: StreamWriter) {
  const main = await createTenantWorkspace(writer, { name: 'Main' })
  const buyer = await main.buyer({ name: 'Acme' })
  const desk = await main.target(buyer, {
    name: 'Desk',
    endpoint: { destinationE164: DESK },
    durationThresholdSeconds: 30,
    capCountsOn: 'converted',
    dailyCap: 1_000,
  })
  const handed = await main.target(buyer, {
    name: 'Handed over',
    endpoint: { destinationE164: DELIVERY },
    revenueCents: 0,
    durationThresholdSeconds: 30,
  })
  const publisherId = await main.publisher({ name: 'North' })
  const lane = { publisherId, terms: { payoutMode: 'revshare', revsharePct: 50 } }
  return {
    main,
    buyer,
    desk,
    publisherId,
    line: await main.line({ name: 'Roofing' }, [desk], lane),
    buffered: await main.line({ name: 'Buffered', bufferSeconds: 3_600 }, [desk], lane),
    quick: await main.line({ name: 'Quick', bufferSeconds: 2 }, [desk], lane),
    delivery: await main.line({ name: 'Delivery' }, [{ targetId: handed, revenueOverrideCents: 900 }]),
    readOnly: await main.apiKey({ scopes: ['calls:read'] }),
    other: await createTenantWorkspace(writer, { name: 'Other' }),
  }
}

const { it, main, the, server } = suite('conversions', world)

const script = (talk: number) => ({ [DESK]: answerScript(talk), [DELIVERY]: answerScript(talk) })
const play = async (talk: number, more: Json = {}) =>
  (await main.playCall({ to: the.line.e164, at: minutesAgo(HOUR), script: script(talk), ...more })).call
const post = (ask: ApiClient, surface: string, id: string, body: Json = {}, headers = {}) =>
  ask(`/api/${surface}/calls/${id}/conversion`, { method: 'POST', body: { converted: true, ...body }, headers })
const byKey = (id: string, body: Json = {}, headers = {}) => post(main.rest, 'v1', id, body, headers)
const byUser = (id: string, body: Json = {}) => post(main.console, 'tracking', id, body)
const codeOf = ({ status, body }: Json) => [status, body.error?.code]

it('a postback converts a settled call, at once and everywhere', async () => {
  const call = await play(10, { at: minutesAgo(3) })
  expect(call).toMatchObject({ outcome: 'connected', converted: false, revenueCents: 0 })
  const statsOf = async () => (await main.rest('/api/v1/calls?pageSize=1')).body.stats
  const targetOf = async () => (await main.rest(`/api/v1/targets/${the.desk}`)).body.target
  const buyerOf = async () => (await main.rest(`/api/v1/buyers/${the.buyer}`)).body.buyer
  const laneOf = async () =>
    (await main.rest(`/api/v1/publishers/${the.publisherId}`)).body.publisher.lanes.find(
      ({ campaignId }: Json) => campaignId === the.line.campaignId,
    )
  const before = { stats: await statsOf(), target: await targetOf(), buyer: await buyerOf(), lane: await laneOf() }
  const answer = await byKey(call.id, { revenueCents: 901, note: 'Signed', externalId: 'crm-1' })
  expect(answer.status, answer.text).toBe(200)
  expect(answer.body.changed).toBe(true)
  expect(answer.body.call).toMatchObject({
    outcome: 'converted',
    converted: true,
    revenueCents: 901,
    payoutCents: 451,
    profitCents: 450,
    conversionSource: 'postback',
    conversionNote: 'Signed',
    settledAt: call.settledAt,
    usageCents: call.usageCents,
    corrections: null,
  })
  expect(Date.parse(answer.body.call.convertedAt)).toBeGreaterThan(Date.parse(call.settledAt))
  const { story, call: read } = (await main.rest(`/api/v1/calls/${call.id}`)).body
  expect(read).toEqual(answer.body.call)
  expect(stepsOf(story).filter((step) => step === 'settled')).toHaveLength(2)
  expect(story.summary).toEqual({ outcome: 'converted', sentence: 'Converted: $9.01 revenue, $4.51 payout.' })
  expect(story.money).toMatchObject({ converted: true, revenueCents: 901, payoutCents: 451, profitCents: 450 })

  const after = { stats: await statsOf(), target: await targetOf(), buyer: await buyerOf(), lane: await laneOf() }
  const more = (path: (of: typeof after) => number) => path(after) - path(before)
  expect(more(({ stats }) => stats.converted)).toBe(1)
  expect(more(({ stats }) => stats.revenueCents)).toBe(901)
  expect(more(({ stats }) => stats.payoutCents)).toBe(451)
  expect(more(({ stats }) => stats.profitCents)).toBe(450)
  expect(more(({ stats }) => stats.count)).toBe(0)
  // A call from before midnight counts for yesterday.
  if (call.settledAt.slice(0, 10) !== new Date().toISOString().slice(0, 10)) return
  expect(more(({ target }) => target.usage.dayRevenueCents)).toBe(901)
  expect(more(({ target }) => target.usage.day)).toBe(1)
  expect(more(({ buyer }) => buyer.usage.dayRevenueCents)).toBe(901)
  expect(more(({ buyer }) => buyer.today.converted)).toBe(1)
  expect(more(({ lane }) => lane.usage.dayPayoutCents)).toBe(451)
})

it('one without a figure earns the frozen price; a mark of a person is manual', async () => {
  const [one, other] = [await play(10), await play(10)]
  expect((await byKey(one.id)).body).toMatchObject({
    changed: true,
    call: { revenueCents: 1_000, payoutCents: 500, conversionSource: 'postback', conversionNote: null },
  })
  expect((await byUser(other.id, { note: '  On the phone\n' })).body).toMatchObject({
    changed: true,
    call: { revenueCents: 1_000, conversionSource: 'manual', conversionNote: 'On the phone' },
  })
})

it(`${documentLine('limit: Conversion postback window')}: a call takes one; the same again changes nothing`, async () => {
  const { id } = await play(10)
  expect((await byKey(id, { externalId: 'crm-2' })).body.changed).toBe(true)
  const again = await byKey(id, { externalId: 'crm-2', revenueCents: 5 })
  expect(again).toMatchObject({ status: 200, body: { changed: false, call: { revenueCents: 1_000 } } })
  for (const answer of [await byKey(id), await byKey(id, { externalId: 'crm-3' }), await byUser(id)]) {
    expect(codeOf(answer)).toEqual([409, 'already_converted'])
    expect(answer.body.error.details).toEqual({ conversionSource: 'postback' })
  }
})

it('a postback is taken behind a mark, and is the only one', async () => {
  const { id } = await play(10)
  expect((await byUser(id, { revenueCents: 700, note: 'On the phone' })).body.call).toMatchObject({
    revenueCents: 700,
  })
  expect(codeOf(await byUser(id, { revenueCents: 800 }))).toEqual([409, 'already_converted'])
  expect((await byKey(id, { revenueCents: 900 })).body).toMatchObject({
    changed: true,
    call: { revenueCents: 900, conversionSource: 'postback', conversionNote: 'On the phone' },
  })
  expect(codeOf(await byKey(id, { revenueCents: 950 }))).toEqual([409, 'already_converted'])
})

it('of many at once one is taken', async () => {
  const { id } = await play(10)
  const answers = await Promise.all(Array.from({ length: 12 }, (_, n) => byKey(id, { revenueCents: 100 + n })))
  expect(answers.map(({ status }) => status).toSorted()).toEqual([200, ...Array.from({ length: 11 }, () => 409)])
  const { revenueCents } = answers.find(({ status }) => status === 200)?.body.call ?? {}
  expect((await main.readCall(id)).call.revenueCents).toBe(revenueCents)
})

it('an adjustment repeated with its Idempotency-Key gives the same answer', async () => {
  const { id } = await play(10)
  const key = { 'idempotency-key': `conversion-${id}` }
  const [one, other] = [await byKey(id, {}, key), await byKey(id, {}, key)]
  expect(other.body).toEqual(one.body)
  expect(other.headers.get('svc-idempotent-replay')).toBe('true')
  expect(codeOf(await byKey(id, { note: 'x' }, key))).toEqual([409, 'conflict'])
})

it('on a call converted by its talk it takes the revenue, and is spent either way', async () => {
  const [one, other] = [await play(60), await play(60)]
  expect((await byKey(one.id, { revenueCents: 2_000 })).body).toMatchObject({
    changed: true,
    call: { revenueCents: 2_000, payoutCents: 1_000, conversionSource: 'duration', convertedAt: one.convertedAt },
  })
  expect((await byKey(other.id)).body).toMatchObject({ changed: false, call: { revenueCents: 1_000 } })
  expect(codeOf(await byKey(other.id, { revenueCents: 2_000 }))).toEqual([409, 'already_converted'])
})

it('before the settlement it is kept, and the call settles by it', async () => {
  const waiting = await play(10, { to: the.buffered.e164, at: minutesAgo(2) })
  expect((await byKey(waiting.id, { revenueCents: 700, note: 'Early' })).body).toMatchObject({
    changed: true,
    call: { converted: false, revenueCents: 0, settledAt: null, conversionNote: 'Early' },
  })
  const { id } = await play(10, { to: the.quick.e164, at: undefined })
  expect((await byKey(id, { revenueCents: 700 })).status).toBe(200)
  const { call, story } = await main.readCallAfter('settled', id)
  expect(call).toMatchObject({ converted: true, revenueCents: 700, payoutCents: 350, conversionSource: 'postback' })
  expect(call.convertedAt).toBe(call.settledAt)
  expect(stepsOf(story).filter((step) => step === 'settled')).toHaveLength(1)
})

it(`${documentLine('limit: Conversion postback window')}: it is taken for 72 hours from the end`, async () => {
  const [open, shut] = [
    await play(10, { at: minutesAgo(72 * HOUR - 2) }),
    await play(10, { at: minutesAgo(72 * HOUR + 1) }),
  ]
  expect((await byKey(open.id)).status).toBe(200)
  const closed = await byKey(shut.id)
  expect(codeOf(closed)).toEqual([410, 'window_closed'])
  const closedAt = new Date(Date.parse(shut.endedAt) + 72 * 3_600_000).toISOString()
  expect(closed.body.error.details).toEqual({ closedAt })
  expect(codeOf(await byUser(shut.id))).toEqual([410, 'window_closed'])
})

it('a call that is live, or reached no buyer, cannot convert', async () => {
  const missed = await play(0, { script: { [DESK]: [{ result: 'busy', afterSeconds: 1 }] } })
  expect(missed.outcome).toBe('unrouted')
  expect(codeOf(await byKey(missed.id))).toEqual([409, 'conflict'])
  const { body } = await main.placeCall({
    to: the.line.e164,
    script: { [DESK]: answerScript(600) },
    callerHangsUpAfterSeconds: 600,
  })
  const live = await byKey(body.callId)
  expect(codeOf(live)).toEqual([409, 'conflict'])
  expect(live.body.error.details).toEqual({ outcome: 'live' })
})

it('a call handed over earns nothing by its price, and what the buyer says it owes', async () => {
  const [own, posted] = [await play(60, { to: the.delivery.e164 }), await play(10, { to: the.delivery.e164 })]
  expect(own).toMatchObject({ converted: true, revenueCents: 0, frozen: { revenueCents: 0 } })
  expect((await byKey(posted.id)).body.call).toMatchObject({ converted: true, revenueCents: 0 })
  const third = await play(10, { to: the.delivery.e164 })
  expect((await byKey(third.id, { revenueCents: 50 })).body.call).toMatchObject({ revenueCents: 50 })
})

it('what is not a conversion is refused by its field, and nothing is kept', async () => {
  const { id } = await play(10)
  for (const [field, body] of [
    ['converted', { converted: false }],
    ['converted', { converted: 'true' }],
    ['revenueCents', { revenueCents: -1 }],
    ['revenueCents', { revenueCents: 100_000_001 }],
    ['revenueCents', { revenueCents: 10.5 }],
    ['revenueCents', { revenueCents: '10' }],
    ['note', { note: 'x'.repeat(501) }],
    ['externalId', { externalId: 'x'.repeat(201) }],
    ['payoutCents', { payoutCents: 5 }],
  ] as const) {
    const { status, body: answer } = await byKey(id, body)
    expect([status, answer.error?.code, Object.keys(answer.error?.details ?? {})]).toEqual([
      400,
      'validation_error',
      [field],
    ])
  }
  const longest = { revenueCents: 100_000_000, note: 'ü'.repeat(500), externalId: '😀'.repeat(100) }
  expect((await byKey(id, longest)).body).toMatchObject({
    changed: true,
    call: { revenueCents: 100_000_000, conversionNote: longest.note },
  })
})

it('who may: a key with the scope, and nobody of another workspace', async () => {
  const { id } = await play(10)
  const answer = await post(
    createApiClient(() => server.baseUrl, the.readOnly),
    'v1',
    id,
  )
  expect(codeOf(answer)).toEqual([403, 'insufficient_scope'])
  expect(answer.body.error.details).toEqual({ required: ['calls:write'], held: ['calls:read'] })
  const other = createTenantClient(server, the.other)
  for (const each of [id, UNKNOWN_ID, 'nonsense']) {
    expect(codeOf(await post(other.rest, 'v1', each, { converted: 'nonsense' }))).toEqual([404, 'not_found'])
    expect(codeOf(await post(other.console, 'tracking', each))).toEqual([404, 'not_found'])
  }
  expect((await main.readCall(id)).call.converted).toBe(false)
})

it('the activity log names the key, and the figures before and after', async () => {
  const { id, ref } = await play(10)
  await byKey(id, { revenueCents: 901, externalId: 'crm-9' })
  const { body } = await main.console(`/api/tracking/activity?entityId=${id}`)
  expect(body.data).toMatchObject([
    {
      actor: { type: 'key', name: 'Full key' },
      kind: 'call',
      action: 'converted',
      severity: 'medium',
      entity: { kind: 'call', id, name: ref },
      changes: [
        { field: 'converted', before: false, after: true },
        { field: 'revenueCents', before: 0, after: 901 },
        { field: 'payoutCents', before: 0, after: 451 },
        { field: 'conversionSource', before: null, after: 'postback' },
        { field: 'externalId', before: null, after: 'crm-9' },
      ],
    },
  ])
  expect((await main.console('/api/tracking/activity?kind=call&pageSize=200')).body.data.length).toBeGreaterThan(1)
  expect((await main.console('/api/tracking/activity/verify')).body.ok).toBe(true)
})

it('a postback is known again among postbacks only: a mark with its externalId keeps it from nothing', async () => {
  const { id } = await play(10)
  const mark = await byUser(id, { externalId: 'crm-9', note: 'By hand' })
  expect([mark.status, mark.body.changed, mark.body.call.revenueCents]).toEqual([200, true, 1_000])
  expect((await byUser(id, { externalId: 'crm-9' })).body.changed).toBe(false)
  const postback = await byKey(id, { externalId: 'crm-9', revenueCents: 4_321 })
  expect([postback.status, postback.body.changed], postback.text).toEqual([200, true])
  expect(postback.body.call).toMatchObject({ revenueCents: 4_321, conversionSource: 'postback' })
  expect((await byKey(id, { externalId: 'crm-9', revenueCents: 1 })).body).toMatchObject({
    changed: false,
    call: { revenueCents: 4_321 },
  })
  expect((await byUser(id, { externalId: 'crm-9' })).body.changed).toBe(false)
})
