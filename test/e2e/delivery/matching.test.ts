import { expect } from 'vitest'
import type { StreamWriter } from '../../../src/runtime/write/stream-writer.ts'
import { createApiClient, type Json, statusAndCode } from '../../support/e2e/api-client.ts'
import { waitUntil } from '../../support/e2e/server.ts'
import { OPERATOR_TOKEN, suite } from '../../support/e2e/suite.ts'
import { answerScript, minutesAgo, type TenantClient } from '../../support/e2e/tenant-client.ts'
import { createWebhookClient } from '../../support/e2e/webhook-client.ts'
import {
  answerInTurn,
  envelopeOf,
  startWebhookReceiver,
  type WebhookReceiver,
} from '../../support/e2e/webhook-receiver.ts'
import { createTenantWorkspace } from '../../support/e2e/world.ts'

const CONNECTED = ['call.incoming', 'call.routed', 'call.connected', 'call.completed', 'call.converted']
const UNROUTED = ['call.incoming', 'call.unrouted', 'call.completed']

async function world(writer: StreamWriter) {
  const main = await createTenantWorkspace(writer, { name: 'Main' })
  const desk = await main.target(await main.buyer({ name: 'Acme' }), { name: 'Desk' })
  const north = await main.publisher({ name: 'North' })
  const south = await main.publisher({ name: 'South' })
  const roofing = await main.line({ name: 'Roofing' }, [desk], { publisherId: north })
  const solar = await main.line({ name: 'Solar' }, [desk], { publisherId: south })
  const own = await main.line({ name: 'Own media' }, [desk])
  const direct = await main.number()
  const poor = await createTenantWorkspace(writer, { name: 'Poor', fundCents: 3 })
  const poorDesk = await poor.target(await poor.buyer({ name: 'Acme' }))
  const unpaid = await poor.line({ name: 'Unpaid' }, [poorDesk])
  const planned = await createTenantWorkspace(writer, { name: 'Planned' })
  const plannedDesk = await planned.target(await planned.buyer({ name: 'Acme' }))
  const plannedLine = await planned.line({ name: 'Planned' }, [plannedDesk])
  const other = await createTenantWorkspace(writer, { name: 'Other' })
  return {
    ...{ main, desk, north, south, roofing, solar, own, direct },
    ...{ poor, poorDesk, unpaid, planned, plannedDesk, plannedLine, other },
  }
}

const { it, describe, beforeAll, afterAll, main, tenant, the, server } = suite('which endpoints hear an event', world)

const webhooks = createWebhookClient(main)
let receiver: WebhookReceiver
beforeAll(async () => {
  receiver = await startWebhookReceiver({
    ...Object.fromEntries(
      ['waits', 'twin', 'campaign', 'publisher', 'deleted', 'unplanned'].map((name) => [
        name,
        answerInTurn(500, 500, 200),
      ]),
    ),
    once: answerInTurn(500, 200),
  })
})
afterAll(() => receiver.close())

const endpoint = async (name: string, settings: Json = {}, client = webhooks): Promise<string> =>
  (await client.created({ name, url: receiver.url(name), ...settings })).id

const playOn = async (e164: string, client: TenantClient = main, desk = the.desk): Promise<string> =>
  (await client.playCall({ to: e164, at: minutesAgo(10), script: { [desk]: answerScript(1) } })).call.id

/** The entries of an endpoint's log as event and call, sorted. */
async function heardBy(id: string, calls: Readonly<Record<string, string>>, client = webhooks) {
  const nameOf = (callId: string) => Object.keys(calls).find((name) => calls[name] === callId) ?? callId
  const entries = await client.log(id)
  return entries.map(({ event, callId }) => `${nameOf(callId)} ${event}`).toSorted()
}

/** Waits until an endpoint has an event of a call in its log: what fired before is in every log then. */
const untilHeard = (id: string, callId: string, event: string, client = webhooks) =>
  client.logged(id, `${event} is heard`, (entry) => entry.callId === callId && entry.event === event)

const untilTried = (id: string, times: number) =>
  webhooks.logged(id, `${times} attempts are logged`, ({ attempts }) => attempts.length >= times)

/** Waits until a delivery that is queued now has been made: what was due before has been looked at since. */
async function untilOthersAreSent(): Promise<void> {
  const id = await endpoint('fence', { eventPattern: 'wallet.low' })
  await webhooks.test(id)
  await webhooks.logged(id, 'The test is delivered', ({ state }) => state === 'delivered')
}

describe('Which endpoints hear an event', () => {
  const calls: Record<string, string> = {}
  const ids: Record<string, string> = {}
  const rows: readonly (readonly [string, () => Json, Readonly<Record<string, readonly string[]>>])[] = [
    [
      'the pattern *',
      () => ({ eventPattern: '*' }),
      { roofing: CONNECTED, solar: CONNECTED, own: CONNECTED, direct: UNROUTED },
    ],
    [
      'the exact name of an event',
      () => ({ eventPattern: 'call.connected' }),
      { roofing: ['call.connected'], solar: ['call.connected'], own: ['call.connected'] },
    ],
    [
      'several names',
      () => ({ eventPattern: ['call.unrouted', 'call.converted'] }),
      { roofing: ['call.converted'], solar: ['call.converted'], own: ['call.converted'], direct: ['call.unrouted'] },
    ],
    ['the name of another event', () => ({ eventPattern: ['wallet.low', 'target.down'] }), {}],
    ['a campaign', () => ({ campaignId: the.roofing.campaignId }), { roofing: CONNECTED }],
    ["a campaign of the workspace's own media", () => ({ campaignId: the.own.campaignId }), { own: CONNECTED }],
    ['a publisher', () => ({ publisherId: the.south }), { solar: CONNECTED }],
    [
      'a campaign and its publisher',
      () => ({ campaignId: the.roofing.campaignId, publisherId: the.north, eventPattern: 'call.completed' }),
      { roofing: ['call.completed'] },
    ],
    [
      'a campaign and the publisher of another one',
      () => ({ campaignId: the.roofing.campaignId, publisherId: the.south }),
      {},
    ],
  ]
  const theirs = createWebhookClient(tenant(({ other }) => other))

  beforeAll(async () => {
    for (const [name, settings] of rows) ids[name] = await endpoint('matched', { name, ...settings() })
    ids['another workspace'] = await endpoint('matched', {}, theirs)
    for (const [name, { e164 }] of Object.entries({
      roofing: the.roofing,
      solar: the.solar,
      own: the.own,
      direct: the.direct,
    }))
      calls[name] = await playOn(e164)
    const all = ids['the pattern *'] ?? ''
    for (const [name, event] of [
      ['own', 'call.converted'],
      ['direct', 'call.completed'],
    ] as const)
      await untilHeard(all, calls[name] ?? '', event)
    await untilOthersAreSent()
  })

  it.each(rows)('an endpoint with %s hears exactly its events', async (name, _settings, heard) => {
    const expected = Object.entries(heard).flatMap(([call, events]) => events.map((event) => `${call} ${event}`))
    expect(await heardBy(ids[name] ?? '', calls)).toEqual(expected.toSorted())
  })

  it('an endpoint of another workspace hears none of them', async () => {
    expect(await theirs.log(ids['another workspace'] ?? '')).toEqual([])
  })
})

it('an endpoint narrowed to a campaign or a publisher never hears wallet.low, which names neither', async () => {
  const client = tenant(({ poor }) => poor)
  const poor = createWebhookClient(client)
  const publisherId = await the.poor.publisher({ name: 'North' })
  await waitUntil('The publisher can be read', async () => {
    const read = await client.console(`/api/tracking/publishers/${publisherId}`)
    return read.status === 200
  })
  const all = await endpoint('poor', {}, poor)
  const exact = await endpoint('poor', { eventPattern: 'wallet.low' }, poor)
  const byCampaign = await endpoint('poor', { campaignId: the.unpaid.campaignId }, poor)
  const byPublisher = await endpoint('poor', { publisherId }, poor)
  // One minute of talk costs what is in the wallet.
  await client.playCall({ to: the.unpaid.e164, at: minutesAgo(10), script: { [the.poorDesk]: answerScript(60) } })
  const refused = await playOn(the.unpaid.e164, client, the.poorDesk)
  await untilHeard(all, refused, 'call.completed', poor)
  await poor.logged(all, 'wallet.low is heard', ({ event }) => event === 'wallet.low')
  const calls = { refused }
  const ofRefused = async (id: string) =>
    (await heardBy(id, calls, poor)).filter((entry) => /^(refused|null) /.test(entry))
  const unrouted = UNROUTED.map((event) => `refused ${event}`).toSorted()
  expect(await ofRefused(all)).toEqual(['null wallet.low', ...unrouted])
  expect(await ofRefused(exact)).toEqual(['null wallet.low'])
  expect(await ofRefused(byCampaign)).toEqual(unrouted)
  expect(await ofRefused(byPublisher)).toEqual([])
})

describe('paused', () => {
  it('nothing that fires while an endpoint is paused is queued, then or when it is resumed', async () => {
    const [id, witness] = [await endpoint('paused'), await endpoint('witness')]
    const before = await playOn(the.own.e164)
    await untilHeard(id, before, 'call.converted')
    expect((await webhooks.change(id, { status: 'paused' })).status).toBe('paused')
    const during = await playOn(the.own.e164)
    await untilHeard(witness, during, 'call.converted')
    await webhooks.change(id, { status: 'active' })
    const after = await playOn(the.own.e164)
    await untilHeard(id, after, 'call.converted')
    const expected = ['before', 'after'].flatMap((call) => CONNECTED.map((event) => `${call} ${event}`))
    expect(await heardBy(id, { before, during, after })).toEqual(expected.toSorted())
    await waitUntil('All are received', async () => receiver.got('paused').length === expected.length)
    expect(receiver.got('paused').map((request) => envelopeOf(request).data.callId)).not.toContain(during)
    for (const one of [id, witness]) await webhooks.remove(one)
  })

  it('what was queued waits until the endpoint is resumed, and is sent then', async () => {
    const settings = { eventPattern: 'call.completed' }
    const [id, twin] = [await endpoint('waits', settings), await endpoint('twin', settings)]
    const callId = await playOn(the.own.e164)
    const [tried] = await untilTried(id, 2)
    await webhooks.change(id, { status: 'paused' })
    expect(statusAndCode(await webhooks.replay(tried.id))).toEqual([409, 'conflict'])
    const [sent] = await untilTried(twin, 3)
    expect(sent).toMatchObject({ state: 'delivered', callId })
    await waitUntil('The retry is due', async () => Date.now() > Date.parse(tried.nextAttemptAt))
    await untilOthersAreSent()
    expect(await webhooks.log(id)).toMatchObject([{ state: 'queued', nextAttemptAt: tried.nextAttemptAt }])
    expect(receiver.got('waits')).toHaveLength(2)
    await webhooks.change(id, { status: 'active' })
    const [done] = await untilTried(id, 3)
    expect(done).toMatchObject({ id: tried.id, requestId: tried.requestId, state: 'delivered', nextAttemptAt: null })
    expect(receiver.got('waits').map(({ headers }) => headers['svc-attempt'])).toEqual(['1', '2', '3'])
  })
})

it('an endpoint keeps its place when the plan loses webhooks, hears nothing until the plan has them again, and what was queued ends failed', async () => {
  const client = tenant(({ planned }) => planned)
  const planned = createWebhookClient(client)
  const operator = createApiClient(() => server.baseUrl, OPERATOR_TOKEN)
  const setPlan = async (planId: string) => {
    const path = `/api/operator/workspaces/${the.planned.workspaceId}`
    expect((await operator(path, { method: 'PATCH', body: { planId } })).status).toBe(200)
  }
  const play = () => playOn(the.plannedLine.e164, client, the.plannedDesk)
  const all = await endpoint('planned', {}, planned)
  const failing = await endpoint('unplanned', { eventPattern: 'call.completed' }, planned)
  const before = await play()
  await untilHeard(all, before, 'call.converted', planned)
  const [tried] = await planned.logged(failing, 'It is tried twice', ({ attempts }) => attempts.length === 2)
  expect(tried.state).toBe('queued')
  await setPlan('starter')
  const [ended] = await planned.logged(failing, 'It has ended', ({ state }) => state === 'failed')
  expect(ended).toMatchObject({ id: tried.id, nextAttemptAt: null })
  expect(ended.attempts.at(-1)).toMatchObject({ status: 0, error: 'The plan no longer includes webhooks.' })
  expect(receiver.got('unplanned')).toHaveLength(2)
  const during = await play()
  await setPlan('growth')
  const after = await play()
  await untilHeard(all, after, 'call.converted', planned)
  const expected = ['before', 'after'].flatMap((call) => CONNECTED.map((event) => `${call} ${event}`))
  expect(await heardBy(all, { before, during, after }, planned)).toEqual(expected.toSorted())
  expect(await heardBy(failing, { before, during, after }, planned)).toEqual([
    'after call.completed',
    'before call.completed',
  ])
  expect((await planned.read(all)).status).toBe('active')
})

it('Each matching endpoint gets its own delivery and retries, under one request id', async () => {
  const settings = { eventPattern: ['call.completed', 'call.incoming'] }
  const [well, unwell] = [await endpoint('well', settings), await endpoint('once', settings)]
  await playOn(the.own.e164)
  const untilBothAre = (id: string) =>
    waitUntil('Both events are delivered', async () => {
      const entries = await webhooks.log(id)
      return entries.filter(({ state }) => state === 'delivered').length === 2 && entries
    })
  const [first, second] = [await untilBothAre(well), await untilBothAre(unwell)]
  const requestIds = (entries: readonly Json[]) => entries.map(({ event, requestId }) => [event, requestId])
  expect(requestIds(first)).toEqual(requestIds(second))
  expect(new Set(first.map(({ requestId }) => requestId)).size).toBe(2)
  expect(new Set([...first, ...second].map(({ id }) => id)).size).toBe(4)
  expect(first.map(({ attempts }) => attempts.length)).toEqual([1, 1])
  expect(second.map(({ attempts }) => attempts.length).toSorted()).toEqual([1, 2])
  for (const name of ['well', 'once'])
    for (const request of receiver.got(name)) expect(envelopeOf(request).id).toBe(request.headers['svc-request-id'])
})

it('an event that is queued when its endpoint is narrowed to something else ends failed, with a sentence', async () => {
  const names = ['campaign', 'publisher'] as const
  const ids = [
    await endpoint('campaign', { eventPattern: 'call.completed' }),
    await endpoint('publisher', { eventPattern: 'call.completed' }),
  ]
  await playOn(the.roofing.e164)
  for (const [at, changes] of [{ campaignId: the.solar.campaignId }, { publisherId: the.south }].entries()) {
    const id = ids[at] ?? ''
    await untilTried(id, 2)
    await webhooks.change(id, changes)
  }
  for (const [at, name] of names.entries()) {
    const [ended] = await webhooks.logged(ids[at] ?? '', 'It has ended', ({ state }) => state === 'failed')
    expect(ended.nextAttemptAt).toBeNull()
    expect(ended.attempts.at(-1)).toMatchObject({
      status: 0,
      error: 'The endpoint is now narrowed to another campaign or publisher.',
    })
    expect(receiver.got(name)).toHaveLength(2)
  }
})

it('a deleted endpoint gets nothing of what was queued, and has no log', async () => {
  const id = await endpoint('deleted', { eventPattern: 'call.completed' })
  await playOn(the.own.e164)
  const [tried] = await untilTried(id, 2)
  expect((await webhooks.remove(id)).body).toEqual({ deleted: id })
  expect(statusAndCode(await main.console(`/api/tracking/webhooks/${id}/deliveries`))).toEqual([404, 'not_found'])
  await waitUntil('The retry would be due', async () => Date.now() > Date.parse(tried.nextAttemptAt))
  await untilOthersAreSent()
  expect(receiver.got('deleted')).toHaveLength(2)
  expect(statusAndCode(await webhooks.replay(tried.id))).toEqual([404, 'not_found'])
})
