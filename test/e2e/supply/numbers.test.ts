import { expect } from 'vitest'
import { assignNumber } from '../../../commands/supply/assign-number.ts'
import { createPool } from '../../../commands/supply/create-pool.ts'
import type { StreamWriter } from '../../../src/runtime/write/stream-writer.ts'
import {
  type ApiClient,
  type ApiResponse,
  errorWithoutRequestId,
  type Json,
  queryString,
  UNKNOWN_ID,
} from '../../support/e2e/api-client.ts'
import { documentLine } from '../../support/e2e/document-1.ts'
import { createNumberClient } from '../../support/e2e/number-client.ts'
import { OPERATOR_TOKEN, suite } from '../../support/e2e/suite.ts'
import { createTenantClient, minutesAgo } from '../../support/e2e/tenant-client.ts'
import { cancelSubscription, createTenantWorkspace } from '../../support/e2e/world.ts'

async function world(writer: StreamWriter) {
  const main = await createTenantWorkspace(writer, { name: 'Main' })
  const desk = await main.target(await main.buyer({ name: 'Acme' }))
  const publisherId = await main.publisher({ name: 'Blue Leads' })
  const busy = await main.line({ name: 'Busy' }, [desk])
  const lane = await main.line({ name: 'Laned' }, [desk], { publisherId })
  const [made] = await main.act(createPool, {
    campaignId: lane.campaignId,
    publicKey: `pk_${'d'.repeat(24)}`,
    settings: { name: 'Web pool', publisherId },
  })
  const created: Json = made?.data
  const poolId = created.pool.id
  const pooled = await main.number({ label: 'Pooled' })
  await main.act(assignNumber, { numberId: pooled.numberId, poolId })
  const spare = await main.number({ label: 'Spare (east)', renewsAt: '2027-01-31T12:00:00.000Z' })
  const released = await main.number({ label: 'Going' })
  const moving = await main.number({ label: 'Machine' })
  const lapsed = await createTenantWorkspace(writer, { name: 'Lapsed' })
  const theirs = await lapsed.number({ label: 'Theirs' })
  await cancelSubscription(lapsed)
  const reader = await main.apiKey({ scopes: ['numbers:read'], name: 'Reader' })
  return { main, busy, lane, publisherId, poolId, pooled, spare, released, moving, lapsed, theirs, reader }
}

const { it, describe, beforeAll, main, the, server, client } = suite('numbers', world)
const byKey = client((the) => the.reader)
const staff = client(OPERATOR_TOKEN)

let lapsed: ApiClient

beforeAll(() => {
  lapsed = createTenantClient(server, the.lapsed).console
})

const labels = async (filter: Parameters<typeof queryString>[0]) => {
  const { status, body, text } = await byKey(`/api/v1/numbers${queryString({ sort: 'e164', dir: 'asc', ...filter })}`)
  expect(status, text).toBe(200)
  return body.data.map(({ label }: Json) => label)
}
const rowOf = async (e164: string) => (await byKey(`/api/v1/numbers?q=${e164.slice(1)}`)).body.data[0]
const release = (id: string, ask = main.console) => ask(`/api/tracking/numbers/${id}/release`, { method: 'POST' })
const refused = ({ status, body }: ApiResponse) => [status, body.error.code, body.error.details]

describe(documentLine('GET /api/v1/numbers'), () => {
  it('answers each number with its attribution', async () => {
    const busy = await rowOf(the.busy.e164)
    expect(busy).toEqual({
      id: the.busy.numberId,
      e164: the.busy.e164,
      national: expect.stringMatching(/^\(310\) 555-\d{4}$/),
      formatted: busy.national,
      type: 'local',
      status: 'active',
      role: 'tracking',
      label: 'Busy',
      region: null,
      locality: null,
      campaign: { id: the.busy.campaignId, name: 'Busy', status: 'live' },
      publisher: null,
      pool: null,
      webhookStatus: 'ready',
      webhookError: null,
      releaseRequestedAt: null,
      monthlyCents: 200,
      purchasedAt: expect.any(String),
      renewsAt: busy.renewsAt,
      calls30d: 0,
      lastCallAt: null,
    })
    expect(await rowOf(the.pooled.e164)).toMatchObject({
      campaign: { id: the.lane.campaignId },
      publisher: { id: the.publisherId, name: 'Blue Leads' },
      pool: { id: the.poolId, name: 'Web pool' },
    })
    expect(await rowOf(the.spare.e164)).toMatchObject({
      role: 'unassigned',
      campaign: null,
      publisher: null,
      pool: null,
      renewsAt: '2027-01-31T12:00:00.000Z',
    })
  })

  it('counts the calls of thirty days and shows the last; a single number counts none', async () => {
    await main.playCall({ to: the.busy.e164, at: minutesAgo(60) })
    const { call } = await main.playCall({ to: the.busy.e164, at: minutesAgo(30) })
    await main.playCall({ to: the.busy.e164, at: minutesAgo(31 * 24 * 60) })
    expect(await rowOf(the.busy.e164)).toMatchObject({ calls30d: 2, lastCallAt: call.startedAt })
    for (const path of ['/api/v1/numbers', '/api/tracking/numbers']) {
      const ask = path.startsWith('/api/v1') ? byKey : main.console
      const { body, headers } = await ask(`${path}/${the.busy.numberId}`)
      expect(body.number).toMatchObject({ e164: the.busy.e164, calls30d: 0, lastCallAt: call.startedAt })
      expect(headers.get('etag')).toMatch(/^"\d+"$/)
    }
  })

  it('finds by digits and by label, by campaign, publisher and pool, assigned or not', async () => {
    expect(await labels({ q: the.spare.e164.slice(-4) })).toEqual(['Spare (east)'])
    expect(await labels({ q: 'spare' })).toEqual(['Spare (east)'])
    expect(await labels({ q: '(EAST)' })).toEqual(['Spare (east)'])
    expect(await labels({ campaignId: the.lane.campaignId })).toEqual(['Laned', 'Pooled'])
    expect(await labels({ publisherId: the.publisherId })).toEqual(['Laned', 'Pooled'])
    expect(await labels({ poolId: the.poolId })).toEqual(['Pooled'])
    expect(await labels({ assigned: true })).toEqual(['Busy', 'Laned', 'Pooled'])
    expect(await labels({ assigned: false })).toEqual(['Spare (east)', 'Going', 'Machine'])
    expect(await labels({ assigned: false, campaignId: the.busy.campaignId })).toEqual(['Busy'])
    expect(await labels({ campaignId: UNKNOWN_ID })).toEqual([])
    expect(await labels({ status: 'suspended' })).toEqual([])
  })

  it('orders, pages, and refuses filters of the wrong kind', async () => {
    const all = await labels({})
    expect(await labels({ dir: 'desc' })).toEqual(all.toReversed())
    for (const sort of ['createdAt', 'purchasedAt']) expect(await labels({ sort })).toEqual(all)
    expect(await labels({ sort: 'status' })).toHaveLength(all.length)
    expect(await labels({ sort: 'nonsense', dir: 'desc' })).toEqual(all.toReversed())
    expect(await labels({ pageSize: 2, page: 2 })).toEqual(all.slice(2, 4))
    const wrong = {
      status: 'lost',
      campaignId: 'x',
      publisherId: 'x',
      poolId: 'x',
      assigned: 'yes',
      q: 'a'.repeat(41),
    }
    const { status, body } = await byKey(`/api/v1/numbers${queryString(wrong)}`)
    expect([status, body.error.code]).toEqual([400, 'validation_error'])
    expect(Object.keys(body.error.details).toSorted()).toEqual(Object.keys(wrong).toSorted())
    expect(await labels({ q: 'a'.repeat(40) })).toEqual([])
  })

  it('is the same on the console, and shows no number of another workspace', async () => {
    const [rest, console] = [await byKey('/api/v1/numbers'), await main.console('/api/tracking/numbers')]
    expect(console.body).toEqual(rest.body)
    expect(rest.body.data.map(({ label }: Json) => label)).not.toContain('Theirs')
    const answers = await Promise.all(
      [UNKNOWN_ID, 'nonsense', the.theirs.numberId].map((id) => byKey(`/api/v1/numbers/${id}`)),
    )
    expect(answers[0]?.status).toBe(404)
    expect(new Set(answers.map(errorWithoutRequestId)).size).toBe(1)
  })
})

describe(documentLine('POST /api/tracking/numbers/:id/release'), () => {
  it('removes the number from its campaign, keeps it, and refuses a second request', async () => {
    const { numberId } = the.released
    await main.console(`/api/tracking/numbers/${numberId}`, {
      method: 'PATCH',
      body: { campaignId: the.lane.campaignId, publisherId: the.publisherId },
    })
    const { status, body } = await release(numberId)
    expect([status, Object.keys(body)]).toEqual([200, ['number', 'note']])
    expect(body.number).toMatchObject({ status: 'active', campaign: null, publisher: null, pool: null })
    expect(body.note).toContain('billed')
    const played = await main.placeCall({ to: the.released.e164, mode: 'instant' })
    expect(played.status).toBe(409)
    expect(await labels({ q: 'going' })).toEqual(['Going'])
    expect((await release(numberId)).body.error.code).toBe('conflict')
    const moved = await main.console(`/api/tracking/numbers/${numberId}`, {
      method: 'PATCH',
      body: { campaignId: the.busy.campaignId },
    })
    expect(moved.status).toBe(409)
  })

  it('is allowed on a lapsed subscription, unlike other changes', async () => {
    const { numberId } = the.theirs
    const label = await lapsed(`/api/tracking/numbers/${numberId}`, { method: 'PATCH', body: { label: 'No' } })
    expect([label.status, label.body.error.code]).toEqual([402, 'subscription_inactive'])
    const theirs = createNumberClient(lapsed)
    expect([(await theirs.search()).status, (await theirs.buy()).status]).toEqual([200, 402])
    expect((await release(numberId, lapsed)).status).toBe(200)
    expect((await release(numberId, lapsed)).status).toBe(409)
  })

  it('accepts no body, and finds only numbers of the workspace', async () => {
    const path = `/api/tracking/numbers/${the.moving.numberId}/release`
    expect((await main.console(path, { method: 'POST', body: { now: true } })).status).toBe(400)
    const answers = await Promise.all([UNKNOWN_ID, 'nonsense', the.theirs.numberId].map((id) => release(id)))
    expect(answers[0]?.body.error).toMatchObject({ code: 'not_found', message: 'Number not found.' })
    expect(new Set(answers.map(errorWithoutRequestId)).size).toBe(1)
  })
})

describe('the platform’s staff', () => {
  const complete = (id: string) => staff(`/api/operator/numbers/${id}/complete-release`, { method: 'POST' })
  const set = (id: string, status: string) =>
    staff(`/api/operator/numbers/${id}/status`, { method: 'POST', body: { status } })

  it('completes a requested release, and the number can be bought again', async () => {
    const buyer = createNumberClient(main.console)
    const number = await buyer.buyDelivered({ label: 'Short stay' })
    expect(refused(await complete(number.id))).toEqual([409, 'conflict', { status: 'active' }])
    await release(number.id)
    const { status, body } = await complete(number.id)
    expect([status, body.changed, body.number.status]).toEqual([200, true, 'released'])
    expect([number.renewsAt, body.number.renewsAt]).toEqual([expect.any(String), undefined])
    expect((await complete(number.id)).body.changed).toBe(false)
    expect(await labels({ q: 'short stay' })).toEqual([])
    expect(await labels({ q: 'short stay', status: 'released' })).toEqual(['Short stay'])
    const again = await buyer.find({ startsWith: number.e164 })
    expect(again.e164).toBe(number.e164)
    const back = await buyer.purchase(buyer.purchaseBody(again, { label: 'Back' }))
    expect([back.status, back.body.number?.id === number.id]).toEqual([201, false])
  })

  const listed = (query: string, ask: ApiClient = staff) => ask(`/api/operator/numbers${query}`)

  it('lists the numbers of every workspace whose release was requested, until it is completed', async () => {
    const { numberId, e164 } = await the.main.number({ label: 'Leaving' })
    const theirs = await the.lapsed.number({ label: 'Leaving too' })
    const waiting = async () => {
      const { status, body, text } = await listed('?releaseRequested=true&q=Leaving&sort=e164&dir=asc')
      expect(status, text).toBe(200)
      return body
    }
    expect((await waiting()).total).toBe(0)
    await release(numberId)
    await release(theirs.numberId, lapsed)
    const rows: readonly Json[] = (await waiting()).data
    const workspaceOf = (id: string) => rows.find((row) => row.id === id)?.workspace
    expect(rows).toHaveLength(2)
    expect(workspaceOf(theirs.numberId)).toEqual({ id: the.lapsed.workspaceId, name: 'Lapsed' })
    expect(rows.find(({ id }) => id === numberId)).toMatchObject({
      e164,
      label: 'Leaving',
      status: 'active',
      monthlyCents: expect.any(Number),
      releaseRequestedAt: expect.stringMatching(/Z$/),
      campaignId: null,
      workspace: { id: the.main.workspaceId, name: 'Main' },
    })
    const notAsked = await listed(`?releaseRequested=false&workspaceId=${the.main.workspaceId}&pageSize=200`)
    expect(notAsked.body.data.map(({ id }: Json) => id)).not.toContain(numberId)
    expect(notAsked.body.data.map(({ id }: Json) => id)).toContain(the.spare.numberId)
    await complete(numberId)
    expect((await waiting()).data.map(({ id }: Json) => id)).toEqual([theirs.numberId])
    const done = await listed('?releaseRequested=true&status=released&q=Leaving')
    expect(done.body.data.map(({ id }: Json) => id)).toEqual([numberId])
  })

  it('pages the list, and refuses bad parameters and every other credential', async () => {
    const own = `?workspaceId=${the.main.workspaceId}&sort=e164&dir=asc`
    const all = (await listed(`${own}&pageSize=200`)).body.data.map(({ id }: Json) => id)
    expect(all.length).toBeGreaterThan(2)
    const { body } = await listed(`${own}&page=2&pageSize=1`)
    expect(body).toMatchObject({ page: 2, pageSize: 1, total: all.length, totalPages: all.length })
    expect(body.data.map(({ id }: Json) => id)).toEqual([all[1]])
    for (const [name, value] of Object.entries({
      releaseRequested: 'maybe',
      status: 'lost',
      workspaceId: 'nonsense',
      page: '0',
      pageSize: '1.5',
      q: 'a'.repeat(41),
    })) {
      const answer = await listed(`?${name}=${value}`)
      expect([name, ...refused(answer).slice(0, 2)]).toEqual([name, 400, 'validation_error'])
      expect(Object.keys(answer.body.error.details)).toEqual([name])
    }
    for (const ask of [main.console, byKey, client('operator-token-of-another-platform'), client(null)])
      expect((await listed('', ask)).status).toBe(401)
  })

  it('moves a number along its machine, and calls follow', async () => {
    const { numberId } = the.moving
    await main.console(`/api/tracking/numbers/${numberId}`, {
      method: 'PATCH',
      body: { campaignId: the.busy.campaignId },
    })
    const takes = async () => (await main.placeCall({ to: the.moving.e164, mode: 'instant' })).status
    expect((await set(numberId, 'active')).body.changed).toBe(false)
    expect(refused(await set(numberId, 'suspended'))).toEqual([
      409,
      'conflict',
      { status: 'active', allowed: ['past_due'] },
    ])
    expect((await set(numberId, 'past_due')).body).toMatchObject({ changed: true, number: { status: 'past_due' } })
    expect(await takes()).toBe(201)
    expect((await set(numberId, 'suspended')).body.number.status).toBe('suspended')
    expect(await takes()).toBe(409)
    expect(await labels({ status: 'suspended' })).toEqual(['Machine'])
    expect((await set(numberId, 'active')).body.number.status).toBe('active')
    expect(await takes()).toBe(201)
    for (const status of ['released', 'draft'])
      expect(refused(await set(numberId, status))[2]).toEqual({ status: 'active', allowed: ['past_due'] })
    expect((await set(numberId, 'lost')).status).toBe(400)
  })

  it('finds numbers of every workspace, and only the operator may', async () => {
    expect((await complete(the.theirs.numberId)).status).toBe(200)
    for (const id of [UNKNOWN_ID, 'nonsense']) {
      expect((await complete(id)).body.error.message).toBe('Number not found.')
      expect((await set(id, 'active')).status).toBe(404)
    }
    const path = `/api/operator/numbers/${the.moving.numberId}/complete-release`
    expect((await main.console(path, { method: 'POST' })).status).toBe(401)
  })
})
