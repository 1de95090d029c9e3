import { expect } from 'vitest'
import { type Json, queryString } from '../../support/e2e/api-client.ts'
import { createRecordWorld } from '../../support/e2e/record-world.ts'
import { suite } from '../../support/e2e/suite.ts'
import { answerScript, setBidHeaders, type TenantClient } from '../../support/e2e/tenant-client.ts'

const NOTHING_TODAY = {
  calls: 0,
  connected: 0,
  converted: 0,
  connectRate: null,
  conversionRate: null,
  revenueCents: 0,
  payoutCents: 0,
}

const { it, main, the } = suite('single records', createRecordWorld)

const list = (kind: string, parameters: Record<string, Json> = {}) =>
  main.rest(`/api/v1/${kind}${queryString(parameters)}`)
const namesOf = ({ data }: Json) => data.map(({ name, label }: Json) => name ?? label)

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
