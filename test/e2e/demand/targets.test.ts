import { expect } from 'vitest'
import type { StreamWriter } from '../../../src/runtime/write/stream-writer.ts'
import { type Json, UNKNOWN_ID } from '../../support/e2e/api-client.ts'
import { documentLine } from '../../support/e2e/document-1.ts'
import { expectLengths, expectRanges, type Range, refusalOf } from '../../support/e2e/ranges.ts'
import { suite } from '../../support/e2e/suite.ts'
import { BIDDER, createTargetClient, NUMBER_TARGET } from '../../support/e2e/target-client.ts'
import { createTenantClient } from '../../support/e2e/tenant-client.ts'
import { createTenantWorkspace } from '../../support/e2e/world.ts'

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

async function world(writer: StreamWriter) {
  const main = await createTenantWorkspace(writer, { name: 'Main', timezone: 'America/Denver' })
  const buyer = await main.buyer({ name: 'Buyer' })
  const small = await createTenantWorkspace(writer, { name: 'Small', planId: 'starter' })
  const smallBuyer = await small.buyer({ name: 'Buyer' })
  const other = await createTenantWorkspace(writer, { name: 'Other' })
  const foreignBuyer = await other.buyer({ name: 'Foreign' })
  return { main, buyer, small, smallBuyer, foreignBuyer }
}

const { it, describe, main, the, server } = suite('new targets in the console', world)
const { create, created, change, read } = createTargetClient(main, () => the.buyer)

describe(documentLine('POST /api/tracking/targets'), () => {
  it('adds a number as a draft, with every default', async () => {
    const target = await created({ ...NUMBER_TARGET, name: '  Front desk ' })
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
    const target = await created({
      ...NUMBER_TARGET,
      ...sent,
      endpoint: { ...NUMBER_TARGET.endpoint, ...endpoint, whisper },
    })
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
    const target = await created({ type: 'sip', revenueCents: 5, endpoint: { ...dialled, sipPort: 5061, sipPassword } })
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
    const target = await created({ type: 'rtb', rtb: BIDDER })
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
      (body) => create({ ...NUMBER_TARGET, ...body }),
      ({ target }) => target,
    )
    await expectLengths([['externalRef', 200]], (body) => create({ ...NUMBER_TARGET, ...body }))
    const endpoint = (body: Json) => create({ ...NUMBER_TARGET, endpoint: { ...NUMBER_TARGET.endpoint, ...body } })
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
    expect(refusalOf(await create({ ...NUMBER_TARGET, ...body }))).toEqual({
      status,
      code,
      details: { [field]: expect.any(String) },
    })
  })

  const NOT_SINGULAR = ['$[0,0][0,0]', '$[*]', '$[0:2]', '$[?@.a]', '$..a', `$${'.a'.repeat(17)}`, 'a']
  it.each(['bidPath', 'acceptPath', 'destinationPath', 'durationPath', 'expiresPath', 'rejectPath'])(
    'takes a path to one value as %s, when adding and when changing, and refuses any other by the field',
    async (name) => {
      const path = `$${'.a'.repeat(15)}[0]`
      const { id, rtb } = await created({ type: 'rtb', rtb: { ...BIDDER, [name]: path } })
      expect(rtb[name]).toBe(path)
      for (const wrong of NOT_SINGULAR) {
        const body = { rtb: { ...BIDDER, [name]: wrong } }
        for (const answer of [await create({ type: 'rtb', ...body }), await change(id, body)])
          expect(refusalOf(answer), wrong).toEqual({
            status: 400,
            code: 'bad_request',
            details: { [`rtb.${name}`]: expect.stringMatching(/^Must (be|have) .+\.$/) },
          })
      }
      expect((await read(id)).rtb[name]).toBe(path)
    },
  )

  it('does not find a buyer of another workspace, and adds no target to an archived one', async () => {
    for (const buyerId of [the.foreignBuyer, UNKNOWN_ID])
      expect(refusalOf(await create({ ...NUMBER_TARGET, buyerId }))).toMatchObject({ status: 404, code: 'not_found' })
    const { body } = await main.console('/api/tracking/buyers', { method: 'POST', body: { name: 'Shelved' } })
    const buyerId = body.buyer.id
    const archive = { method: 'POST', body: { status: 'archived' } }
    await main.console(`/api/tracking/buyers/${buyerId}/status`, archive)
    const conflict = { status: 409, code: 'conflict', details: { status: 'archived' } }
    expect(refusalOf(await create({ ...NUMBER_TARGET, buyerId }))).toEqual(conflict)
    const target = await created()
    expect(refusalOf(await change(target.id, { buyerId }))).toEqual(conflict)
  })

  it('refuses to add or restore a target beyond the plan', async () => {
    const small = createTargetClient(createTenantClient(server, the.small), () => the.smallBuyer)
    const ids: string[] = []
    for (let place = 1; place <= 10; place += 1) ids.push((await small.created()).id)
    const details = { feature: 'maxTargets', limit: 10, current: 10 }
    const full = { status: 402, code: 'plan_upgrade_required', details }
    expect(refusalOf(await small.create(NUMBER_TARGET))).toEqual(full)
    const [first = ''] = ids
    await small.setStatus(first, { status: 'archived' })
    await small.created()
    expect(refusalOf(await small.setStatus(first, { status: 'draft' }))).toEqual(full)
  })
})
