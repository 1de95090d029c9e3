import { expect } from 'vitest'
import type { StreamWriter } from '../../../src/runtime/write/stream-writer.ts'
import { errorWithoutRequestId, type Json, UNKNOWN_ID } from '../../support/e2e/api-client.ts'
import { documentLine } from '../../support/e2e/document-1.ts'
import { expectLengths, expectRanges, type Range, refusalOf } from '../../support/e2e/ranges.ts'
import { suite } from '../../support/e2e/suite.ts'
import { createTenantClient } from '../../support/e2e/tenant-client.ts'
import { createTenantWorkspace } from '../../support/e2e/world.ts'

const PATH = '/api/tracking/targets'
const FIGURES: readonly Range[] = [
  ['revenueCents', 0, 100_000_000],
  ['durationThresholdSeconds', 0, 86_400],
  ['concurrencyCap', 0, 100_000],
  ['hourlyCap', 0, 1_000_000],
  ['dailyCap', 0, 1_000_000],
  ['monthlyCap', 0, 10_000_000],
  ['totalCap', 0, 100_000_000],
  ['dailyRevenueCapCents', 0, 100_000_000_000],
  ['dedupeWindowSeconds', 0, 7_776_000],
]
const NUMBER = { type: 'number', endpoint: { destinationE164: '+13125550001' } }
const BIDDER = { bidUrl: 'https://bids.example/ask', bidHeaders: { 'x-key': 'secret' }, bidBodyTemplate: '{"a":1}' }

async function world(writer: StreamWriter) {
  const main = await createTenantWorkspace(writer, { name: 'Main', timezone: 'America/Denver' })
  const buyer = await main.buyer({ name: 'Buyer' })
  const second = await main.buyer({ name: 'Second' })
  const planned = await main.target(buyer, { name: 'Planned' })
  const roofing = await main.line({ name: 'Roofing' }, [planned])
  const solar = await main.line({ name: 'Solar' }, [planned])
  const small = await createTenantWorkspace(writer, { name: 'Small', planId: 'starter' })
  const smallBuyer = await small.buyer({ name: 'Buyer' })
  const other = await createTenantWorkspace(writer, { name: 'Other' })
  const foreignBuyer = await other.buyer({ name: 'Foreign' })
  const foreign = await other.target(foreignBuyer, { name: 'Foreign' })
  return { main, buyer, second, planned, roofing, solar, small, smallBuyer, foreignBuyer, foreign }
}

const { it, describe, main, the, server } = suite('targets in the console', world)

let n = 0
const create = (body: Json, desk = main) => {
  n += 1
  return desk.console(PATH, { method: 'POST', body: { name: `Target ${n}`, buyerId: the.buyer, ...body } })
}
const made = async (body: Json = NUMBER, desk = main): Promise<Json> => {
  const answer = await create(body, desk)
  expect(answer.status, answer.text).toBe(201)
  return answer.body.target
}
const change = (id: string, body: Json) => main.console(`${PATH}/${id}`, { method: 'PATCH', body })
const move = (id: string, body: Json, desk = main) => desk.console(`${PATH}/${id}/status`, { method: 'POST', body })
const read = async (id: string) => (await main.console(`${PATH}/${id}`)).body.target

describe(documentLine('POST /api/tracking/targets'), () => {
  it('adds a number as a draft, with every default', async () => {
    const target = await made({ ...NUMBER, name: '  Front desk ' })
    expect(target).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      name: 'Front desk',
      type: 'number',
      kind: 'delivery',
      status: 'draft',
      externalRef: null,
      buyerId: the.buyer,
      buyer: { id: the.buyer, name: 'Buyer', status: 'active' },
      health: 'unknown',
      lastError: null,
      consecutiveFailures: 0,
      suppressedUntil: null,
      revenueCents: 0,
      durationThresholdSeconds: 0,
      destination: { type: 'number', value: '+13125550001', display: '(312) 555-0001' },
      endpoint: {
        id: expect.any(String),
        mode: 'pstn',
        destinationE164: '+13125550001',
        callerIdMode: 'caller',
        callerIdE164: null,
        sendDigits: null,
        sipUri: null,
        sipTransport: 'udp',
        sipPort: null,
        sipAuthType: 'none',
        sipUsername: null,
        sipRealm: null,
        hasSipSecret: false,
        sipSecretLast4: null,
        ringTimeoutSeconds: null,
        lastHealthCheckAt: null,
        whisper: null,
      },
      rtb: null,
      concurrencyCap: 0,
      hourlyCap: 0,
      dailyCap: 0,
      monthlyCap: 0,
      totalCap: 0,
      dailyRevenueCapCents: 0,
      capCountsOn: 'connected',
      usage: { liveCalls: 0, hour: 0, day: 0, month: 0, total: 0, dayRevenueCents: 0 },
      liveCalls: 0,
      states: [],
      timezone: 'America/Denver',
      hoursSchedule: null,
      dedupeWindowSeconds: 0,
      tagFilters: [],
      today: expect.objectContaining({ calls: 0 }),
      routes: [],
      createdAt: expect.any(String),
      updatedAt: target.createdAt,
    })
    expect(await read(target.id)).toEqual(target)
  })

  it('keeps hours, states, filters and dialling as sent', async () => {
    const days = { mon: [['09:00', '24:00']], sun: [] }
    const sent = {
      externalRef: 'crm-1',
      capCountsOn: 'converted',
      states: ['ny', 'CA', 'NY'],
      timezone: 'Asia/Kathmandu',
      hoursSchedule: { days },
      tagFilters: [
        { key: 'source', op: 'in', value: ['a', 'b'] },
        { key: 'vip', op: 'exists' },
      ],
    }
    const endpoint = {
      sendDigits: '1w2#',
      ringTimeoutSeconds: 5,
      callerIdMode: 'fixed',
      callerIdE164: '+13125550009',
    }
    const whisper = { text: 'Roofing lead' }
    const target = await made({ ...NUMBER, ...sent, endpoint: { ...NUMBER.endpoint, ...endpoint, whisper } })
    expect(target).toMatchObject({
      ...sent,
      states: ['NY', 'CA'],
      hoursSchedule: { tz: 'Asia/Kathmandu', days: { ...days, tue: [] } },
      tagFilters: [sent.tagFilters[0], { key: 'vip', op: 'exists', value: null }],
      endpoint: { ...endpoint, whisper: { ...whisper, acceptDigit: null } },
    })
  })

  it('seals a sip password, and shows only its last four characters', async () => {
    const dialled = {
      sipUri: 'sip:desk@pbx.example',
      sipAuthType: 'digest',
      sipUsername: 'desk',
      sipTransport: 'tls',
    }
    const sipPassword = 'correct horse'
    const target = await made({ type: 'sip', revenueCents: 5, endpoint: { ...dialled, sipPort: 5061, sipPassword } })
    expect(target).toMatchObject({
      kind: 'static',
      destination: { type: 'sip', value: 'sip:desk@pbx.example', display: 'sip:desk@pbx.example' },
      endpoint: { ...dialled, mode: 'sip', sipPort: 5061, hasSipSecret: true, sipSecretLast4: 'orse' },
    })
    expect(JSON.stringify(target)).not.toMatch(/correct|sipPassword|"sealed"/)
    const shown = async (password: string | null) => {
      const { body } = await change(target.id, { endpoint: { sipPassword: password } })
      return [body.target.endpoint.hasSipSecret, body.target.endpoint.sipSecretLast4]
    }
    expect(await shown('12345')).toEqual([true, '2345'])
    expect(await shown('1234')).toEqual([true, null])
    await change(target.id, { endpoint: { sipRealm: 'pbx' } })
    expect((await read(target.id)).endpoint).toMatchObject({ sipRealm: 'pbx', hasSipSecret: true })
    expect(await shown(null)).toEqual([false, null])
  })

  it('adds a bidder, shown in full to its owner and masked for a key', async () => {
    const target = await made({ type: 'rtb', rtb: BIDDER })
    expect(target).toMatchObject({
      kind: 'external_rtb',
      revenueCents: null,
      endpoint: null,
      destination: { type: 'rtb', value: 'bids.example', display: 'bids.example' },
      rtb: { ...BIDDER, method: 'POST', timeoutMs: 2_000, bidUnit: 'cents', modifierPct: 0, destination: null },
    })
    const blank = { bidHeaders: { 'x-key': '•••' }, bidBodyTemplate: '•••', bidUrl: BIDDER.bidUrl }
    const listed = (await main.rest('/api/v1/targets?type=rtb')).body.data.find(({ id }: Json) => id === target.id)
    const owned = (await main.console(`/api/tracking/buyers/${the.buyer}`)).body.targets
    for (const shown of [
      (await main.rest(`/api/v1/targets/${target.id}`)).body.target,
      listed,
      owned.find(({ id }: Json) => id === target.id),
    ])
      expect(shown.rtb).toMatchObject(blank)
    expect((await read(target.id)).rtb).toMatchObject(BIDDER)
  })

  it('accepts every figure and text within its range and none outside', async () => {
    await expectRanges(
      FIGURES,
      (body) => create({ ...NUMBER, ...body }),
      ({ target }) => target,
    )
    await expectLengths([['externalRef', 200]], (body) => create({ ...NUMBER, ...body }))
    const endpoint = (body: Json) => create({ ...NUMBER, endpoint: { ...NUMBER.endpoint, ...body } })
    for (const [seconds, status] of [
      [4, 400],
      [5, 201],
      [120, 201],
      [121, 400],
    ])
      expect((await endpoint({ ringTimeoutSeconds: seconds })).status, String(seconds)).toBe(status)
    const bidding = (body: Json) => create({ type: 'rtb', rtb: { ...BIDDER, ...body } })
    for (const [body, status] of [
      [{ timeoutMs: 49 }, 400],
      [{ timeoutMs: 50 }, 201],
      [{ timeoutMs: 5_000 }, 201],
      [{ timeoutMs: 5_001 }, 400],
      [{ modifierPct: -100 }, 201],
      [{ modifierPct: 100.1 }, 400],
      [{ bidUrl: `https://bids.example/${'x'.repeat(1_979)}` }, 201],
      [{ bidUrl: `https://bids.example/${'x'.repeat(1_980)}` }, 400],
      [{ bidHeaders: Object.fromEntries(Array.from({ length: 20 }, (_, at) => [`x-${at}`, 'v'])) }, 201],
      [{ bidHeaders: Object.fromEntries(Array.from({ length: 21 }, (_, at) => [`x-${at}`, 'v'])) }, 400],
      [{ bidHeaders: { 'x-a': 'v\r\nx-b: w' } }, 400],
      [{ bidHeaders: { 'x-a': 'v'.repeat(1_001) } }, 400],
      [{ bidUrl: 'file:///etc/passwd' }, 400],
    ] as const)
      expect((await bidding(body)).status, JSON.stringify(body).slice(0, 80)).toBe(status)
  })

  it.each<readonly [Json, number, string, string]>([
    [{ name: 'x' }, 400, 'validation_error', 'name'],
    [{ name: 'x'.repeat(121) }, 400, 'validation_error', 'name'],
    [{ type: 'fax' }, 400, 'validation_error', 'type'],
    [{ buyerId: 'acme' }, 400, 'validation_error', 'buyerId'],
    [{ status: 'active' }, 400, 'validation_error', 'status'],
    [{ states: Array(63).fill('NY') }, 400, 'validation_error', 'states'],
    [{ capCountsOn: 'never' }, 400, 'validation_error', 'capCountsOn'],
    [{ endpoint: { destinationE164: '3125550001' } }, 400, 'validation_error', 'endpoint.destinationE164'],
    [{ endpoint: { sipSecret: { sealed: 'x', last4: null } } }, 400, 'validation_error', 'endpoint.sipSecret'],
    [{ endpoint: { id: UNKNOWN_ID } }, 400, 'validation_error', 'endpoint.id'],
    [{ timezone: 'Mars/Olympus' }, 400, 'bad_request', 'timezone'],
    [{ states: ['NYC'] }, 400, 'bad_request', 'states'],
    [{ hoursSchedule: { days: { mon: [] } } }, 400, 'bad_request', 'hoursSchedule'],
    [{ hoursSchedule: { days: { mond: [['09:00', '17:00']] } } }, 400, 'bad_request', 'hoursSchedule'],
    [{ revenueCents: null }, 400, 'bad_request', 'revenueCents'],
    [{ rtb: BIDDER }, 400, 'bad_request', 'rtb'],
    [{ type: 'rtb', endpoint: undefined, revenueCents: 5 }, 400, 'bad_request', 'revenueCents'],
    [{ type: 'rtb' }, 400, 'bad_request', 'endpoint'],
    [{ tagFilters: [{ key: 'a', op: 'eq' }] }, 400, 'bad_request', 'tagFilters.0.value'],
    [{ tagFilters: [{ key: 'a b', op: 'exists' }] }, 400, 'validation_error', 'tagFilters.0.key'],
  ])('refuses %j with %i %s by the field', async (body, status, code, field) => {
    expect(refusalOf(await create({ ...NUMBER, ...body }))).toEqual({
      status,
      code,
      details: { [field]: expect.any(String) },
    })
  })

  it('does not find a buyer of another workspace, and adds no target to an archived one', async () => {
    for (const buyerId of [the.foreignBuyer, UNKNOWN_ID])
      expect(refusalOf(await create({ ...NUMBER, buyerId }))).toMatchObject({ status: 404, code: 'not_found' })
    const { body } = await main.console('/api/tracking/buyers', { method: 'POST', body: { name: 'Shelved' } })
    const buyerId = body.buyer.id
    const archive = { method: 'POST', body: { status: 'archived' } }
    await main.console(`/api/tracking/buyers/${buyerId}/status`, archive)
    const conflict = { status: 409, code: 'conflict', details: { status: 'archived' } }
    expect(refusalOf(await create({ ...NUMBER, buyerId }))).toEqual(conflict)
    const target = await made()
    expect(refusalOf(await change(target.id, { buyerId }))).toEqual(conflict)
  })

  it('refuses to add or restore a target beyond the plan', async () => {
    const small = createTenantClient(server, the.small)
    const body = { ...NUMBER, buyerId: the.smallBuyer }
    const ids: string[] = []
    for (let place = 1; place <= 10; place += 1) ids.push((await made(body, small)).id)
    const details = { feature: 'maxTargets', limit: 10, current: 10 }
    const full = { status: 402, code: 'plan_upgrade_required', details }
    expect(refusalOf(await create(body, small))).toEqual(full)
    const [first = ''] = ids
    await move(first, { status: 'archived' }, small)
    await made(body, small)
    expect(refusalOf(await move(first, { status: 'draft' }, small))).toEqual(full)
  })
})

describe(documentLine('PATCH /api/tracking/targets/:id'), () => {
  it('changes the fields sent and keeps the rest, also within dialling and bidding', async () => {
    const target = await made({ ...NUMBER, revenueCents: 500 })
    const { status, body } = await change(target.id, {
      name: 'Renamed',
      buyerId: the.second,
      capCountsOn: 'claimed',
      endpoint: { ringTimeoutSeconds: 30 },
    })
    expect(status).toBe(200)
    expect(body.target).toMatchObject({
      name: 'Renamed',
      revenueCents: 500,
      buyer: { id: the.second, name: 'Second' },
      endpoint: { ...NUMBER.endpoint, ringTimeoutSeconds: 30 },
      routes: [],
    })
    expect(body.target).toEqual(await read(target.id))
    const bidder = await made({ type: 'rtb', rtb: BIDDER })
    const bid = (await change(bidder.id, { rtb: { bidUnit: 'dollars', maxBidCents: 900 } })).body.target.rtb
    expect(bid).toMatchObject({ ...BIDDER, bidUnit: 'dollars', maxBidCents: 900 })
    const both = await change(bidder.id, { rtb: { minBidCents: 901 } })
    expect(refusalOf(both)).toMatchObject({ code: 'bad_request', details: { 'rtb.minBidCents': expect.any(String) } })
  })

  it('clears hours and states with null', async () => {
    const hoursSchedule = { tz: 'UTC', days: { mon: [['09:00', '17:00']] } }
    const target = await made({ ...NUMBER, states: ['NY'], hoursSchedule })
    const { body } = await change(target.id, { states: null, hoursSchedule: null })
    expect(body.target).toMatchObject({ states: [], hoursSchedule: null })
  })

  it('refuses the type, an empty body, an archived target and missing ids', async () => {
    const target = await made()
    expect(refusalOf(await change(target.id, { type: 'sip' }))).toMatchObject({
      status: 400,
      code: 'validation_error',
      details: { type: expect.any(String) },
    })
    expect(refusalOf(await change(target.id, {}))).toMatchObject({ status: 400, code: 'bad_request' })
    expect(refusalOf(await change(target.id, { buyerId: the.foreignBuyer }))).toMatchObject({ status: 404 })
    await move(target.id, { status: 'archived' })
    expect(refusalOf(await change(target.id, { dailyCap: 1 }))).toEqual({
      status: 409,
      code: 'conflict',
      details: { status: 'archived' },
    })
    const absent = await Promise.all(['nope', UNKNOWN_ID, the.foreign].map((id) => change(id, { dailyCap: 1 })))
    expect(absent[0]?.status).toBe(404)
    expect(new Set(absent.map(errorWithoutRequestId)).size).toBe(1)
  })
})

describe(documentLine('POST /api/tracking/targets/:id/status'), () => {
  it('makes every allowed move, and removes an archived target from every plan', async () => {
    const one = async (status: string) => {
      const { body } = await move(the.planned, { status, note: 'Because' })
      expect(body.target).toEqual(await read(the.planned))
      return [body.changed, body.removedRoutes, body.target.status, body.target.routes.length]
    }
    expect(await one('paused')).toEqual([true, 0, 'paused', 2])
    expect(await one('paused')).toEqual([false, 0, 'paused', 2])
    expect(await one('active')).toEqual([true, 0, 'active', 2])
    expect(await one('archived')).toEqual([true, 2, 'archived', 0])
    expect(await one('archived')).toEqual([false, 0, 'archived', 0])
    expect(await one('draft')).toEqual([true, 0, 'draft', 0])
    expect(await one('active')).toEqual([true, 0, 'active', 0])
  })

  it('refuses every other move, and names the allowed ones', async () => {
    const { id } = await made()
    const refused = async (status: string) => refusalOf(await move(id, { status }))
    const conflict = (status: string, allowed: readonly string[]) => ({
      status: 409,
      code: 'conflict',
      details: { status, allowed },
    })
    expect(await refused('paused')).toEqual(conflict('draft', ['active', 'archived']))
    await move(id, { status: 'active' })
    expect(await refused('draft')).toEqual(conflict('active', ['paused', 'archived']))
    await move(id, { status: 'paused' })
    expect(await refused('draft')).toEqual(conflict('paused', ['active', 'archived']))
    await move(id, { status: 'archived' })
    for (const status of ['active', 'paused']) expect(await refused(status)).toEqual(conflict('archived', ['draft']))
  })

  it('does not activate a target without a destination, and reads its body strictly', async () => {
    const { id } = await made({ type: 'sip' })
    expect(refusalOf(await move(id, { status: 'active' }))).toEqual({
      status: 409,
      code: 'conflict',
      details: { destination: expect.any(String) },
    })
    for (const [body, field] of [
      [{}, 'status'],
      [{ status: 'gone' }, 'status'],
      [{ status: 'active', note: 'x'.repeat(501) }, 'note'],
    ] as const)
      expect(refusalOf(await move(id, body))).toMatchObject({ status: 400, details: { [field]: expect.any(String) } })
    expect(refusalOf(await move(the.foreign, { status: 'paused' }))).toMatchObject({ status: 404, code: 'not_found' })
  })
})
