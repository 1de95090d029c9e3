import { expect } from 'vitest'
import { assignNumber } from '../../../commands/supply/assign-number.ts'
import { setLane } from '../../../commands/supply/set-lane.ts'
import { secretHash } from '../../../src/api/secret-hash.ts'
import type { StreamWriter } from '../../../src/runtime/write/stream-writer.ts'
import { type Json, queryString, UNKNOWN_ID } from '../../support/e2e/api-client.ts'
import { waitUntil } from '../../support/e2e/server.ts'
import { suite } from '../../support/e2e/suite.ts'
import { exportsOnRecord } from '../../support/e2e/tenant-client.ts'
import { cancelSubscription, createTenantWorkspace } from '../../support/e2e/world.ts'

const KEY = `rk_${'k'.repeat(40)}`
const CALLER = '+13105550123'
const INBOUND =
  'ref,at,outcome,reasonCode,reason,reasonSentence,campaign,publisher,callerNumber,callerState,elapsedMs,statusCode,' +
  'payoutCents,clearingPriceCents,winningTarget,targetsSolicited,bidsReceived'
const OUTBOUND =
  'bidId,at,origin,auctionRef,campaign,publisher,target,buyer,status,won,bidCents,httpStatus,latencyMs,rejectCode,' +
  'rejectReason,sentence,callId'

async function world(writer: StreamWriter) {
  const main = await createTenantWorkspace(writer, { name: 'Main' })
  const buyerId = await main.buyer({ name: '=Acme' })
  const fixed = await main.target(buyerId, { name: 'Fixed', revenueCents: 100 })
  const publisherId = await main.publisher({ name: 'Blue Leads' })
  const line = await main.line({ name: 'Roofing', routingMode: 'highest_bid', states: ['CA'] }, [fixed])
  const { campaignId, numberId } = line
  const secret = `${KEY}${main.workspaceId}`
  const key = { prefix: secret.slice(0, 12), hash: secretHash(secret) }
  const terms = { payoutMode: 'fixed', payoutCents: 1_500 }
  await main.act(setLane, { campaignId, publisherId, terms, key })
  await main.act(assignNumber, { numberId, campaignId, publisherId })
  const other = await createTenantWorkspace(writer, { name: 'Other' })
  const lapsed = await createTenantWorkspace(writer, { name: 'Lapsed' })
  await cancelSubscription(lapsed)
  const stranger = await main.apiKey({ scopes: ['calls:read'] })
  return { main, other, lapsed, stranger, buyerId, publisherId, line, secret }
}

const { it, describe, beforeAll, main, the, tenant, server, client } = suite('ping ledger', world)
const publisher = client(({ secret }) => secret)

/** Adds a bidder of the sandbox to the plan; returns the target. */
async function bidder(name: string, settings: Json): Promise<string> {
  const made = await main.console('/api/sandbox/bidders', {
    method: 'POST',
    body: { name, latencyMs: 0, destination: '+13125550177', ...settings },
  })
  const rtb = { bidUrl: made.body.url }
  const body = { name, type: 'rtb', buyerId: the.buyerId, rtb }
  const { text, body: created } = await main.console('/api/tracking/targets', { method: 'POST', body })
  expect(created.target, text).toBeDefined()
  const { id } = created.target
  await main.console(`/api/tracking/targets/${id}/status`, { method: 'POST', body: { status: 'active' } })
  await main.console(`/api/tracking/campaigns/${the.line.campaignId}/routes/${id}`, { method: 'PUT', body: {} })
  return id
}

async function ping(body: Json): Promise<Json> {
  const answer = await publisher('/api/rtb/v1/ping', { method: 'POST', body })
  expect(answer.status, answer.text).toBe(200)
  return answer.body
}

const list = async (query: Json = {}) => (await main.rest(`/api/v1/pings${queryString(query)}`)).body
const detail = async (id: string, query: Json = {}) =>
  (await main.rest(`/api/v1/pings/${id}${queryString(query)}`)).body
const voided = (bidId: string, body: Json = {}) =>
  main.console(`/api/tracking/pings/${bidId}/void`, { method: 'POST', body })

/** The bids of an auction in the outbound ledger, the winner first. */
async function bidsOf(auctionId: string): Promise<readonly Json[]> {
  const { data } = await list({ direction: 'outbound', q: auctionId })
  return data.toSorted((one: Json, other: Json) => Number(other.won) - Number(one.won))
}

let won: Json
let refused: Json
let high = ''
let low = ''

beforeAll(async () => {
  high = await bidder('High', { bidCents: 3_000 })
  low = await bidder('Low', { bidCents: 2_000 })
  won = await ping({ callerNumber: CALLER, tags: { source: 'radio' }, publisherRef: 'sub-1' })
  refused = await ping({ callerNumber: '+12125550142', callerState: 'NY' })
  await waitUntil('The pings can be read', async () => (await list()).total >= 2)
  await waitUntil('The bids can be read', async () => (await bidsOf(won.auctionId)).length === 2)
})

describe('GET /api/v1/pings', () => {
  it('lists what publishers sent and were answered, newest first, and the console the same', async () => {
    const query = { from: '2026-01-01', to: new Date().toISOString() }
    const window = { ...query, from: new Date(Date.now() - 3_600_000).toISOString() }
    const page = await list(window)
    const [second, first] = page.data.filter(({ id }: Json) => [won.auctionId, refused.auctionId].includes(id))
    expect(first).toMatchObject({
      id: won.auctionId,
      direction: 'inbound',
      ref: won.ref,
      environment: 'production',
      outcome: 'won',
      reason: null,
      campaign: { id: the.line.campaignId, name: 'Roofing' },
      publisher: { id: the.publisherId, name: 'Blue Leads' },
      callerNumber: '•••0123',
      callerMasked: true,
      callerState: 'CA',
      tmaxMs: 3_000,
      statusCode: 200,
      payoutCents: 1_500,
      clearingPriceCents: 3_000,
      winningTarget: { id: high, name: 'High' },
      targetsConsidered: 3,
      targetsSolicited: 2,
      bidsReceived: 2,
    })
    expect(second).toMatchObject({ outcome: 'no_bid', reason: { code: 1008, reason: 'state_not_targeted' } })
    expect(page).toMatchObject({ page: 1, pageSize: 50, direction: 'inbound', ...window })
    const console = await main.console(`/api/tracking/pings${queryString(window)}`)
    expect(console.body).toEqual(page)
  })

  it('lists the bids under them', async () => {
    expect(await bidsOf(won.auctionId)).toMatchObject([
      {
        direction: 'outbound',
        origin: 'publisher',
        auction: { id: won.auctionId, ref: won.ref },
        target: { id: high, name: 'High' },
        buyer: { id: the.buyerId, name: '=Acme' },
        status: 'won',
        won: true,
        bidCents: 3_000,
        httpStatus: 200,
        callId: null,
      },
      { target: { id: low }, status: 'lost', won: false, bidCents: 2_000 },
    ])
  })

  it.each<readonly [string, Json, string, readonly string[]]>([
    ['a direction outside its list', { direction: 'both' }, 'validation_error', ['direction']],
    ['an outcome outside its list', { outcome: 'lost' }, 'validation_error', ['outcome']],
    ['a status outside its list', { direction: 'outbound', status: 'gone' }, 'validation_error', ['status']],
    ['a reason code out of range', { reasonCode: 100_000 }, 'validation_error', ['reasonCode']],
    ['an id that is none', { targetId: 'x' }, 'validation_error', ['targetId']],
    ['status with inbound', { status: 'won' }, 'bad_request', ['status']],
    ['outcome with outbound', { direction: 'outbound', outcome: 'won' }, 'bad_request', ['outcome']],
    ['from later than to', { from: '2026-02-02', to: '2026-02-01' }, 'bad_request', ['from']],
    ['a non-date', { from: 'yesterday' }, 'bad_request', ['from']],
    ['a window over 92 days', { from: '2026-01-01', to: '2026-04-04' }, 'bad_request', ['from']],
  ])('refuses %s', async (_name, query, code, fields) => {
    const { status, body } = await main.rest(`/api/v1/pings${queryString(query)}`)
    expect([status, body.error.code, Object.keys(body.error.details)]).toEqual([400, code, fields])
  })

  it('needs the scope, and shows a workspace its own pings alone', async () => {
    const paths = ['/api/v1/pings', `/api/v1/pings/${won.auctionId}`]
    for (const path of paths) {
      const answer = await main.rest(path, { headers: { authorization: `Bearer ${the.stranger}` } })
      expect([answer.status, answer.body.error.code], path).toEqual([403, 'insufficient_scope'])
    }
    const other = tenant(({ other }) => other)
    expect((await other.rest('/api/v1/pings')).body.total).toBe(0)
    for (const id of [won.auctionId, won.ref]) expect((await other.rest(`/api/v1/pings/${id}`)).status).toBe(404)
  })
})

describe('GET /api/v1/pings/:id', () => {
  it('reads a ping by its id or its reference in any case, with what was answered', async () => {
    const byId = await detail(won.auctionId)
    expect(byId.ping).toMatchObject({ ref: won.ref, publisherRef: 'sub-1', tags: { source: 'radio' }, sipOk: false })
    expect(byId.ping.requestBody).toContain('•••0123')
    expect(byId.ping.requestBody).not.toContain(CALLER)
    const { expiresInSeconds, ...answered } = JSON.parse(byId.ping.responseBody)
    expect(won).toMatchObject(answered)
    expect(Math.abs(expiresInSeconds - won.expiresInSeconds)).toBeLessThanOrEqual(1)
    for (const ref of [won.ref, won.ref.toLowerCase()]) expect((await detail(ref)).ping).toEqual(byId.ping)
  })

  it('has its trace and its bids, each the workspace’s own', async () => {
    const { trace, bids } = await detail(won.auctionId)
    expect(trace.map(({ step }: Json) => step).slice(0, 6)).toEqual([
      'received',
      'gates',
      'bid',
      'bid',
      'won',
      'answered',
    ])
    expect(bids).toMatchObject([
      { rank: 1, targetKind: 'external_rtb', own: true, target: { id: high }, bidCents: 3_000, payoutCents: 1_500 },
      { rank: 2, own: true, target: { id: low }, status: 'lost' },
      { rank: 3, own: true, id: null, targetKind: 'static', target: { name: 'Fixed' }, bidCents: 100, status: 'lost' },
    ])
  })

  it('reads a bid by its id, without a trace', async () => {
    const [winner] = await bidsOf(won.auctionId)
    expect(await detail(winner.id, { direction: 'outbound' })).toMatchObject({
      ping: { id: winner.id, direction: 'outbound' },
      trace: [],
      bids: [],
      call: null,
    })
  })

  it('answers 404 for a bad id and outbound with a non-bid id, and 400 for a bad direction', async () => {
    const statusOf = async (path: string) => {
      const { status, body } = await main.rest(`/api/v1/pings/${path}`)
      return [status, body.error.code]
    }
    for (const path of ['x', UNKNOWN_ID, 'AU-9999999999', `${won.auctionId}?direction=outbound`, 'x'.repeat(61)])
      expect(await statusOf(path), path).toEqual([404, 'not_found'])
    expect(await statusOf(`${won.auctionId}?direction=both`)).toEqual([400, 'validation_error'])
  })
})

it('an offer that was posted is claimed by its call, in both ledgers', async () => {
  const caller = '+13105550188'
  const sold = await ping({ callerNumber: caller })
  const posted = await publisher('/api/rtb/v1/post', {
    method: 'POST',
    body: { auctionId: sold.auctionId, callerNumber: caller },
  })
  expect(posted.body, posted.text).toMatchObject({ outcome: 'accepted', number: the.line.e164 })
  // An instant call arrives before now: before the ping.
  const placed = await main.placeCall({ to: posted.body.number, from: caller, mode: 'live', speed: 100 })
  expect(placed.status, placed.text).toBe(201)
  const claimed = await waitUntil('The offer is claimed', async () => {
    const read = await detail(sold.auctionId)
    return read.call !== null && read.bids[0]?.status === 'claimed' && read
  })
  expect(claimed.call).toMatchObject({ id: placed.body.callId, ref: placed.body.ref })
  expect(claimed.trace.map(({ step }: Json) => step)).toEqual(expect.arrayContaining(['posted', 'claimed']))
  const [winner] = await bidsOf(sold.auctionId)
  expect(winner).toMatchObject({ status: 'claimed', callId: placed.body.callId })
  const { status, body } = await voided(winner.id)
  expect([status, body.error.code, body.error.details]).toEqual([409, 'conflict', { status: 'claimed' }])
})

describe('POST /api/tracking/pings/:bidId/void', () => {
  it('ends an offer once, with a note in the activity log', async () => {
    const sold = await ping({ callerNumber: '+13105550189' })
    const winner = await waitUntil('The bid can be read', async () => (await bidsOf(sold.auctionId))[0])
    const first = await voided(winner.id, { note: 'Sent twice' })
    expect([first.status, first.body]).toMatchObject([200, { ping: { id: winner.id, status: 'void' }, changed: true }])
    expect((await voided(winner.id)).body).toMatchObject({ ping: { status: 'void' }, changed: false })
    const { body } = await main.console(`/api/tracking/activity?entityId=${winner.id}`)
    expect(body.data).toMatchObject([
      {
        kind: 'ping',
        action: 'voided',
        severity: 'medium',
        entity: { kind: 'ping', id: winner.id, name: 'High' },
        summary: 'Bid of High was voided: Sent twice',
        actor: { type: 'user' },
      },
    ])
  })

  it('refuses a bid that did not win, and finds none of another workspace', async () => {
    const [, loser] = await bidsOf(won.auctionId)
    const { status, body } = await voided(loser.id)
    expect([status, body.error.details]).toEqual([409, { status: 'lost' }])
    for (const id of [UNKNOWN_ID, 'x', won.auctionId]) expect((await voided(id)).status, id).toBe(404)
    const other = tenant(({ other }) => other)
    const foreign = await other.console(`/api/tracking/pings/${loser.id}/void`, { method: 'POST', body: {} })
    expect(foreign.status).toBe(404)
    expect((await voided(loser.id, { note: 7 })).body.error.code).toBe('validation_error')
  })
})

describe('GET /api/tracking/pings/summary', () => {
  it('sums up pings, reasons, bidders and publishers', async () => {
    const { status, body } = await main.console('/api/tracking/pings/summary')
    expect(status).toBe(200)
    const { inbound, noBidReasons, targets, publishers } = body
    expect(inbound.pings).toBe(inbound.won + inbound.noBid)
    expect(inbound.payoutOfferedCents).toBe(1_500 * inbound.won)
    expect(noBidReasons).toEqual([
      { code: 1008, reason: 'state_not_targeted', sentence: expect.any(String), outcome: 'no_bid', count: 1, share: 1 },
    ])
    expect(targets.map(({ target }: Json) => target.name).toSorted()).toEqual(['High', 'Low'])
    expect(targets.find(({ target }: Json) => target.id === high)).toMatchObject({
      buyer: { id: the.buyerId },
      bidRate: 1,
      winRate: 1,
      avgBidCents: 3_000,
    })
    expect(publishers).toMatchObject([{ publisher: { id: the.publisherId, name: 'Blue Leads' }, ghostBids: 0 }])
  })

  it('is for the console alone, and refuses what the list refuses', async () => {
    expect((await main.rest('/api/v1/pings/summary')).status).toBe(404)
    for (const [query, code] of [
      [{ direction: 'both' }, 'validation_error'],
      [{ targetId: 'x' }, 'validation_error'],
      [{ from: 'yesterday' }, 'bad_request'],
    ] as const) {
      const { status, body } = await main.console(`/api/tracking/pings/summary${queryString(query)}`)
      expect([status, body.error.code]).toEqual([400, code])
    }
  })
})

describe('GET /api/tracking/pings/export.csv', () => {
  const exported = (query: Json = {}) => main.console(`/api/tracking/pings/export.csv${queryString(query)}`)

  it.each([
    ['inbound', INBOUND],
    ['outbound', OUTBOUND],
  ])('sends the %s ledger with its columns in order', async (direction, headings) => {
    const q = direction === 'inbound' ? won.auctionId : won.ref
    const { status, headers, text } = await exported({ direction, q })
    expect(status, text).toBe(200)
    expect(headers.get('content-type')).toMatch(/^text\/csv; charset=utf-8/)
    const name = new RegExp(`^attachment; filename="pings-${direction}-\\d{4}-\\d\\d-\\d\\d\\.csv"$`)
    expect(headers.get('content-disposition')).toMatch(name)
    const [first, ...rows] = text.replace('\uFEFF', '').trimEnd().split('\r\n')
    expect(first).toBe(headings)
    expect(rows).toHaveLength(direction === 'inbound' ? 1 : 2)
    expect(text).not.toContain(CALLER)
  })

  it('masks callers as the API does, keeps numbers plain and disarms formulas', async () => {
    const [, row] = (await exported({ q: won.ref })).text.split('\r\n')
    const { at, elapsedMs } = (await detail(won.ref)).ping
    expect(row).toBe(
      `"${won.ref}","${at}","won",,,,"Roofing","Blue Leads","•••0123","CA",${elapsedMs},200,1500,3000,"High",2,2`,
    )
    const { text } = await exported({ direction: 'outbound', q: won.ref })
    expect(text).toContain(`"'=Acme"`)
    expect(text).toContain(',true,3000,200,')
  })

  it('begins with the byte order mark', async () => {
    const response = await fetch(`${server.baseUrl}/api/tracking/pings/export.csv`, {
      headers: { authorization: `Bearer ${the.main.session}` },
    })
    expect([...new Uint8Array(await response.arrayBuffer()).subarray(0, 3)]).toEqual([0xef, 0xbb, 0xbf])
  })

  it('is logged with severity medium before it is sent, with its filters and row count', async () => {
    const answer = await exported({ outcome: 'no_bid' })
    const { newest: entry } = await exportsOnRecord(main)
    expect(entry).toMatchObject({
      kind: 'export',
      severity: 'medium',
      entity: { name: 'the ping ledger' },
      requestId: answer.headers.get('svc-request-id'),
    })
    expect(entry.changes).toEqual(
      expect.arrayContaining([
        { field: 'filters.direction', before: null, after: 'inbound' },
        { field: 'filters.outcome', before: null, after: 'no_bid' },
        { field: 'rows', before: null, after: 1 },
      ]),
    )
  })

  it('refuses a bad query before anything is logged', async () => {
    const before = (await exportsOnRecord(main)).total
    for (const query of [{ status: 'won' }, { direction: 'both' }, { from: 'yesterday' }])
      expect((await exported(query)).status).toBe(400)
    expect((await exportsOnRecord(main)).total).toBe(before)
  })

  it('is sent to a lapsed workspace too, and by no key', async () => {
    const lapsed = tenant(({ lapsed }) => lapsed)
    expect((await lapsed.console('/api/tracking/pings/export.csv')).status).toBe(200)
    expect((await main.rest('/api/v1/pings/export.csv')).status).toBe(404)
  })
})
