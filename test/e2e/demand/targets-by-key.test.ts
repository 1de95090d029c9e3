import { expect } from 'vitest'
import { setBuyerStatus } from '../../../commands/demand/set-buyer-status.ts'
import type { StreamWriter } from '../../../src/runtime/write/stream-writer.ts'
import {
  createApiClient,
  errorWithoutRequestId,
  type Json,
  queryString,
  UNKNOWN_ID,
} from '../../support/e2e/api-client.ts'
import { documentLine } from '../../support/e2e/document-1.ts'
import { expectRanges, type Range, refusalOf } from '../../support/e2e/ranges.ts'
import { suite } from '../../support/e2e/suite.ts'
import { setBidHeaders, skipsOf } from '../../support/e2e/tenant-client.ts'
import { createTenantWorkspace } from '../../support/e2e/world.ts'

const NINE: readonly Range[] = [
  ['revenueCents', 0, 100_000_000],
  ['concurrencyCap', 0, 100_000],
  ['hourlyCap', 0, 1_000_000],
  ['dailyCap', 0, 1_000_000],
  ['monthlyCap', 0, 10_000_000],
  ['totalCap', 0, 100_000_000],
  ['dailyRevenueCapCents', 0, 100_000_000_000],
]
const NOTHING_TODAY = {
  calls: 0,
  connected: 0,
  converted: 0,
  connectRate: null,
  conversionRate: null,
  revenueCents: 0,
  payoutCents: 0,
}

async function world(writer: StreamWriter) {
  const main = await createTenantWorkspace(writer, { name: 'Main' })
  const acme = await main.buyer({ name: 'Acme' })
  const brick = await main.buyer({ name: 'Brick' })
  const desk = await main.target(acme, { name: 'Desk', externalRef: 'ref-77', dailyCap: 50 })
  const pbx = await main.target(acme, {
    name: 'Switch',
    type: 'sip',
    endpoint: { sipUri: 'sip:desk@pbx.example' },
    revenueCents: 0,
  })
  const rtb = { bidUrl: 'https://bids.example/ask', bidBodyTemplate: '{"a":1}' }
  const bidder = await main.target(brick, { name: 'Bidder', type: 'rtb', revenueCents: null, rtb })
  const draft = await main.target(brick, { name: 'Draft', status: 'draft' })
  const archived = await main.target(brick, { name: 'Archived', status: 'archived' })
  const line = await main.line({ name: 'Roofing' }, [desk, pbx])
  const free = await main.target(acme, { name: 'Free' })
  const other = await createTenantWorkspace(writer, { name: 'Other' })
  const foreign = await other.target(await other.buyer({ name: 'Theirs' }))
  const theirs = await other.line({ name: 'Theirs' }, [foreign])
  const reader = await main.apiKey({ name: 'Reader', scopes: ['targets:read'] })
  const writes = await main.apiKey({ name: 'Writer', scopes: ['targets:write'] })
  await main.act(setBuyerStatus, { buyerId: brick, status: 'paused' })
  return { main, acme, brick, desk, pbx, bidder, draft, archived, line, free, foreign, theirs, reader, writes }
}

const { it, describe, beforeAll, main, the, server } = suite('targets through keys', world)

beforeAll(async () => {
  await setBidHeaders(main, the.bidder, { 'x-key': 'secret' })
})

const read = async (id: string) => (await main.rest(`/api/v1/targets/${id}`)).body.target
const change = (id: string, body: Json) => main.rest(`/api/v1/targets/${id}`, { method: 'PATCH', body })
const move = (id: string, body: Json) => main.rest(`/api/v1/targets/${id}/status`, { method: 'POST', body })

describe(documentLine('GET /api/v1/targets'), () => {
  it('lists by text, status, buyer, type, kind, health and campaign, the same on both surfaces', async () => {
    const names = async (parameters: Json) =>
      (await main.rest(`/api/v1/targets${queryString(parameters)}`)).body.data.map(({ name }: Json) => name)
    expect(await names({})).toEqual(['Free', 'Draft', 'Bidder', 'Switch', 'Desk'])
    expect(await names({ status: 'archived' })).toEqual(['Archived'])
    expect(await names({ status: 'draft' })).toEqual(['Draft'])
    expect(await names({ q: 'SWIT' })).toEqual(['Switch'])
    expect(await names({ q: 'ref-' })).toEqual(['Desk'])
    expect(await names({ q: '.*' })).toEqual([])
    expect(await names({ buyerId: the.brick })).toEqual(['Draft', 'Bidder'])
    expect(await names({ type: 'rtb' })).toEqual(['Bidder'])
    expect(await names({ kind: 'delivery' })).toEqual(['Switch'])
    expect(await names({ kind: 'external_rtb' })).toEqual(['Bidder'])
    expect(await names({ health: 'unknown', status: 'draft' })).toEqual(['Draft'])
    expect(await names({ health: 'down' })).toEqual([])
    expect(await names({ campaignId: the.line.campaignId })).toEqual(['Switch', 'Desk'])
    expect(await names({ sort: 'name', dir: 'asc', pageSize: 2, page: 2 })).toEqual(['Draft', 'Free'])
    const { body } = await main.rest('/api/v1/targets?pageSize=201')
    expect(body).toMatchObject({ page: 1, pageSize: 200, total: 5, totalPages: 1 })
    for (const row of body.data) {
      expect(row.today).toEqual(NOTHING_TODAY)
      expect(row).not.toHaveProperty('routes')
    }
    const twin = (await main.console('/api/tracking/targets?pageSize=201')).body
    expect(twin.data.map(({ id }: Json) => id)).toEqual(body.data.map(({ id }: Json) => id))
  })

  it.each([
    ['status=gone', 'status'],
    ['buyerId=acme', 'buyerId'],
    ['type=fax', 'type'],
    ['kind=number', 'kind'],
    ['health=ill', 'health'],
    ['campaignId=roofing', 'campaignId'],
    ['page=0', 'page'],
    [`q=${'x'.repeat(121)}`, 'q'],
  ])('refuses %s by the field', async (search, field) => {
    expect(refusalOf(await main.rest(`/api/v1/targets?${search}`))).toEqual({
      status: 400,
      code: 'validation_error',
      details: { [field]: expect.any(String) },
    })
  })

  it('does not find a campaign of another workspace, and accepts a search of 120 characters', async () => {
    for (const campaignId of [the.theirs.campaignId, UNKNOWN_ID])
      expect(refusalOf(await main.rest(`/api/v1/targets?campaignId=${campaignId}`))).toMatchObject({
        status: 404,
        code: 'not_found',
      })
    expect((await main.rest(`/api/v1/targets?q=${'x'.repeat(120)}`)).status).toBe(200)
  })
})

describe(documentLine('GET /api/v1/targets/:id'), () => {
  it('answers the target with today and its place on every plan', async () => {
    expect(await read(the.pbx)).toMatchObject({
      id: the.pbx,
      kind: 'delivery',
      buyer: { id: the.acme, name: 'Acme', status: 'active' },
      today: NOTHING_TODAY,
      routes: [
        {
          id: expect.any(String),
          campaignId: the.line.campaignId,
          campaign: { id: the.line.campaignId, name: 'Roofing', status: 'live', routingMode: 'priority' },
          priority: 20,
          weight: 100,
          active: true,
          revenueOverrideCents: null,
        },
      ],
    })
  })

  it('a malformed, a missing and a foreign id give the same 404', async () => {
    const answers = await Promise.all(['nope', UNKNOWN_ID, the.foreign].map((id) => main.rest(`/api/v1/targets/${id}`)))
    expect(answers[0]).toMatchObject({ status: 404, body: { error: { code: 'not_found' } } })
    expect(new Set(answers.map(errorWithoutRequestId)).size).toBe(1)
  })
})

describe(documentLine('PATCH /api/v1/targets/:id'), () => {
  it('changes the nine fields together or one by one, and keeps the rest', async () => {
    const days = {
      mon: [
        ['09:00', '12:00'],
        ['13:00', '24:00'],
      ],
    }
    const body = { dailyCap: 9, totalCap: 7, states: ['ca', 'NY'], hoursSchedule: { tz: 'America/Denver', days } }
    const answer = await change(the.free, body)
    expect(answer.status, answer.text).toBe(200)
    expect(answer.body.target).toMatchObject({
      name: 'Free',
      revenueCents: 1_000,
      dailyCap: 9,
      totalCap: 7,
      states: ['CA', 'NY'],
      hoursSchedule: { tz: 'America/Denver', days: { ...days, sun: [] } },
      today: NOTHING_TODAY,
      routes: [],
    })
    expect(answer.body.target).toEqual(await read(the.free))
    const cleared = await change(the.free, { states: null, hoursSchedule: null })
    expect(cleared.body.target).toMatchObject({ states: [], hoursSchedule: null, dailyCap: 9 })
  })

  it('accepts every figure within its range, and at most 62 states', async () => {
    await expectRanges(
      NINE,
      (body) => change(the.free, body),
      ({ target }) => target,
    )
    const codes = Array.from({ length: 63 }, (_, n) => String.fromCharCode(65 + Math.floor(n / 26), 65 + (n % 26)))
    expect((await change(the.free, { states: codes.slice(1) })).body.target.states).toHaveLength(62)
    expect(refusalOf(await change(the.free, { states: codes }))).toMatchObject({ code: 'validation_error' })
    await change(the.free, { states: [] })
  })

  it(documentLine('endpoints 400 field_not_writable'), async () => {
    const before = await read(the.desk)
    const refused = {
      name: 'Other',
      type: 'sip',
      buyer: { id: the.brick },
      buyerId: the.brick,
      destination: '+13125550009',
      endpoint: { destinationE164: '+13125550009' },
      credentials: { username: 'me' },
      sipPassword: 'secret',
      hasSipSecret: true,
      rtb: { bidHeaders: {} },
      bidHeaders: {},
      bidBodyTemplate: '{}',
      capCountsOn: 'claimed',
      timezone: 'UTC',
      durationThresholdSeconds: 5,
      dedupeWindowSeconds: 5,
      externalRef: 'x',
      tagFilters: [],
      status: 'paused',
      routes: [],
    }
    const answer = await change(the.desk, { ...refused, dailyCap: 1 })
    expect(refusalOf(answer)).toMatchObject({ status: 400, code: 'field_not_writable' })
    expect(Object.keys(answer.body.error.details).sort()).toEqual(Object.keys(refused).sort())
    // It precedes other problems of the body.
    const both = await change(the.desk, { name: 'Other', dailyCap: 'many', colour: 'red' })
    expect(refusalOf(both)).toEqual({
      status: 400,
      code: 'field_not_writable',
      details: { name: expect.any(String) },
    })
    for (const [field, value] of Object.entries(refused))
      expect(refusalOf(await change(the.desk, { [field]: value }))).toEqual({
        status: 400,
        code: 'field_not_writable',
        details: { [field]: expect.any(String) },
      })
    expect(await read(the.desk)).toEqual(before)
  })

  it(documentLine('endpoints 400 validation_error'), async () => {
    for (const [body, fields] of [
      [{ dailyCap: 'many' }, ['dailyCap']],
      [{ dailyCap: null, colour: 'red' }, ['colour', 'dailyCap']],
      [{ revenueCents: null }, ['revenueCents']],
      [{ hourlyCap: -1, monthlyCap: 0.5 }, ['hourlyCap', 'monthlyCap']],
      [{ hoursSchedule: { days: { mon: '9 to 5' } } }, ['hoursSchedule.days.mon']],
      [{ states: 'NY' }, ['states']],
    ] as const) {
      const answer = await change(the.desk, body)
      expect(refusalOf(answer)).toMatchObject({ status: 400, code: 'validation_error' })
      expect(Object.keys(answer.body.error.details).sort()).toEqual(fields)
    }
  })

  it.each<readonly [Json, string | null]>([
    [{}, null],
    [{ hoursSchedule: { tz: 'UTC', days: { mon: [] } } }, 'hoursSchedule'],
    [{ hoursSchedule: { tz: 'Mars/Olympus', days: { mon: [['09:00', '10:00']] } } }, 'hoursSchedule'],
    [{ states: ['NY', 'NYC'] }, 'states'],
  ])('refuses %j as a bad request', async (body, field) => {
    expect(refusalOf(await change(the.desk, body))).toEqual({
      status: 400,
      code: 'bad_request',
      details: field === null ? null : { [field]: expect.any(String) },
    })
  })

  it('refuses a price on a bidder, an archived target and missing ids', async () => {
    expect(refusalOf(await change(the.bidder, { revenueCents: 5 }))).toEqual({
      status: 400,
      code: 'bad_request',
      details: { revenueCents: expect.any(String) },
    })
    const capped = await change(the.bidder, { dailyCap: 5 })
    expect(capped.body.target.rtb).toMatchObject({ bidHeaders: { 'x-key': '•••' }, bidBodyTemplate: '•••' })
    expect(refusalOf(await change(the.archived, { dailyCap: 5 }))).toEqual({
      status: 409,
      code: 'conflict',
      details: { status: 'archived' },
    })
    const answers = await Promise.all(['nope', UNKNOWN_ID, the.foreign].map((id) => change(id, { dailyCap: 5 })))
    expect(answers[0]).toMatchObject({ status: 404, body: { error: { code: 'not_found' } } })
    expect(new Set(answers.map(errorWithoutRequestId)).size).toBe(1)
  })
})

describe(documentLine('POST /api/v1/targets/:id/status'), () => {
  it('pauses a target without removing it from a plan, and resumes it', async () => {
    const { routes } = await read(the.desk)
    const paused = await move(the.desk, { status: 'paused', note: 'Lunch' })
    expect(paused.body).toEqual({ target: await read(the.desk), changed: true, removedRoutes: 0 })
    expect(paused.body.target).toMatchObject({ status: 'paused', routes })
    expect(skipsOf((await main.playCall({ to: the.line.e164 })).story)).toEqual([['Desk', 'paused']])
    expect((await move(the.desk, { status: 'paused' })).body).toMatchObject({ changed: false, removedRoutes: 0 })
    expect((await move(the.desk, { status: 'active' })).body).toMatchObject({ changed: true, removedRoutes: 0 })
    expect((await main.playCall({ to: the.line.e164 })).call.target).toMatchObject({ id: the.desk })
  })

  it('refuses drafts and archived targets, which the console changes', async () => {
    for (const [id, status] of [
      [the.draft, 'draft'],
      [the.archived, 'archived'],
    ] as const)
      for (const to of ['active', 'paused'])
        expect(refusalOf(await move(id, { status: to }))).toEqual({
          status: 409,
          code: 'conflict',
          details: { status, allowed: [] },
        })
  })

  it.each<readonly [Json, string]>([
    [{}, 'status'],
    [{ status: 'archived' }, 'status'],
    [{ status: 'draft' }, 'status'],
    [{ status: 'paused', note: 'x'.repeat(501) }, 'note'],
    [{ status: 'paused', by: 'console' }, 'by'],
  ])('refuses %j by the field', async (body, field) => {
    expect(refusalOf(await move(the.desk, body))).toEqual({
      status: 400,
      code: 'validation_error',
      details: { [field]: expect.any(String) },
    })
  })

  it('accepts a note of 500 characters, masks a bidder, and answers 404 for a missing target', async () => {
    const answer = await move(the.bidder, { status: 'paused', note: 'x'.repeat(500) })
    expect(answer.body.target.rtb).toMatchObject({ bidHeaders: { 'x-key': '•••' }, bidBodyTemplate: '•••' })
    const answers = await Promise.all(['nope', UNKNOWN_ID, the.foreign].map((id) => move(id, { status: 'paused' })))
    expect(answers[0]?.status).toBe(404)
    expect(new Set(answers.map(errorWithoutRequestId)).size).toBe(1)
  })
})

it('each scope allows its own routes of targets, and no key the console’s', async () => {
  const reader = createApiClient(() => server.baseUrl, the.reader)
  const writer = createApiClient(() => server.baseUrl, the.writes)
  const patch = { method: 'PATCH', body: { dailyCap: 50 } }
  expect((await reader(`/api/v1/targets/${the.desk}`)).status).toBe(200)
  expect((await writer(`/api/v1/targets/${the.desk}`, patch)).status).toBe(200)
  expect(refusalOf(await reader(`/api/v1/targets/${the.desk}`, patch))).toMatchObject({ code: 'insufficient_scope' })
  expect(refusalOf(await writer(`/api/v1/targets/${the.desk}`))).toMatchObject({ code: 'insufficient_scope' })
  for (const ask of [reader, writer, main.rest])
    expect(refusalOf(await ask(`/api/tracking/targets/${the.desk}`, patch))).toMatchObject({ status: 401 })
})
