import { describe, expect, it } from 'vitest'
import { createCampaign } from '../../../commands/campaigns/create-campaign.ts'
import { setCampaignStatus } from '../../../commands/campaigns/set-campaign-status.ts'
import { createBuyer } from '../../../commands/demand/create-buyer.ts'
import { createTarget } from '../../../commands/demand/create-target.ts'
import { setBuyerStatus } from '../../../commands/demand/set-buyer-status.ts'
import { setTargetStatus } from '../../../commands/demand/set-target-status.ts'
import { provisionNumber } from '../../../commands/supply/provision-number.ts'
import { setLane } from '../../../commands/supply/set-lane.ts'
import { callLog } from '../../../projections/calls/call-log.ts'
import { campaigns } from '../../../projections/campaigns/campaigns.ts'
import { routes } from '../../../projections/campaigns/routes.ts'
import { buyers } from '../../../projections/demand/buyers.ts'
import { targets } from '../../../projections/demand/targets.ts'
import { capCounters } from '../../../projections/routing/cap-counters.ts'
import { lanes } from '../../../projections/supply/lanes.ts'
import { numbers } from '../../../projections/supply/numbers.ts'
import { publishers } from '../../../projections/supply/publishers.ts'
import { routingKeys } from '../../../projections/supply/routing-keys.ts'
import { getCampaign } from '../../../queries/campaigns/get-campaign.ts'
import { listCampaigns } from '../../../queries/campaigns/list-campaigns.ts'
import { getBuyer } from '../../../queries/demand/get-buyer.ts'
import { getTarget } from '../../../queries/demand/get-target.ts'
import { listBuyers } from '../../../queries/demand/list-buyers.ts'
import { listTargets } from '../../../queries/demand/list-targets.ts'
import { getPublisher } from '../../../queries/supply/get-publisher.ts'
import { listNumbers } from '../../../queries/supply/list-numbers.ts'
import { listPublishers } from '../../../queries/supply/list-publishers.ts'
import { workspace } from '../../../src/domain/configuration/workspace.ts'
import { wallet } from '../../../src/domain/money/wallet.ts'
import type { NewEvent } from '../../../src/kernel/event.ts'
import { type AnyProjection, collectionOf } from '../../../src/kernel/projection.ts'
import type { AnyQuery } from '../../../src/kernel/query.ts'
import { isRefusal } from '../../../src/kernel/refusal.ts'
import type { QueryPorts } from '../../../src/ports/query-ports.ts'
import type { Doc } from '../../../src/ports/read-store.ts'
import { project } from '../../support/fixtures/project.ts'
import { queryPorts } from '../../support/fixtures/query-ports.ts'
import { given, idOf, NOW, recordedEvents, WORKSPACE } from '../../support/fixtures/spec.ts'
import {
  buyerIn,
  campaignIn,
  emptyWorkspace,
  hashOf,
  numberIn,
  publisherIn,
  targetIn,
  workspaceFixture,
} from '../../support/fixtures/workspace-fixture.ts'
import { createMemoryReadStore } from '../../support/memory/read-store.ts'

const CONFIGURATION: readonly AnyProjection[] = [
  buyers,
  campaigns,
  lanes,
  numbers,
  publishers,
  routes,
  routingKeys,
  targets,
]

type Rows = Readonly<Record<string, Doc>>

/** The read models of a history, with counted usage and rows of the call log beside them. */
async function viewsOf(events: readonly NewEvent[], more: { readonly usage?: Rows; readonly calls?: Rows } = {}) {
  const views = createMemoryReadStore()
  const log = recordedEvents(workspace, events)
  const put = (collection: string, docs: Rows) =>
    views.commit(
      Object.entries(docs).map(([id, doc]) => ({ collection, id, doc, position: 0 })),
      { name: collection, expected: null, next: { position: 0, at: null } },
    )
  for (const projection of CONFIGURATION) await put(collectionOf(projection), await project(projection, log))
  await put(collectionOf(capCounters), more.usage ?? {})
  await put(collectionOf(callLog), more.calls ?? {})
  return views
}

/** Asks a query as the edge does, and checks that what it answers is what it says it answers. */
async function ask(
  query: AnyQuery<QueryPorts>,
  events: readonly NewEvent[],
  asked: { readonly id?: string; readonly query?: object; readonly surface?: 'rest' | 'console' } = {},
  more: Parameters<typeof viewsOf>[1] = {},
) {
  const answer = await query.run(queryPorts(await viewsOf(events, more)), {
    params: query.params.parse({ id: asked.id }),
    query: query.query.parse(asked.query ?? {}),
    tenant: { workspaceId: WORKSPACE, timezone: 'America/New_York' },
    surface: asked.surface ?? 'rest',
    now: NOW,
  })
  if (isRefusal(answer)) return answer
  expect(query.response.parse(answer)).toEqual(answer)
  return answer
}

const names = (page: { readonly data: readonly { readonly name: string }[] }) => page.data.map(({ name }) => name)

const call = (startedAt: string, more: object = {}): Doc => ({
  workspaceId: WORKSPACE,
  startedMs: Date.parse(startedAt),
  campaign: null,
  publisher: null,
  buyer: null,
  target: null,
  numberId: null,
  connectedCount: 0,
  convertedCount: 0,
  revenueCents: 0,
  payoutCents: 0,
  ...more,
})

const counted = (more: object): Doc => ({
  workspaceId: WORKSPACE,
  liveCalls: 0,
  hours: {},
  days: {},
  months: {},
  total: 0,
  revenueDays: {},
  payoutDays: {},
  ...more,
})

const events = workspaceFixture()
const ids = {
  buyer: buyerIn(events),
  campaign: campaignIn(events),
  publisher: publisherIn(events),
  target: targetIn(events),
  number: numberIn(events),
}

describe('lists', () => {
  const three = emptyWorkspace(
    'scale',
    ...['Beta', 'alpha', 'Gamma'].map((name) => [createBuyer, () => ({ name, company: `${name} Inc` })] as const),
  )

  it('page, count and clamp', async () => {
    const page = await ask(listBuyers, three, { query: { page: '2', pageSize: '2', sort: 'name', dir: 'asc' } })
    expect(page).toMatchObject({ page: 2, pageSize: 2, total: 3, totalPages: 2 })
    expect(names(page)).toEqual(['alpha'])
    expect(await ask(listBuyers, three, { query: { pageSize: '900' } })).toMatchObject({ pageSize: 200 })
    expect(await ask(listBuyers, emptyWorkspace())).toEqual({
      data: [],
      page: 1,
      pageSize: 25,
      total: 0,
      totalPages: 0,
    })
  })

  it('fall back from an unknown order, and find text without regard to case', async () => {
    expect((await ask(listBuyers, three, { query: { sort: 'shoe-size' } })).total).toBe(3)
    expect(names(await ask(listBuyers, three, { query: { q: 'GAMMA i' } }))).toEqual(['Gamma'])
    expect(names(await ask(listBuyers, three, { query: { q: '.*' } }))).toEqual([])
  })

  it('leave archived records out unless the status names them', async () => {
    const archived = given(workspace, three).when(setBuyerStatus, {
      buyerId: buyerIn(three),
      status: 'archived',
    }).events
    expect(names(await ask(listBuyers, archived)).toSorted()).toEqual(['Gamma', 'alpha'])
    expect(names(await ask(listBuyers, archived, { query: { status: 'archived' } }))).toEqual(['Beta'])
  })

  it('hold only the workspace’s own', async () => {
    const foreign = { ...(await viewsOf(events)).all(collectionOf(buyers))[ids.buyer], workspaceId: idOf(2) }
    const views = await viewsOf(emptyWorkspace())
    await views.commit([{ collection: collectionOf(buyers), id: ids.buyer, doc: foreign, position: 1 }], {
      name: 'foreign',
      expected: null,
      next: { position: 1, at: null },
    })
    const asked = { tenant: { workspaceId: WORKSPACE, timezone: 'UTC' }, surface: 'rest', now: NOW } as const
    const ports = queryPorts(views)
    const query = listBuyers.query.parse({})
    expect(await listBuyers.run(ports, { ...asked, params: {}, query })).toMatchObject({ total: 0 })
    expect(await getBuyer.run(ports, { ...asked, params: { id: ids.buyer }, query: {} })).toMatchObject({
      refused: 'buyer-not-found',
    })
  })
})

describe('buyers', () => {
  const more = {
    usage: {
      [`buyer:${ids.buyer}`]: counted({
        liveCalls: 2,
        hours: { '2026-03-10T15': 3, '2026-03-10T14': 9 },
        days: { '2026-03-10': 12 },
        months: { '2026-03': 40 },
        total: 99,
        revenueDays: { '2026-03-10': 8_000, '2026-03-09': 1 },
      }),
    },
    calls: {
      // Midnight in New York is 04:00 UTC.
      a: call('2026-03-10T03:59:59.999Z', { buyer: { id: ids.buyer, name: 'Solar Co' }, connectedCount: 1 }),
      b: call('2026-03-10T04:00:00.000Z', {
        buyer: { id: ids.buyer, name: 'Solar Co' },
        connectedCount: 1,
        convertedCount: 1,
        revenueCents: 4_000,
        payoutCents: 900,
      }),
      c: call('2026-03-10T14:00:00.000Z', { buyer: { id: ids.buyer, name: 'Solar Co' }, connectedCount: 1 }),
      d: call('2026-03-10T14:10:00.000Z', { buyer: { id: ids.buyer, name: 'Solar Co' } }),
    },
  }

  it('carry usage by UTC window, and today on the workspace calendar', async () => {
    const [buyer] = (await ask(listBuyers, events, {}, more)).data
    expect(buyer).toMatchObject({
      id: ids.buyer,
      usage: { liveCalls: 2, hour: 3, day: 12, month: 40, total: 99, dayRevenueCents: 8_000 },
      liveCalls: 2,
      targets: { total: 1, active: 1 },
      today: {
        calls: 3,
        connected: 2,
        converted: 1,
        connectRate: 0.6667,
        conversionRate: 0.5,
        revenueCents: 4_000,
        payoutCents: 900,
      },
    })
    expect(buyer).not.toHaveProperty('workspaceId')
  })

  it('are read with their targets in full, and zeros where nothing happened', async () => {
    const { buyer, targets } = await ask(getBuyer, events, { id: ids.buyer })
    expect(buyer).toMatchObject({ today: { calls: 0, connectRate: null, conversionRate: null }, usage: { total: 0 } })
    expect(buyer).not.toHaveProperty('targets')
    expect(names({ data: targets })).toEqual(['Front desk'])
    expect(await ask(getBuyer, events, { id: idOf(9) })).toMatchObject({ refused: 'buyer-not-found' })
  })
})

describe('targets', () => {
  const bidding = {
    name: 'Bidder',
    type: 'rtb',
    rtb: { bidUrl: 'https://bid.example:8443/x?y=1', bidHeaders: { 'x-key': 'secret' }, bidBodyTemplate: '{}' },
  }
  const both = given(workspace, events).when(createTarget, { ...bidding, buyerId: ids.buyer }, { firstId: 800 }).events

  it('show buyer, destination, health and routes', async () => {
    const health = { health: 'degraded', lastError: 'busy', consecutiveFailures: 1, suppressedUntil: null }
    const { target } = await ask(
      getTarget,
      events,
      { id: ids.target },
      { usage: { [`target:${ids.target}`]: counted({ health }) } },
    )
    expect(target).toMatchObject({
      kind: 'static',
      buyer: { id: ids.buyer, name: 'Solar Co', status: 'active' },
      destination: { type: 'number', value: '+14155550111', display: '(415) 555-0111' },
      endpoint: { mode: 'pstn', hasSipSecret: false, sipSecretLast4: null },
      ...health,
      routes: [{ campaignId: ids.campaign, campaign: { name: 'Solar West', routingMode: 'priority' }, priority: 100 }],
    })
    expect(target.endpoint).not.toHaveProperty('sipSecret')
  })

  it('blank a bidder’s headers and template for keys, and for everyone in buyer reads', async () => {
    const q = { query: { type: 'rtb' } }
    const hidden = { bidHeaders: { 'x-key': '•••' }, bidBodyTemplate: '•••' }
    const shown = { bidHeaders: { 'x-key': 'secret' }, bidBodyTemplate: '{}' }
    expect((await ask(listTargets, both, q)).data).toMatchObject([
      { rtb: hidden, destination: { value: 'bid.example:8443' } },
    ])
    expect((await ask(listTargets, both, { ...q, surface: 'console' })).data).toMatchObject([{ rtb: shown }])
    const read = await ask(getBuyer, both, { id: ids.buyer, surface: 'console' })
    expect(read.targets.find(({ type }: { type: string }) => type === 'rtb')).toMatchObject({ rtb: hidden })
  })

  it('filter by kind, buyer, campaign and health', async () => {
    const usage = {
      [`target:${ids.target}`]: counted({
        health: { health: 'down', lastError: null, consecutiveFailures: 3, suppressedUntil: null },
      }),
    }
    const found = async (query: object) => names(await ask(listTargets, both, { query }, { usage }))
    expect(await found({ kind: 'external_rtb' })).toEqual(['Bidder'])
    expect(await found({ buyerId: ids.buyer, sort: 'name', dir: 'asc' })).toEqual(['Bidder', 'Front desk'])
    expect(await found({ campaignId: ids.campaign })).toEqual(['Front desk'])
    expect(await found({ health: 'down' })).toEqual(['Front desk'])
    expect(await found({ health: 'unknown' })).toEqual(['Bidder'])
    expect(await found({ health: 'healthy' })).toEqual([])
    expect(await ask(listTargets, both, { query: { campaignId: idOf(9) } })).toMatchObject({
      refused: 'campaign-not-found',
    })
  })

  it('leave every plan when archived', async () => {
    const archived = given(workspace, events).when(setTargetStatus, { targetId: ids.target, status: 'archived' }).events
    const { target } = await ask(getTarget, archived, { id: ids.target })
    expect(target).toMatchObject({ status: 'archived', routes: [] })
    expect(await ask(listTargets, archived, { query: { status: 'archived', campaignId: ids.campaign } })).toMatchObject(
      { total: 0 },
    )
  })
})

describe('publishers', () => {
  it('carry their lanes with usage, key and numbers, and no hash of the key', async () => {
    const terms = { bufferSeconds: 30, payoutMode: 'fixed', payoutCents: 700 }
    const key = { prefix: 'x', hash: hashOf('x') }
    const place = { campaignId: ids.campaign, publisherId: ids.publisher }
    const changed = given(workspace, events).when(setLane, { ...place, terms, key }).events
    const usage = {
      [`lane:${ids.campaign}:${ids.publisher}`]: counted({ liveCalls: 1, payoutDays: { '2026-03-10': 700 } }),
    }
    const { publisher } = await ask(getPublisher, changed, { id: ids.publisher }, { usage })
    expect(publisher).toMatchObject({
      routingPrefix: 'BLUE',
      quality: null,
      lanes: [
        {
          campaign: { id: ids.campaign, name: 'Solar West', status: 'draft' },
          payoutCents: 700,
          effectiveBufferSeconds: 30,
          usage: { liveCalls: 1, hour: 0, day: 0, month: 0, dayPayoutCents: 700 },
          key: { prefix: 'rk_', state: 'active', useCount: 0 },
          numbers: 1,
          compat: { enabled: false },
        },
      ],
    })
    expect(publisher.lanes[0].key).not.toHaveProperty('hash')
  })

  it('are scored from twenty calls on', async () => {
    const calls = (count: number) =>
      Object.fromEntries(
        Array.from({ length: count }, (_, n) => [
          `c${n}`,
          call('2026-03-01T12:00:00.000Z', {
            publisher: { id: ids.publisher, name: 'Blue Leads' },
            connectedCount: n % 2,
            convertedCount: n % 4 === 1 ? 1 : 0,
          }),
        ]),
      )
    const scored = async (count: number) =>
      (await ask(listPublishers, events, {}, { calls: calls(count) })).data[0].quality
    expect([await scored(19), await scored(20)]).toEqual([null, 50])
  })
})

describe('campaigns', () => {
  it('carry counts and their vertical, and no checklist on rows', async () => {
    const [row] = (await ask(listCampaigns, events, { query: { verticalId: 'solar' } })).data
    expect(row).toMatchObject({
      kind: 'tracking',
      vertical: { id: 'solar', name: 'Solar', short: 'Solar' },
      counts: { numbers: 1, routes: 1, activeRoutes: 1, publishers: 1 },
      liveCalls: 0,
    })
    expect(row).not.toHaveProperty('checklist')
    expect((await ask(listCampaigns, events, { query: { routingMode: 'weighted' } })).total).toBe(0)
  })

  it('are read with the very blockers that a launch is refused by', async () => {
    const bare = given(workspace, events).when(
      createCampaign,
      { name: 'Bare', verticalId: 'tax' },
      { firstId: 800 },
    ).events
    const id = campaignIn(bare, 1)
    const { campaign } = await ask(getCampaign, bare, { id })
    expect(campaign).toMatchObject({ canGoLive: false, checklist: { ready: false } })
    given(workspace, bare)
      .when(setCampaignStatus, { campaignId: id, status: 'live' }, { reads: { wallet: wallet.initial } })
      .gives({ refused: 'conflict', details: { blockers: campaign.blockers } })
    expect((await ask(getCampaign, events, { id: ids.campaign })).campaign.blockers).toEqual(['The wallet is empty.'])
  })
})

describe('numbers', () => {
  it('carry attribution and activity', async () => {
    const on = { numberId: ids.number }
    const calls = {
      a: call('2026-03-09T12:00:00.000Z', on),
      b: call('2026-03-10T12:00:00.000Z', on),
      c: call('2026-01-01T12:00:00.000Z', on),
    }
    const [number] = (await ask(listNumbers, events, {}, { calls })).data
    expect(number).toMatchObject({
      e164: '+14155550123',
      campaign: { id: ids.campaign, name: 'Solar West', status: 'draft' },
      publisher: { id: ids.publisher, name: 'Blue Leads' },
      pool: null,
      calls30d: 2,
      lastCallAt: '2026-03-10T12:00:00.000Z',
    })
    expect(number).not.toHaveProperty('renewsAt')
  })

  it('are found by digits or label, and by assignment', async () => {
    const spare = { e164: '+13105550177', type: 'local', label: 'Truck 7', renewsAt: '2026-04-01T00:00:00.000Z' }
    const two = given(workspace, events).when(provisionNumber, spare, { firstId: 800 }).events
    const found = async (query: object) =>
      (await ask(listNumbers, two, { query })).data.map(({ e164 }: { e164: string }) => e164)
    expect(await found({ q: '(310) 555' })).toEqual([spare.e164])
    expect(await found({ q: 'truck' })).toEqual([spare.e164])
    expect(await found({ assigned: 'false' })).toEqual([spare.e164])
    expect(await found({ assigned: 'true' })).toEqual(['+14155550123'])
    expect(await found({ assigned: 'false', campaignId: ids.campaign })).toEqual(['+14155550123'])
    expect(await found({ status: 'released' })).toEqual([])
  })
})
