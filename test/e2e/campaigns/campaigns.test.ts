import { expect } from 'vitest'
import type { StreamWriter } from '../../../src/runtime/write/stream-writer.ts'
import { errorWithoutRequestId, type Json, statusCodeAndFields, UNKNOWN_ID } from '../../support/e2e/api-client.ts'
import { documentLine } from '../../support/e2e/document-1.ts'
import { suite } from '../../support/e2e/suite.ts'
import type { TenantClient } from '../../support/e2e/tenant-client.ts'
import { archiveCampaign, createTenantWorkspace } from '../../support/e2e/world.ts'

const PATH = '/api/tracking/campaigns'
const NINE = { mon: [['09:00', '17:00']] }
const AS_CREATED = {
  kind: 'tracking',
  description: null,
  status: 'draft',
  statusNote: null,
  verticalId: 'roofing',
  vertical: { id: 'roofing', name: 'Roofing', short: 'Roofing' },
  routingMode: 'priority',
  recordCalls: true,
  repeatCallerPolicy: 'allow',
  anonymousPolicy: 'allow',
  unroutedAction: 'hangup',
  unroutedMessage: null,
  unroutedForwardE164: null,
  bufferSeconds: 0,
  dialTimeoutSeconds: 25,
  failoverBudgetSeconds: 90,
  dedupeWindowSeconds: 0,
  dailyCap: 0,
  concurrencyCap: 0,
  hoursSchedule: null,
  timezone: 'America/Chicago',
  states: [],
  publishedAt: null,
  counts: { numbers: 0, routes: 0, activeRoutes: 0, publishers: 0 },
  today: {
    calls: 0,
    connected: 0,
    converted: 0,
    connectRate: null,
    conversionRate: null,
    revenueCents: 0,
    payoutCents: 0,
  },
  liveCalls: 0,
  canGoLive: false,
}
const TWO_LETTERS = Array.from({ length: 63 }, (_, n) => String.fromCharCode(65 + Math.floor(n / 26), 65 + (n % 26)))
const inSix = Array.from({ length: 6 }, (_, n) => [`0${n}:00`, `0${n}:30`])

/** Bodies refused as `validation_error`, with the field in `details`, and the nearest valid body. */
const ILL_FORMED: readonly (readonly [string, Json, Json | null])[] = [
  ['name', { name: '' }, { name: 'x' }],
  ['name', { name: '  ' }, null],
  ['name', { name: 'x'.repeat(121) }, { name: 'x'.repeat(120) }],
  ['name', { name: undefined }, null],
  ['verticalId', { verticalId: undefined }, null],
  ['verticalId', { verticalId: '' }, null],
  ['verticalId', { verticalId: 'x'.repeat(81) }, null],
  ['description', { description: 'x'.repeat(301) }, { description: 'x'.repeat(300) }],
  ['routingMode', { routingMode: 'random' }, { routingMode: 'highest_bid' }],
  ['recordCalls', { recordCalls: 'true' }, { recordCalls: false }],
  ['repeatCallerPolicy', { repeatCallerPolicy: 'deny' }, { repeatCallerPolicy: 'same_target' }],
  ['anonymousPolicy', { anonymousPolicy: 'hide' }, { anonymousPolicy: 'block' }],
  ['unroutedAction', { unroutedAction: 'sing' }, { unroutedAction: 'message', unroutedMessage: 'Closed.' }],
  ['unroutedMessage', { unroutedMessage: 'x'.repeat(501) }, { unroutedMessage: 'x'.repeat(500) }],
  ['unroutedForwardE164', { unroutedForwardE164: '3105550100' }, { unroutedForwardE164: '+13105550100' }],
  ['bufferSeconds', { bufferSeconds: 3_601 }, { bufferSeconds: 3_600 }],
  ['bufferSeconds', { bufferSeconds: -1 }, { bufferSeconds: 0 }],
  ['dialTimeoutSeconds', { dialTimeoutSeconds: 4 }, { dialTimeoutSeconds: 5 }],
  ['dialTimeoutSeconds', { dialTimeoutSeconds: 121 }, { dialTimeoutSeconds: 120, failoverBudgetSeconds: 120 }],
  ['failoverBudgetSeconds', { failoverBudgetSeconds: 9 }, { failoverBudgetSeconds: 10, dialTimeoutSeconds: 10 }],
  ['failoverBudgetSeconds', { failoverBudgetSeconds: 181 }, { failoverBudgetSeconds: 180 }],
  ['dedupeWindowSeconds', { dedupeWindowSeconds: 7_776_001 }, { dedupeWindowSeconds: 7_776_000 }],
  ['dailyCap', { dailyCap: 1_000_001 }, { dailyCap: 1_000_000 }],
  ['dailyCap', { dailyCap: 1.5 }, { dailyCap: 0 }],
  ['dailyCap', { dailyCap: '5' }, null],
  ['concurrencyCap', { concurrencyCap: 100_001 }, { concurrencyCap: 100_000 }],
  ['concurrencyCap', { concurrencyCap: 2 ** 53 }, null],
  ['timezone', { timezone: 'x'.repeat(65) }, { timezone: 'Europe/London' }],
  ['states', { states: TWO_LETTERS }, { states: TWO_LETTERS.slice(0, 62) }],
  ['states', { states: 'NY' }, { states: ['ny', 'NY'] }],
  ['hoursSchedule', { hoursSchedule: 'always' }, { hoursSchedule: null }],
  [
    'hoursSchedule.days.mon',
    { hoursSchedule: { days: { mon: [...inSix, ['06:00', '06:30']] } } },
    { hoursSchedule: { days: { mon: inSix } } },
  ],
  [
    'hoursSchedule.days.mon.0.0',
    { hoursSchedule: { days: { mon: [['08:60', '24:00']] } } },
    { hoursSchedule: { days: { mon: [['23:00', '24:00']] } } },
  ],
  ['hoursSchedule.days.mon.0', { hoursSchedule: { days: { mon: [['10:00', '09:00']] } } }, null],
  ['status', { status: 'live' }, null],
  ['kind', { kind: 'tracking' }, null],
  ['routingKeyPrefix', { routingKeyPrefix: 'ABCD' }, null],
  ['payout.payoutCents', { payout: { payoutCents: 10_000_001 } }, { payout: { payoutCents: 10_000_000 } }],
]

/** Bodies refused as `bad_request`, with the field in `details`. */
const AT_ODDS: readonly (readonly [string, Json])[] = [
  ['unroutedMessage', { unroutedAction: 'message' }],
  ['unroutedForwardE164', { unroutedAction: 'forward' }],
  ['failoverBudgetSeconds', { failoverBudgetSeconds: 24, dialTimeoutSeconds: 25 }],
  ['timezone', { timezone: 'Mars/Olympus' }],
  ['timezone', { timezone: '+02:00' }],
  ['timezone', { timezone: 'x'.repeat(64) }],
  ['hoursSchedule', { hoursSchedule: { days: {} } }],
  ['hoursSchedule', { hoursSchedule: { days: { mon: [], sun: [] } } }],
  ['hoursSchedule', { hoursSchedule: { days: { ...NINE, monday: [['09:00', '10:00']] } } }],
  ['hoursSchedule', { hoursSchedule: { tz: 'Mars/Olympus', days: NINE } }],
  ['states', { states: ['NY', 'N1'] }],
  ['states', { states: ['California'] }],
  ['payout.payoutCents', { payout: { mode: 'fixed' } }],
]

async function world(writer: StreamWriter) {
  const main = await createTenantWorkspace(writer, { name: 'Main', timezone: 'America/Chicago' })
  const shelved = await main.line({ name: 'Shelved' }, [await main.target(await main.buyer({ name: 'Acme' }))])
  await archiveCampaign(main, shelved)
  const other = await createTenantWorkspace(writer, { name: 'Other' })
  const starter = await createTenantWorkspace(writer, { name: 'Starter', planId: 'starter' })
  return { main, shelved, other, starter }
}

const { it, describe, main, the, tenant } = suite('campaigns', world)
const starter = tenant((the) => the.starter)
const other = tenant((the) => the.other)

const post = (body: Json, { console }: TenantClient = main) => console(PATH, { method: 'POST', body })
const create = (more: Json = {}, desk: TenantClient = main) =>
  post({ name: 'Roofs', verticalId: 'roofing', ...more }, desk)
const patch = (id: string, body: Json, headers = {}) =>
  main.console(`${PATH}/${id}`, { method: 'PATCH', body, headers })
const created = async (more: Json = {}) => {
  const { status, text, body } = await create(more)
  expect(status, text).toBe(201)
  return body.campaign
}

describe(documentLine('POST /api/tracking/campaigns'), () => {
  it('creates a draft with every default and its checklist', async () => {
    const { status, body, headers } = await create()
    expect(status).toBe(201)
    expect(body.campaign).toMatchObject(AS_CREATED)
    expect(body.campaign.blockers).toHaveLength(4)
    expect(body.campaign.checklist.steps.map(({ key }: Json) => key)).toEqual([
      'buyer',
      'target',
      'routing',
      'number',
      'publishers',
      'funded',
      'live',
    ])
    expect(body.campaign.routingKeyPrefix).toMatch(/^[A-Z0-9]{2,8}$/)
    const read = await main.rest(`/api/v1/campaigns/${body.campaign.id}`)
    expect(read.body).toEqual(body)
    expect(headers.get('etag') ?? read.headers.get('etag')).toBe(read.headers.get('etag'))
  })

  it('keeps every setting that is sent', async () => {
    const sent = {
      description: 'Leaks',
      routingMode: 'weighted',
      recordCalls: false,
      repeatCallerPolicy: 'same_target',
      anonymousPolicy: 'block',
      unroutedAction: 'forward',
      unroutedForwardE164: '+13105550199',
      bufferSeconds: 60,
      dialTimeoutSeconds: 30,
      failoverBudgetSeconds: 30,
      dedupeWindowSeconds: 3_600,
      dailyCap: 10,
      concurrencyCap: 2,
      timezone: 'Europe/London',
      payout: { mode: 'fixed', payoutCents: 500, revsharePct: null, minPayoutCents: null, maxPayoutCents: null },
      discloseCallerId: true,
    }
    expect(await created({ ...sent, states: ['ny', 'CA', 'Ny'] })).toMatchObject({ ...sent, states: ['NY', 'CA'] })
  })

  it('applies the zone to the schedule, and uses the workspace’s zone for a schedule without one', async () => {
    const [folded, own, bare] = [
      await created({ timezone: 'Europe/London', hoursSchedule: { tz: 'UTC', days: NINE } }),
      await created({ hoursSchedule: { tz: 'UTC', days: NINE } }),
      await created({ hoursSchedule: { days: NINE } }),
    ]
    expect([folded, own, bare].map(({ hoursSchedule }) => hoursSchedule.tz)).toEqual([
      'Europe/London',
      'UTC',
      'America/Chicago',
    ])
    expect([folded, own, bare].map(({ timezone }) => timezone)).toEqual(['Europe/London', 'UTC', 'America/Chicago'])
    expect(bare.hoursSchedule.days).toMatchObject({ ...NINE, tue: [], sun: [] })
    expect((await created({ timezone: 'Europe/London' })).hoursSchedule).toBeNull()
  })

  it.each(ILL_FORMED)('%s: validation_error for %o', async (field, wrong, right) => {
    expect(statusCodeAndFields(await create(wrong))).toEqual([400, 'validation_error', [field]])
    if (right) expect(await created(right)).toBeTruthy()
  })

  it.each(AT_ODDS)('%s: bad_request for %o', async (field, wrong) => {
    expect(statusCodeAndFields(await create(wrong))).toEqual([400, 'bad_request', [field]])
  })

  it('an unknown vertical is a bad_request, beside other problems', async () => {
    expect(statusCodeAndFields(await create({ verticalId: 'unicorns' }))).toEqual([400, 'bad_request', ['verticalId']])
    const both = await create({ verticalId: 'unicorns', states: ['N'] })
    expect(statusCodeAndFields(both)).toEqual([400, 'bad_request', ['verticalId', 'states']])
  })

  it('one campaign more than the plan allows is refused, also for concurrent requests', async () => {
    const answers = await Promise.all(Array.from({ length: 12 }, () => create({}, starter)))
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(5)
    for (const { body } of answers.filter(({ status }) => status !== 201))
      expect(body.error).toMatchObject({
        code: 'plan_upgrade_required',
        details: { feature: 'maxTrackingCampaigns', limit: 5, current: 5 },
      })
  })
})

describe(documentLine('PATCH /api/tracking/campaigns/:id'), () => {
  it('changes what is sent and keeps the rest', async () => {
    const campaign = await created({ description: 'Leaks', states: ['NY'] })
    const { status, body } = await patch(campaign.id, { name: ' Gutters ', states: [], dailyCap: 7 })
    expect(status).toBe(200)
    const { updatedAt, checklist, ...rest } = { ...campaign, name: 'Gutters', states: [], dailyCap: 7 }
    expect(body.campaign).toMatchObject(rest)
    expect(body.campaign.checklist).toEqual(checklist)
    expect(body.campaign.updatedAt > updatedAt).toBe(true)
  })

  it('checks the rules on the campaign as it is after the change', async () => {
    const { id } = await created({ unroutedMessage: 'Closed.' })
    expect(statusCodeAndFields(await patch(id, { dialTimeoutSeconds: 91 }))).toEqual([
      400,
      'bad_request',
      ['failoverBudgetSeconds'],
    ])
    expect((await patch(id, { dialTimeoutSeconds: 91, failoverBudgetSeconds: 91 })).status).toBe(200)
    expect((await patch(id, { unroutedAction: 'message' })).status).toBe(200)
    expect(statusCodeAndFields(await patch(id, { unroutedMessage: null }))).toEqual([
      400,
      'bad_request',
      ['unroutedMessage'],
    ])
    expect(statusCodeAndFields(await patch(id, { unroutedAction: 'forward' }))).toEqual([
      400,
      'bad_request',
      ['unroutedForwardE164'],
    ])
  })

  it('applies a zone to the existing schedule', async () => {
    const { id } = await created({ hoursSchedule: { tz: 'UTC', days: NINE } })
    const { body } = await patch(id, { timezone: 'Asia/Tokyo' })
    expect(body.campaign).toMatchObject({ timezone: 'Asia/Tokyo', hoursSchedule: { tz: 'Asia/Tokyo', days: NINE } })
    expect((await patch(id, { hoursSchedule: null })).body.campaign.hoursSchedule).toBeNull()
  })

  it.each([
    ['verticalId', { verticalId: 'solar' }],
    ['status', { status: 'live' }],
    ['kind', { kind: 'tracking' }],
    ['routingKeyPrefix', { routingKeyPrefix: 'ABCD' }],
    ['dailyCap', { dailyCap: -1 }],
    ['name', { name: null }],
    ['hoursSchedule.open', { hoursSchedule: { days: NINE, open: true } }],
  ])('%s: validation_error for %o', async (field, wrong) => {
    const { id } = await created()
    expect(statusCodeAndFields(await patch(id, wrong))).toEqual([400, 'validation_error', [field]])
  })

  it.each(AT_ODDS)('%s: bad_request for %o', async (field, wrong) => {
    const { id } = await created()
    expect(statusCodeAndFields(await patch(id, wrong))).toEqual([400, 'bad_request', [field]])
  })

  it('an empty change is a bad_request; a change without effect is not', async () => {
    const { id, updatedAt } = await created()
    expect(statusCodeAndFields(await patch(id, {}))).toEqual([400, 'bad_request', []])
    const same = await patch(id, { dailyCap: 0, states: [] })
    expect([same.status, same.body.campaign.updatedAt]).toEqual([200, updatedAt])
  })

  it('a missing, a malformed and another workspace’s campaign give the same 404', async () => {
    const foreign = (await create({}, other)).body.campaign.id
    const answers = await Promise.all([UNKNOWN_ID, 'x', foreign].map((id) => patch(id, { dailyCap: 1 })))
    expect(new Set(answers.map(errorWithoutRequestId)).size).toBe(1)
    expect(answers[0]?.body.error).toMatchObject({ code: 'not_found', message: 'Campaign not found.' })
  })

  it('an archived campaign does not change', async () => {
    const answer = await patch(the.shelved.campaignId, { dailyCap: 1 })
    expect(answer.status).toBe(409)
    expect(answer.body.error).toMatchObject({ code: 'conflict', details: { status: 'archived' } })
    expect(statusCodeAndFields(await patch(the.shelved.campaignId, {}))[1]).toBe('bad_request')
  })

  it('an outdated If-Match is refused, and nothing is written', async () => {
    const { id } = await created()
    const read = await main.console(`${PATH}/${id}`)
    const tag = read.headers.get('etag') ?? ''
    const first = await patch(id, { dailyCap: 1 }, { 'if-match': tag })
    expect(first.status).toBe(200)
    const second = await patch(id, { dailyCap: 2 }, { 'if-match': tag })
    expect(statusCodeAndFields(second).slice(0, 2)).toEqual([412, 'conflict'])
    const after = await main.console(`${PATH}/${id}`)
    expect(after.body.campaign.dailyCap).toBe(1)
    expect(after.headers.get('etag')).toBe(first.headers.get('etag'))
  })
})
