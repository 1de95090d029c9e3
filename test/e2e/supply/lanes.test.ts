import { expect } from 'vitest'
import type { StreamWriter } from '../../../src/runtime/write/stream-writer.ts'
import { errorWithoutRequestId, type Json, statusCodeAndFields, UNKNOWN_ID } from '../../support/e2e/api-client.ts'
import { documentLine } from '../../support/e2e/document-1.ts'
import { absentPublishers, createLaneClient, createPublisher } from '../../support/e2e/lane-client.ts'
import { expectLengths, expectRanges, refusalOf } from '../../support/e2e/ranges.ts'
import { suite } from '../../support/e2e/suite.ts'
import { archiveCampaign, cancelSubscription, createTenantWorkspace } from '../../support/e2e/world.ts'

const AS_OPENED = {
  active: true,
  payoutMode: 'inherit',
  payoutCents: null,
  revsharePct: null,
  minPayoutCents: null,
  maxPayoutCents: null,
  bufferSeconds: null,
  effectiveBufferSeconds: 30,
  dedupeWindowSeconds: 0,
  hourlyCap: 0,
  dailyCap: 0,
  monthlyCap: 0,
  concurrencyCap: 0,
  dailyPayoutCapCents: 0,
  blockWhenCapped: true,
  states: null,
  hoursSchedule: null,
  timezone: null,
  notesPublic: null,
  notesInternal: null,
  usage: { liveCalls: 0, hour: 0, day: 0, month: 0, dayPayoutCents: 0 },
  numbers: 0,
  compat: { enabled: false, url: null },
}
const FIELDS = [...Object.keys(AS_OPENED), 'publisherId', 'publisher', 'key', 'assignedAt', 'termsFrozenAt'].toSorted()
const KEY_FIELDS = [
  'id',
  'prefix',
  'state',
  'protocol',
  'environment',
  'requireSignature',
  'lastUsedAt',
  'useCount',
  'issuedAt',
].toSorted()
const NINE = { mon: [['09:00', '17:00']] }
const codes = Array.from({ length: 63 }, (_, n) => String.fromCharCode(65 + Math.floor(n / 26), 65 + (n % 26)))

/** Bodies refused as `validation_error`, with the fields in `details`. */
const ILL_FORMED: readonly (readonly [string, Json])[] = [
  ['active', { active: 1 }],
  ['payoutMode', { payoutMode: 'gift' }],
  ['payoutCents', { payoutMode: 'fixed' }],
  ['payoutCents', { payoutMode: 'fixed', payoutCents: null }],
  ['revsharePct', { payoutMode: 'revshare' }],
  ['revsharePct', { revsharePct: 100.01 }],
  ['revsharePct', { revsharePct: -1 }],
  ['minPayoutCents', { minPayoutCents: 2, maxPayoutCents: 1 }],
  ['states', { states: codes }],
  ['states', { states: ['N1'] }],
  ['hoursSchedule', { hoursSchedule: { days: {} } }],
  ['hoursSchedule', { hoursSchedule: { days: { ...NINE, monday: [] } } }],
  ['timezone', { timezone: 'Mars/Olympus' }],
  ['blockWhenCapped', { blockWhenCapped: 'no' }],
  ['key', { key: 'rk_live_mine' }],
  ['compat', { compat: { enabled: true } }],
  ['publisherId', { publisherId: UNKNOWN_ID }],
]

async function world(writer: StreamWriter) {
  const main = await createTenantWorkspace(writer, { name: 'Main' })
  const target = await main.target(await main.buyer({ name: 'Acme' }))
  const line = await main.line({ name: 'Solar', bufferSeconds: 30 }, [target])
  const shelved = await main.line({ name: 'Shelved' }, [target])
  await archiveCampaign(main, shelved)
  const taken = await main.publisher({ name: 'Taken' })
  const ended = await main.line({ name: 'Ended' }, [target], { publisherId: taken })
  await archiveCampaign(main, ended)
  const gone = await main.publisher({ name: 'Gone', status: 'terminated' })
  const other = await createTenantWorkspace(writer, { name: 'Other' })
  const abroad = await other.line({ name: 'Abroad' }, [await other.target(await other.buyer({ name: 'Far' }))])
  const foreign = await other.publisher({ name: 'Foreign' })
  const lapsed = await createTenantWorkspace(writer, { name: 'Lapsed' })
  const late = await lapsed.publisher({ name: 'Late' })
  const stale = await lapsed.line({ name: 'Stale' }, [await lapsed.target(await lapsed.buyer({ name: 'Old' }))], {
    publisherId: late,
  })
  await cancelSubscription(lapsed)
  return { main, line, shelved, taken, ended, gone, abroad, foreign, lapsed, late, stale }
}

const { it, describe, beforeEach, main, the, tenant } = suite('lanes', world)
const lapsed = tenant((the) => the.lapsed)

let publisherId: string

/** Each test has a publisher of its own. */
beforeEach(async () => {
  publisherId = await createPublisher(main)
})

const { path, put, opened, read } = createLaneClient(main, () => ({ publisherId, campaignId: the.line.campaignId }))

describe(documentLine('PUT /api/tracking/campaigns/:id/publishers/:publisherId'), () => {
  it('opens a lane with its defaults, and returns the key in this response only', async () => {
    const { lane, created, key, keyNote } = await opened()
    expect(created).toBe(true)
    expect(keyNote).toMatch(/not shown again/)
    expect(lane).toMatchObject({ ...AS_OPENED, publisherId, publisher: { id: publisherId, status: 'onboarding' } })
    expect(Object.keys(lane).toSorted()).toEqual(FIELDS)
    expect(Object.keys(lane.publisher).toSorted()).toEqual(['id', 'name', 'routingPrefix', 'status'])
    expect(Object.keys(lane.key).toSorted()).toEqual(KEY_FIELDS)
    expect(lane.key).toMatchObject({
      state: 'active',
      protocol: 'rtb_v1',
      environment: 'production',
      requireSignature: false,
      lastUsedAt: null,
      useCount: 0,
    })
    expect(lane.termsFrozenAt).toBe(lane.assignedAt)
    expect(key).toMatch(new RegExp(`^rk_live_SOLA_${lane.publisher.routingPrefix}_[\\w-]{43}$`))
    expect(key.startsWith(lane.key.prefix)).toBe(true)
    expect(lane.key.prefix.length).toBeLessThan(key.length - 32)
    const again = await main.console(path())
    expect(again.body).toEqual({ lane })
    expect(again.text).not.toContain(key)
  })

  it('changes the fields sent of an existing lane, and keeps the key', async () => {
    const first = await opened({ payoutMode: 'fixed', payoutCents: 500, dailyCap: 5 })
    const { status, body } = await put({ dailyCap: 9, bufferSeconds: 0, states: ['ny', 'NY', 'ca'] })
    expect(status).toBe(200)
    expect(Object.keys(body).toSorted()).toEqual(['created', 'lane'])
    expect(body).toMatchObject({
      created: false,
      lane: {
        dailyCap: 9,
        payoutCents: 500,
        bufferSeconds: 0,
        effectiveBufferSeconds: 0,
        states: ['NY', 'CA'],
        key: first.lane.key,
        assignedAt: first.lane.assignedAt,
      },
    })
    expect(body.lane.termsFrozenAt > first.lane.termsFrozenAt).toBe(true)
    const same = await put({ dailyCap: 9 })
    expect([same.status, same.body.lane.termsFrozenAt]).toEqual([200, body.lane.termsFrozenAt])
  })

  it('accepts every figure within its range and none outside', async () => {
    await opened({ payoutMode: 'inherit' })
    await expectRanges(
      [
        ['payoutCents', 0, 10_000_000],
        ['maxPayoutCents', 0, 10_000_000],
        ['bufferSeconds', 0, 3_600],
        ['dedupeWindowSeconds', 0, 7_776_000],
        ['hourlyCap', 0, 1_000_000],
        ['dailyCap', 0, 1_000_000],
        ['monthlyCap', 0, 10_000_000],
        ['concurrencyCap', 0, 10_000],
        ['dailyPayoutCapCents', 0, 1_000_000_000],
      ],
      put,
      (body) => body.lane,
    )
    await expectRanges([['minPayoutCents', 0, 10_000_000]], put, (body) => body.lane)
    await expectLengths(
      [
        ['notesPublic', 4_000],
        ['notesInternal', 4_000],
      ],
      put,
    )
    for (const revsharePct of [0, 33.3, 100])
      expect((await put({ payoutMode: 'revshare', revsharePct })).body.lane.revsharePct).toBe(revsharePct)
    expect((await put({ states: codes.slice(0, 62) })).status).toBe(200)
    const wide = { hoursSchedule: { days: NINE }, timezone: 'Europe/London' }
    expect((await put(wide)).body.lane.hoursSchedule).toMatchObject({ tz: 'Europe/London', days: NINE })
    const none = { states: null, hoursSchedule: null, timezone: null, bufferSeconds: null, notesPublic: null }
    expect((await put(none)).body.lane).toMatchObject({ ...none, effectiveBufferSeconds: 30 })
  })

  it.each(ILL_FORMED)('%s: validation_error for %o, and no lane is opened', async (field, wrong) => {
    expect(statusCodeAndFields(await put(wrong))).toEqual([400, 'validation_error', [field]])
    expect((await main.console(path())).status).toBe(404)
  })

  it('checks related terms as they are after the change', async () => {
    await opened({ payoutMode: 'fixed', payoutCents: 500 })
    expect((await put({ payoutMode: 'inherit' })).status).toBe(200)
    expect((await put({ payoutMode: 'fixed' })).status).toBe(200)
    expect(statusCodeAndFields(await put({ payoutCents: null }))).toEqual([400, 'validation_error', ['payoutCents']])
    expect((await put({ maxPayoutCents: 100 })).status).toBe(200)
    expect(statusCodeAndFields(await put({ minPayoutCents: 101 }))).toEqual([
      400,
      'validation_error',
      ['minPayoutCents'],
    ])
  })

  it('a missing, a malformed and a foreign campaign or publisher give the same 404', async () => {
    const publishers = await Promise.all(absentPublishers(the.foreign).map((one) => put({}, path(one))))
    expect(new Set(publishers.map(errorWithoutRequestId)).size).toBe(1)
    expect(publishers[0]?.body.error).toMatchObject({ code: 'not_found', message: 'Publisher not found.' })
    const campaigns = await Promise.all(
      [UNKNOWN_ID, 'x', the.abroad.campaignId].map((one) => put({}, path(publisherId, one))),
    )
    expect(new Set(campaigns.map(errorWithoutRequestId)).size).toBe(1)
    expect(campaigns[0]?.body.error).toMatchObject({ code: 'not_found', message: 'Campaign not found.' })
  })

  it('an archived campaign and a terminated publisher accept no lane, a lapsed workspace changes none', async () => {
    const archived = await put({}, path(publisherId, the.shelved.campaignId))
    expect(refusalOf(archived)).toEqual({ status: 409, code: 'conflict', details: { status: 'archived' } })
    const ended = await put({}, path(the.gone))
    expect(refusalOf(ended)).toEqual({ status: 409, code: 'conflict', details: { status: 'terminated' } })
    const unpaid = await lapsed.console(path(the.late, the.stale.campaignId), { method: 'PUT', body: {} })
    expect(refusalOf(unpaid)).toMatchObject({ status: 402, code: 'subscription_inactive' })
  })

  it('terms of an existing lane may change on an archived campaign', async () => {
    const stored = await put({ dailyCap: 3 }, path(the.taken, the.ended.campaignId))
    expect([stored.status, stored.body.lane.dailyCap]).toEqual([200, 3])
  })

  it('twenty concurrent requests open one lane with one key', async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, (_, n) => put({ dailyCap: n + 1 })))
    const [first, ...more] = answers.filter(({ status }) => status === 201)
    expect(more).toEqual([])
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(19)
    expect((await read()).key.id).toBe(first?.body.lane.key.id)
  })

  it('a repeat with the same Idempotency-Key answers the same key', async () => {
    const headers = { 'idempotency-key': `open-${publisherId}` }
    const [first, second] = [await put({}, path(), headers), await put({}, path(), headers)]
    expect([second.status, second.headers.get('svc-idempotent-replay')]).toEqual([201, 'true'])
    expect(second.body).toEqual(first.body)
  })

  it('an outdated If-Match is refused', async () => {
    await opened()
    const tag = (await main.console(path())).headers.get('etag') ?? ''
    expect((await put({ dailyCap: 1 }, path(), { 'if-match': tag })).status).toBe(200)
    expect(statusCodeAndFields(await put({ dailyCap: 2 }, path(), { 'if-match': tag })).slice(0, 2)).toEqual([
      412,
      'conflict',
    ])
    expect((await read()).dailyCap).toBe(1)
  })

  it('an If-Match on a lane that does not exist is refused, and opens none', async () => {
    for (const tag of ['"1"', '*']) {
      expect(statusCodeAndFields(await put({}, path(), { 'if-match': tag })).slice(0, 2)).toEqual([412, 'conflict'])
      expect((await main.console(path())).status).toBe(404)
    }
    await opened()
    expect((await put({ dailyCap: 1 }, path(), { 'if-match': '*' })).status).toBe(200)
  })
})
