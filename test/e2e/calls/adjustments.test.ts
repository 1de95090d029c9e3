import { expect } from 'vitest'
import type { StreamWriter } from '../../../src/runtime/write/stream-writer.ts'
import { type ApiClient, createApiClient, type Json, UNKNOWN_ID } from '../../support/e2e/api-client.ts'
import { documentLine } from '../../support/e2e/document-1.ts'
import { suite } from '../../support/e2e/suite.ts'
import { answerScript, createTenantClient, minutesAgo } from '../../support/e2e/tenant-client.ts'
import { createTenantWorkspace } from '../../support/e2e/world.ts'

const DESK = '+13125550001'
const LARGEST = 100_000_000

async function world(writer: StreamWriter) {
  const main = await createTenantWorkspace(writer, { name: 'Main' })
  const buyer = await main.buyer({ name: 'Acme' })
  const desk = await main.target(buyer, {
    name: 'Desk',
    endpoint: { destinationE164: DESK },
    durationThresholdSeconds: 30,
    dailyRevenueCapCents: 100_000,
  })
  const publisherId = await main.publisher({ name: 'North' })
  const lane = { publisherId, terms: { payoutMode: 'revshare', revsharePct: 50 } }
  return {
    main,
    buyer,
    desk,
    line: await main.line({ name: 'Roofing' }, [desk], lane),
    quick: await main.line({ name: 'Quick', bufferSeconds: 2 }, [desk], lane),
    direct: await main.line({ name: 'Direct' }, [desk]),
    readOnly: await main.apiKey({ scopes: ['calls:read'] }),
    other: await createTenantWorkspace(writer, { name: 'Other' }),
  }
}

const { it, main, the, server } = suite('adjustments', world)

const play = async (talk: number, more: Json = {}) =>
  (await main.playCall({ to: the.line.e164, at: minutesAgo(3), script: { [DESK]: answerScript(talk) }, ...more })).call
const post = (ask: ApiClient, surface: string, id: string, body: Json, headers = {}) =>
  ask(`/api/${surface}/calls/${id}/adjust`, { method: 'POST', body: { reason: 'Agreed', ...body }, headers })
const byKey = (id: string, body: Json, headers = {}) => post(main.rest, 'v1', id, body, headers)
const byUser = (id: string, body: Json) => post(main.console, 'tracking', id, body)
const convert = (id: string, body: Json = {}) =>
  main.rest(`/api/v1/calls/${id}/conversion`, { method: 'POST', body: { converted: true, ...body } })
const codeOf = ({ status, body }: Json) => [status, body.error?.code]
const was = { converted: true, revenueCents: 1_000, payoutCents: 500 }

it('a key corrects a figure, and dependent figures follow', async () => {
  const call = await play(60)
  const answer = await byKey(call.id, { revenueCents: 601, reason: ' Half of it was hold music ' })
  expect(answer.status, answer.text).toBe(200)
  const after = { converted: true, revenueCents: 601, payoutCents: 301 }
  const adjustment = {
    id: expect.any(String),
    at: expect.any(String),
    actor: { type: 'key', id: expect.any(String), name: 'Full key' },
    source: 'key',
    before: was,
    after,
    reason: 'Half of it was hold music',
  }
  expect(answer.body.adjustment).toEqual(adjustment)
  expect(answer.body.call).toMatchObject({
    ...after,
    profitCents: 300,
    outcome: 'converted',
    conversionSource: 'duration',
    corrections: { revenueCents: 601 },
    adjustments: [answer.body.adjustment],
    conversionNote: null,
    convertedAt: call.convertedAt,
    settledAt: call.settledAt,
  })
  const { call: read, story } = (await main.rest(`/api/v1/calls/${call.id}`)).body
  expect(read).toEqual(answer.body.call)
  expect(story.money).toMatchObject({ ...after, profitCents: 300, adjustments: [answer.body.adjustment] })
})

it('a user withdraws a conversion and a key grants it again; the history keeps both, oldest first', async () => {
  const { id } = await play(60)
  const back = await byUser(id, { converted: false, reason: 'Wrong number' })
  expect(back.body.call).toMatchObject({
    outcome: 'connected',
    converted: false,
    convertedAt: null,
    conversionSource: null,
    revenueCents: 0,
    payoutCents: 0,
    profitCents: 0,
    conversionNote: 'Wrong number',
    corrections: { converted: false },
  })
  expect(back.body.adjustment).toMatchObject({
    source: 'user',
    actor: { type: 'user', name: 'Main owner' },
    before: was,
  })
  const again = await byKey(id, { converted: true, payoutCents: 900 })
  expect(again.body.call).toMatchObject({
    outcome: 'converted',
    conversionSource: 'duration',
    revenueCents: 1_000,
    payoutCents: 900,
    profitCents: 100,
    corrections: { converted: true, payoutCents: 900 },
  })
  expect(again.body.call.adjustments).toEqual([back.body.adjustment, again.body.adjustment])
})

it('a call that was too short is converted by an adjustment, and its profit may be negative', async () => {
  const { id } = await play(10)
  const { body } = await byUser(id, { converted: true, revenueCents: 5, payoutCents: 10 })
  expect(body.call).toMatchObject({ converted: true, conversionSource: 'manual', profitCents: -5 })
  expect(body.call.convertedAt).toBe(body.adjustment.at)
})

it('an adjusted figure survives a conversion, until it is adjusted again', async () => {
  const { id } = await play(10)
  await byKey(id, { revenueCents: 77 })
  expect((await convert(id, { revenueCents: 5_000 })).body).toMatchObject({
    changed: true,
    call: { converted: true, revenueCents: 77, payoutCents: 39, conversionSource: 'postback' },
  })
  expect((await byKey(id, { payoutCents: 1 })).body.call).toMatchObject({ revenueCents: 77, payoutCents: 1 })
  expect((await byKey(id, { revenueCents: 78 })).body.call).toMatchObject({ revenueCents: 78, payoutCents: 1 })
})

it('an adjustment before the settlement is applied when the call settles', async () => {
  const { id } = await play(60, { to: the.quick.e164, at: undefined })
  const { body } = await byKey(id, { payoutCents: 7 })
  expect(body.adjustment).toMatchObject({ before: was, after: { ...was, payoutCents: 7 } })
  expect(body.call).toMatchObject({
    settledAt: null,
    converted: false,
    revenueCents: 0,
    corrections: { payoutCents: 7 },
  })
  const { call } = await main.readCallAfter('settled', id)
  expect(call).toMatchObject({ converted: true, revenueCents: 1_000, payoutCents: 7, profitCents: 993 })
})

it('lists, totals and counters show an adjustment at once', async () => {
  const [one, other] = [await play(60), await play(60)]
  const listed = async () => (await main.rest('/api/v1/calls?pageSize=200')).body
  const sums = ({ data }: Json) =>
    data.map((row: Json) => [row.revenueCents, row.payoutCents, row.profitCents, row.converted])
  const targetOf = async () => (await main.rest(`/api/v1/targets/${the.desk}`)).body.target
  const before = { list: await listed(), target: await targetOf() }
  await byKey(one.id, { revenueCents: 9_000 })
  await byKey(other.id, { converted: false })
  const after = { list: await listed(), target: await targetOf() }
  const total = (rows: Json, n: number) => rows.reduce((sum: number, row: Json) => sum + Number(row[n]), 0)
  const rows = sums(after.list)
  expect(after.list.stats).toMatchObject({
    revenueCents: total(rows, 0),
    payoutCents: total(rows, 1),
    profitCents: total(rows, 2),
    converted: total(rows, 3),
  })
  expect(after.list.stats.revenueCents - before.list.stats.revenueCents).toBe(7_000)
  expect(after.list.stats.converted - before.list.stats.converted).toBe(-1)
  expect((await main.rest('/api/v1/calls?outcome=converted&pageSize=200')).body.stats.count).toBe(
    after.list.stats.converted,
  )
  const [top] = (await main.rest('/api/v1/calls?sort=billedCents&pageSize=1')).body.data
  expect(top).toMatchObject({ id: one.id, revenueCents: 9_000 })
  // A call from before midnight counts for yesterday.
  if (one.settledAt.slice(0, 10) !== new Date().toISOString().slice(0, 10)) return
  expect(after.target.usage.dayRevenueCents - before.target.usage.dayRevenueCents).toBe(7_000)
})

it('an adjustment fills a revenue cap, and another frees it', async () => {
  const { id } = await play(60)
  const next = async () => (await play(60)).reasonCode
  await byKey(id, { revenueCents: 100_000 })
  expect(await next()).toBe('no_eligible_target')
  await byKey(id, { revenueCents: 0 })
  expect(await next()).toBeNull()
})

it('figures of a call that reached no buyer may be set, but it does not convert', async () => {
  const missed = await play(0, { script: { [DESK]: [{ result: 'busy', afterSeconds: 1 }] } })
  const { summary } = (await main.readCall(missed.id)).story
  expect(summary).toEqual({ outcome: 'unrouted', sentence: missed.reasonSentence })
  expect((await byKey(missed.id, { payoutCents: 25 })).body.call).toMatchObject({
    outcome: 'unrouted',
    reasonCode: 'all_targets_failed',
    converted: false,
    payoutCents: 25,
    profitCents: -25,
  })
  expect((await main.readCall(missed.id)).story.summary).toEqual(summary)
  expect(codeOf(await byKey(missed.id, { converted: true }))).toEqual([409, 'conflict'])
})

it('a payout can be corrected only on a call that a publisher sent', async () => {
  const direct = await play(60, { to: the.direct.e164 })
  expect(direct.publisher).toBeNull()
  for (const sent of [{ payoutCents: 5 }, { payoutCents: 0 }, { payoutCents: 5, revenueCents: 7 }])
    expect(codeOf(await byKey(direct.id, sent))).toEqual([409, 'conflict'])
  expect((await byUser(direct.id, { revenueCents: 7 })).body.call).toMatchObject({ revenueCents: 7, payoutCents: 0 })
})

it('a live call cannot be adjusted', async () => {
  const { body } = await main.placeCall({ to: the.line.e164, script: { [DESK]: answerScript(600) } })
  expect(codeOf(await byKey(body.callId, { revenueCents: 5 }))).toEqual([409, 'conflict'])
})

it(`${documentLine('limit: Adjustments per call')}: fifty are taken of a call, the fifty-first is not`, async () => {
  const { id } = await play(60)
  for (let n = 0; n < 50; n += 1) expect((await byKey(id, { revenueCents: n })).status).toBe(200)
  const answer = await byKey(id, { revenueCents: 50 })
  expect(codeOf(answer)).toEqual([409, 'adjustment_limit'])
  expect(answer.body.error.details).toEqual({ limit: 50 })
  expect(codeOf(await byKey(id, { revenueCents: 49 }))).toEqual([400, 'bad_request'])
  const { call } = await main.readCall(id)
  expect(call.adjustments).toHaveLength(50)
  expect(call.adjustments.map(({ after }: Json) => after.revenueCents)).toEqual(Array.from({ length: 50 }, (_, n) => n))
})

it('concurrent adjustments are applied one after another', async () => {
  const { id } = await play(60)
  const answers = await Promise.all(Array.from({ length: 20 }, (_, n) => byKey(id, { revenueCents: 2_000 + n })))
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
  const { call } = await main.readCall(id)
  for (const [n, { before }] of call.adjustments.entries()) {
    expect(before).toEqual(n === 0 ? was : call.adjustments[n - 1].after)
  }
  expect(call.revenueCents).toBe(call.adjustments.at(-1).after.revenueCents)
})

it('an adjustment repeated with its Idempotency-Key gives the same answer', async () => {
  const { id } = await play(60)
  const key = { 'idempotency-key': `adjust-${id}` }
  const [one, other] = [await byKey(id, { revenueCents: 5 }, key), await byKey(id, { revenueCents: 5 }, key)]
  expect(other.body).toEqual(one.body)
  expect((await main.readCall(id)).call.adjustments).toHaveLength(1)
})

it(`${documentLine('limit: Largest figure on one call')}: what is past it, names nothing or changes nothing is refused`, async () => {
  const { id } = await play(60)
  for (const body of [{}, was, { revenueCents: 1_000 }, { converted: true }]) {
    expect(codeOf(await byKey(id, body))).toEqual([400, 'bad_request'])
  }
  for (const [field, body] of [
    ['revenueCents', { revenueCents: LARGEST + 1 }],
    ['payoutCents', { payoutCents: LARGEST + 1 }],
    ['payoutCents', { payoutCents: -1 }],
    ['revenueCents', { revenueCents: 1.5 }],
    ['revenueCents', { revenueCents: null }],
    ['converted', { converted: 1 }],
    ['reason', { revenueCents: 1, reason: '' }],
    ['reason', { revenueCents: 1, reason: 'x'.repeat(501) }],
    ['reason', { revenueCents: 1, reason: null }],
    ['profitCents', { profitCents: 1 }],
  ] as const) {
    const { status, body: answer } = await byKey(id, body)
    expect([status, answer.error?.code, Object.keys(answer.error?.details ?? {})]).toEqual([
      400,
      'validation_error',
      [field],
    ])
  }
  expect((await main.readCall(id)).call.adjustments).toEqual([])
  const most = await byKey(id, { revenueCents: LARGEST, payoutCents: LARGEST, reason: 'ü'.repeat(500) })
  expect(most.body.call).toMatchObject({ revenueCents: LARGEST, payoutCents: LARGEST, profitCents: 0 })
  await byKey(id, { revenueCents: 0, payoutCents: 0 })
})

it('who may: a key with the scope, and nobody of another workspace', async () => {
  const { id } = await play(60)
  expect(
    codeOf(
      await post(
        createApiClient(() => server.baseUrl, the.readOnly),
        'v1',
        id,
        {},
      ),
    ),
  ).toEqual([403, 'insufficient_scope'])
  const other = createTenantClient(server, the.other)
  for (const each of [id, UNKNOWN_ID, 'nonsense']) {
    expect(codeOf(await post(other.rest, 'v1', each, { revenueCents: 'x' }))).toEqual([404, 'not_found'])
    expect(codeOf(await post(other.console, 'tracking', each, { revenueCents: 5 }))).toEqual([404, 'not_found'])
  }
})

it('an adjustment is logged under the user’s name, with before and after', async () => {
  const { id, ref } = await play(60)
  await byUser(id, { converted: false, reason: 'Fraud' })
  const { body } = await main.console(`/api/tracking/activity?entityId=${id}`)
  expect(body.data).toMatchObject([
    {
      actor: { type: 'user', name: 'Main owner' },
      action: 'adjusted',
      severity: 'medium',
      summary: `Call ${ref} was adjusted: Fraud`,
      changes: [
        { field: 'converted', before: true, after: false },
        { field: 'revenueCents', before: 1_000, after: 0 },
        { field: 'payoutCents', before: 500, after: 0 },
        { field: 'reason', before: null, after: 'Fraud' },
      ],
    },
  ])
})
