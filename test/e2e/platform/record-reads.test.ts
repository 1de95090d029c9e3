import { expect } from 'vitest'
import { setCampaignStatus } from '../../../commands/campaigns/set-campaign-status.ts'
import { changeTarget } from '../../../commands/demand/change-target.ts'
import { setBuyerStatus } from '../../../commands/demand/set-buyer-status.ts'
import type { StreamWriter } from '../../../src/runtime/write/stream-writer.ts'
import { errorWithoutRequestId, type Json, queryString, UNKNOWN_ID } from '../../support/e2e/api-client.ts'
import { suite } from '../../support/e2e/suite.ts'
import { answerScript, createTenantClient, setBidHeaders, type TenantClient } from '../../support/e2e/tenant-client.ts'
import { createTenantWorkspace } from '../../support/e2e/world.ts'

const KINDS = ['numbers', 'campaigns', 'buyers', 'targets', 'publishers'] as const
/** Kinds whose records can be read by id. */
const READ = ['campaigns', 'buyers', 'targets', 'publishers'] as const
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
  const acme = await main.buyer({ name: 'Acme Roofing', company: 'Apex', externalRef: 'crm-1' })
  const brick = await main.buyer({ name: 'Brick', contactName: 'Ada', timezone: 'America/Chicago' })
  const gone = await main.buyer({ name: 'Gone' })
  const desk = await main.target(acme, {
    name: 'Desk',
    externalRef: 'ref-77',
    endpoint: { destinationE164: '+13125550001' },
  })
  const pbx = await main.target(acme, {
    name: 'Switch',
    type: 'sip',
    endpoint: { sipUri: 'sip:desk@pbx.example' },
    revenueCents: 0,
  })
  const bidder = await main.target(brick, {
    name: 'Bidder',
    type: 'rtb',
    revenueCents: null,
    rtb: { bidUrl: 'https://bids.example/ask', bidBodyTemplate: '{"a":1}' },
  })
  const draft = await main.target(brick, { name: 'Draft', status: 'draft' })
  const archived = await main.target(brick, { name: 'Archived', status: 'archived' })
  const north = await main.publisher({ name: 'North Media', contactName: 'Nell' })
  const fresh = await main.publisher({ name: 'Fresh', status: 'onboarding' })
  await main.publisher({ name: 'Finished', status: 'terminated' })
  const terms = { payoutMode: 'fixed', payoutCents: 250, dailyCap: 9 }
  const roofing = await main.line({ name: 'Roofing', bufferSeconds: 0 }, [desk, pbx], { publisherId: north, terms })
  const solar = await main.line({ name: 'Solar', routingMode: 'weighted', verticalId: 'solar' }, [desk])
  const shelved = await main.line({ name: 'Shelved' }, [desk])
  const free = await main.number({ label: 'Spare line', type: 'toll_free' })
  await main.act(setBuyerStatus, { buyerId: gone, status: 'archived' })
  await main.act(setCampaignStatus, { campaignId: solar.campaignId, status: 'paused', note: 'Winter' })
  await main.act(changeTarget, { targetId: pbx, changes: { dailyCap: 50 } })
  const other = await createTenantWorkspace(writer, { name: 'Other' })
  const foreign = await other.line({ name: 'Foreign' }, [await other.target(await other.buyer({ name: 'Theirs' }))])
  return {
    main,
    other,
    acme,
    brick,
    gone,
    desk,
    pbx,
    bidder,
    draft,
    archived,
    north,
    fresh,
    roofing,
    solar,
    shelved,
    free,
    foreign,
  }
}
type World = Awaited<ReturnType<typeof world>>

const { it, main, the, server } = suite('records', world)

const list = (kind: string, parameters: Record<string, Json> = {}) =>
  main.rest(`/api/v1/${kind}${queryString(parameters)}`)
const namesOf = ({ data }: Json) => data.map(({ name, label }: Json) => name ?? label)

it.each<readonly [(typeof KINDS)[number], (world: World) => Record<string, Json>, readonly (string | null)[]]>([
  ['buyers', () => ({}), ['Acme Roofing', 'Brick']],
  ['buyers', () => ({ status: 'archived' }), ['Gone']],
  ['buyers', () => ({ status: 'active' }), ['Acme Roofing', 'Brick']],
  ['buyers', () => ({ q: 'ROOF' }), ['Acme Roofing']],
  ['buyers', () => ({ q: 'apex' }), ['Acme Roofing']],
  ['buyers', () => ({ q: 'ada' }), ['Brick']],
  ['buyers', () => ({ q: 'crm-' }), ['Acme Roofing']],
  ['buyers', () => ({ q: '.*' }), []],
  ['targets', () => ({}), ['Desk', 'Switch', 'Bidder', 'Draft']],
  ['targets', () => ({ status: 'archived' }), ['Archived']],
  ['targets', () => ({ status: 'draft' }), ['Draft']],
  ['targets', () => ({ q: 'REF-7' }), ['Desk']],
  ['targets', ({ brick }) => ({ buyerId: brick }), ['Bidder', 'Draft']],
  ['targets', () => ({ type: 'sip' }), ['Switch']],
  ['targets', () => ({ kind: 'delivery' }), ['Switch']],
  ['targets', () => ({ kind: 'external_rtb' }), ['Bidder']],
  ['targets', () => ({ kind: 'static' }), ['Desk', 'Draft']],
  ['targets', () => ({ health: 'unknown' }), ['Desk', 'Switch', 'Bidder', 'Draft']],
  ['targets', ({ roofing }) => ({ campaignId: roofing.campaignId }), ['Desk', 'Switch']],
  ['targets', ({ roofing, brick }) => ({ campaignId: roofing.campaignId, buyerId: brick }), []],
  ['campaigns', () => ({}), ['Roofing', 'Solar', 'Shelved']],
  ['campaigns', () => ({ status: 'paused' }), ['Solar']],
  ['campaigns', () => ({ status: 'restricted' }), []],
  ['campaigns', () => ({ q: 'oof' }), ['Roofing']],
  ['campaigns', () => ({ routingMode: 'weighted' }), ['Solar']],
  ['campaigns', () => ({ verticalId: 'roofing' }), ['Roofing', 'Shelved']],
  ['publishers', () => ({}), ['North Media', 'Fresh']],
  ['publishers', () => ({ status: 'terminated' }), ['Finished']],
  ['publishers', () => ({ status: 'onboarding' }), ['Fresh']],
  ['publishers', () => ({ q: 'nort' }), ['North Media']],
  ['publishers', () => ({ q: 'nell' }), ['North Media']],
  ['numbers', () => ({}), ['Roofing', 'Solar', 'Shelved', 'Spare line']],
  ['numbers', () => ({ status: 'released' }), []],
  ['numbers', () => ({ status: 'active' }), ['Roofing', 'Solar', 'Shelved', 'Spare line']],
  ['numbers', () => ({ assigned: true }), ['Roofing', 'Solar', 'Shelved']],
  ['numbers', () => ({ assigned: false }), ['Spare line']],
  ['numbers', ({ solar }) => ({ campaignId: solar.campaignId, assigned: false }), ['Solar']],
  ['numbers', ({ north }) => ({ publisherId: north }), ['Roofing']],
  ['numbers', () => ({ poolId: UNKNOWN_ID }), []],
  ['numbers', () => ({ q: 'spare' }), ['Spare line']],
  ['numbers', ({ solar }) => ({ q: solar.e164.slice(-4) }), ['Solar']],
  ['numbers', () => ({ q: '(310) 555-01' }), ['Roofing', 'Solar', 'Shelved', 'Spare line']],
])('%s: filters find the matching records', async (kind, filter, found) => {
  const { status, body, text } = await list(kind, { dir: 'asc', ...filter(the) })
  expect(status, text).toBe(200)
  expect(namesOf(body)).toEqual(found)
  expect(body).toMatchObject({ page: 1, pageSize: 25, total: found.length, totalPages: found.length > 0 ? 1 : 0 })
})

it.each<readonly [(typeof KINDS)[number], Record<string, Json>, number, string]>([
  ['buyers', { status: 'draft' }, 400, 'status'],
  ['buyers', { q: 'q'.repeat(121) }, 400, 'q'],
  ['targets', { type: 'fax' }, 400, 'type'],
  ['targets', { kind: 'x' }, 400, 'kind'],
  ['targets', { health: 'x' }, 400, 'health'],
  ['targets', { buyerId: 'x' }, 400, 'buyerId'],
  ['targets', { campaignId: 'x' }, 400, 'campaignId'],
  ['campaigns', { routingMode: 'x' }, 400, 'routingMode'],
  ['campaigns', { verticalId: 'v'.repeat(81) }, 400, 'verticalId'],
  ['campaigns', { status: 'x' }, 400, 'status'],
  ['publishers', { status: 'archived' }, 400, 'status'],
  ['numbers', { status: 'archived' }, 400, 'status'],
  ['numbers', { assigned: 'maybe' }, 400, 'assigned'],
  ['numbers', { q: 'q'.repeat(41) }, 400, 'q'],
  ['numbers', { publisherId: '7' }, 400, 'publisherId'],
  ['numbers', { page: '0' }, 400, 'page'],
  ['numbers', { pageSize: '2.5' }, 400, 'pageSize'],
])('%s: refuses a filter of the wrong kind', async (kind, filter, status, field) => {
  const answer = await list(kind, filter)
  expect(answer).toMatchObject({
    status,
    body: { error: { code: 'validation_error', details: { [field]: expect.any(String) } } },
  })
  expect(Object.keys(answer.body.error.details)).toEqual([field])
})

it('targets by a missing campaign are an empty list', async () => {
  for (const campaignId of [UNKNOWN_ID, the.foreign.campaignId])
    expect(await list('targets', { campaignId })).toMatchObject({
      status: 404,
      body: { error: { code: 'not_found', message: 'Campaign not found.' } },
    })
})

it.each(KINDS)('%s: pages, the clamp, and an unknown order', async (kind) => {
  const whole = (await list(kind, { dir: 'asc' })).body
  const pages = await Promise.all(
    Array.from({ length: whole.total + 1 }, (_, n) => list(kind, { dir: 'asc', pageSize: 1, page: n + 1 })),
  )
  expect(pages.flatMap(({ body }) => body.data)).toEqual(whole.data)
  expect(pages.at(-1)?.body).toMatchObject({ data: [], page: whole.total + 1, totalPages: whole.total })
  expect((await list(kind, { pageSize: 5_000 })).body.pageSize).toBe(200)
  const newest = whole.data.toReversed()
  expect((await list(kind)).body.data).toEqual(newest)
  expect((await list(kind, { sort: 'mood', dir: 'up' })).body.data).toEqual(newest)
  const field = kind === 'numbers' ? 'e164' : 'name'
  const values = (await list(kind, { sort: field, dir: 'asc' })).body.data.map((row: Json) => row[field])
  expect(values).toEqual([...values].sort())
})

it.each(READ)('%s: a malformed, an unknown and a foreign id give the same 404', async (kind) => {
  const foreign =
    (await createTenantClient(server, the.other).rest(`/api/v1/${kind}`)).body.data[0]?.id ?? the.foreign.campaignId
  for (const [ask, surface] of [
    [main.rest, 'v1'],
    [main.console, 'tracking'],
  ] as const) {
    const answers = await Promise.all(
      ['1', UNKNOWN_ID, foreign, `${UNKNOWN_ID}0`].map((id) => ask(`/api/${surface}/${kind}/${id}`)),
    )
    expect(new Set(answers.map(errorWithoutRequestId)).size).toBe(1)
    expect(answers[0]).toMatchObject({
      status: 404,
      body: {
        error: { code: 'not_found', details: null, message: expect.stringMatching(/^[A-Z][a-z]+ not found\.$/) },
      },
    })
  }
})

it.each(KINDS)('%s: the console reads what the API reads', async (kind) => {
  const [rest, console] = await Promise.all([list(kind), main.console(`/api/tracking/${kind}`)])
  const withoutBidding = (body: Json) => ({ ...body, data: body.data.map(({ rtb: _rtb, ...row }: Json) => row) })
  expect(withoutBidding(console.body)).toEqual(withoutBidding(rest.body))
})

it("bidders' headers and templates are blank for keys, in full for the console but in buyer reads", async () => {
  const shown = { bidHeaders: { 'x-key': 'secret' }, bidBodyTemplate: '{"a":1}' }
  await setBidHeaders(main, the.bidder, shown.bidHeaders)
  const blank = { bidHeaders: { 'x-key': '•••' }, bidBodyTemplate: '•••' }
  const one = async (ask: TenantClient['rest'], surface: string) =>
    (await ask(`/api/${surface}/targets/${the.bidder}`)).body.target
  expect((await one(main.rest, 'v1')).rtb).toMatchObject(blank)
  expect((await one(main.console, 'tracking')).rtb).toMatchObject(shown)
  for (const [ask, surface] of [
    [main.rest, 'v1'],
    [main.console, 'tracking'],
  ] as const) {
    const { body } = await ask(`/api/${surface}/buyers/${the.brick}`)
    expect(body.targets.map(({ name }: Json) => name)).toEqual(['Bidder', 'Draft'])
    expect(body.targets[0].rtb).toMatchObject(blank)
  }
  expect(await one(main.rest, 'v1')).toMatchObject({
    kind: 'external_rtb',
    revenueCents: null,
    endpoint: null,
    destination: { type: 'rtb', value: 'bids.example', display: 'bids.example' },
  })
})

it('a number has the documented fields', async () => {
  const { body } = await list('numbers', { q: 'Roofing' })
  expect(body.data[0]).toEqual({
    id: the.roofing.numberId,
    e164: the.roofing.e164,
    national: expect.stringMatching(/^\(310\) 555-/),
    formatted: body.data[0].national,
    type: 'local',
    status: 'active',
    role: 'tracking',
    label: 'Roofing',
    region: null,
    locality: null,
    campaign: { id: the.roofing.campaignId, name: 'Roofing', status: 'live' },
    publisher: { id: the.north, name: 'North Media' },
    pool: null,
    webhookStatus: 'ready',
    webhookError: null,
    releaseRequestedAt: null,
    monthlyCents: 200,
    purchasedAt: expect.any(String),
    calls30d: 0,
    lastCallAt: null,
  })
  const spare = (await list('numbers', { q: 'Spare' })).body.data[0]
  expect(spare).toMatchObject({
    role: 'unassigned',
    type: 'toll_free',
    campaign: null,
    publisher: null,
    monthlyCents: 300,
  })
})

it('a single campaign lists its blockers, and its list row does not', async () => {
  const rows = (await list('campaigns')).body.data
  for (const row of rows)
    for (const field of ['blockers', 'canGoLive', 'checklist']) expect(row).not.toHaveProperty(field)
  const { campaign } = (await main.rest(`/api/v1/campaigns/${the.solar.campaignId}`)).body
  expect(campaign).toMatchObject({
    kind: 'tracking',
    status: 'paused',
    statusNote: 'Winter',
    vertical: { id: 'solar', name: 'Solar', short: expect.any(String) },
    counts: { numbers: 1, routes: 1, activeRoutes: 1, publishers: 0 },
    today: NOTHING_TODAY,
    liveCalls: 0,
    blockers: [],
    canGoLive: true,
    checklist: { warnings: expect.any(Array) },
  })
  expect(campaign.checklist.steps.map(({ key }: Json) => key)).toEqual([
    'buyer',
    'target',
    'routing',
    'number',
    'publishers',
    'funded',
    'live',
  ])
  for (const step of campaign.checklist.steps)
    expect(Object.keys(step).sort()).toEqual(['blocking', 'done', 'key', 'label', 'optional', 'sentence', 'to'])
  expect(new Date(campaign.publishedAt).toISOString()).toBe(campaign.publishedAt)
})

it('a publisher shows its lanes, and never a routing key', async () => {
  const { publisher } = (await main.rest(`/api/v1/publishers/${the.north}`)).body
  expect(publisher).toMatchObject({
    name: 'North Media',
    status: 'live',
    quality: null,
    payoutSchedule: expect.any(String),
    joinedAt: expect.any(String),
  })
  expect(publisher.lanes).toHaveLength(1)
  expect(publisher.lanes[0]).toMatchObject({
    campaignId: the.roofing.campaignId,
    campaign: { id: the.roofing.campaignId, name: 'Roofing', status: 'live' },
    active: true,
    payoutMode: 'fixed',
    payoutCents: 250,
    dailyCap: 9,
    bufferSeconds: null,
    effectiveBufferSeconds: 0,
    blockWhenCapped: true,
    usage: { liveCalls: 0, hour: 0, day: 0, month: 0, dayPayoutCents: 0 },
    key: {
      prefix: expect.stringMatching(/^rk_/),
      state: 'active',
      protocol: 'rtb_v1',
      environment: 'production',
      requireSignature: false,
      lastUsedAt: null,
      useCount: 0,
    },
    numbers: 1,
    compat: { enabled: false },
  })
  expect(JSON.stringify(publisher)).not.toMatch(/hash|rk_[\w-]{30}/)
  expect((await main.rest(`/api/v1/publishers/${the.fresh}`)).body.publisher.lanes).toEqual([])
})

it('a target shows the plans that it is on', async () => {
  const { target } = (await main.rest(`/api/v1/targets/${the.pbx}`)).body
  expect(target).toMatchObject({
    type: 'sip',
    kind: 'delivery',
    status: 'active',
    health: 'unknown',
    buyer: { id: the.acme, name: 'Acme Roofing', status: 'active' },
    destination: { type: 'sip', value: 'sip:desk@pbx.example', display: 'sip:desk@pbx.example' },
    endpoint: { mode: 'sip', sipUri: 'sip:desk@pbx.example', hasSipSecret: false, sipSecretLast4: null },
    rtb: null,
    dailyCap: 50,
    today: NOTHING_TODAY,
    routes: [
      {
        id: expect.any(String),
        campaignId: the.roofing.campaignId,
        campaign: { id: the.roofing.campaignId, name: 'Roofing', status: 'live', routingMode: 'priority' },
        priority: 20,
        weight: 100,
        active: true,
        revenueOverrideCents: null,
      },
    ],
  })
})

it('calls update usage, today and the counts at once everywhere', async () => {
  const at = new Date(Math.max(new Date().setUTCHours(0, 0, 0, 0), Date.now() - 30 * 60_000)).toISOString()
  const sent = { to: the.roofing.e164, at, from: '+13105550123' }
  await main.playCall({ ...sent, script: { [the.desk]: answerScript(1) } })
  await main.playCall({ ...sent, script: { [the.desk]: [{ result: 'busy' }], [the.pbx]: answerScript(1) } })
  const today = {
    calls: 1,
    connected: 1,
    converted: 1,
    connectRate: 1,
    conversionRate: 1,
    revenueCents: 1_000,
    payoutCents: 250,
  }
  const delivered = { ...today, revenueCents: 0 }
  const both = { ...today, calls: 2, connected: 2, converted: 2, payoutCents: 500 }
  const month = { hour: expect.any(Number), day: 1, month: 1 }

  const desk = (await main.rest(`/api/v1/targets/${the.desk}`)).body.target
  expect(desk).toMatchObject({
    today,
    liveCalls: 0,
    usage: { liveCalls: 0, ...month, total: 1, dayRevenueCents: 1_000 },
  })
  expect(desk).toMatchObject({ health: 'degraded', consecutiveFailures: 1, lastError: expect.any(String) })
  const pbx = (await main.rest(`/api/v1/targets/${the.pbx}`)).body.target
  expect(pbx).toMatchObject({
    today: delivered,
    health: 'healthy',
    usage: { ...month, total: 1, dayRevenueCents: 0 },
  })
  expect(namesOf((await list('targets', { health: 'degraded' })).body)).toEqual(['Desk'])

  const { buyer } = (await main.rest(`/api/v1/buyers/${the.acme}`)).body
  expect(buyer).toMatchObject({
    today: both,
    liveCalls: 0,
    usage: { day: 2, month: 2, total: 2, dayRevenueCents: 1_000 },
  })
  const [row] = (await list('buyers', { q: 'Acme' })).body.data
  expect(row).toMatchObject({ today: both, targets: { total: 2, active: 2 } })
  const { campaign } = (await main.rest(`/api/v1/campaigns/${the.roofing.campaignId}`)).body
  expect(campaign).toMatchObject({
    today: both,
    liveCalls: 0,
    counts: { numbers: 1, routes: 2, activeRoutes: 2, publishers: 1 },
  })
  const { publisher } = (await main.rest(`/api/v1/publishers/${the.north}`)).body
  expect(publisher.lanes[0].usage).toMatchObject({ liveCalls: 0, day: 2, month: 2, dayPayoutCents: 500 })
  const [number] = (await list('numbers', { q: 'Roofing' })).body.data
  expect(number).toMatchObject({ calls30d: 2, lastCallAt: at })
})
