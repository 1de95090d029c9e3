import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { expect } from 'vitest'
import type { StreamWriter } from '../../../src/runtime/write/stream-writer.ts'
import type { Json } from '../../support/e2e/api-client.ts'
import { documentCode } from '../../support/e2e/document-2.ts'
import { listenLocally } from '../../support/e2e/listen.ts'
import { suite } from '../../support/e2e/suite.ts'
import { detailsOf, minutesAgo, skipsOf, stepsOf } from '../../support/e2e/tenant-client.ts'
import { createTenantWorkspace } from '../../support/e2e/world.ts'

const CALLER = '+13105550123'
const DESK = '+13125550177'

async function world(writer: StreamWriter) {
  const main = await createTenantWorkspace(writer, { name: 'Main' })
  const buyer = await main.buyer({ name: 'Acme' })
  const fixed = await main.target(buyer, { name: 'Fixed', revenueCents: 2_000 })
  const line = (name: string, settings: Json = {}) =>
    main.line({ name, routingMode: 'highest_bid', ...settings }, [{ targetId: fixed, priority: 100 }])
  const lines = {
    highest: await line('Highest'),
    failover: await line('Failover'),
    turns: await line('Turns', { routingMode: 'priority' }),
    disclosed: await line('Disclosed', { discloseCallerId: true }),
    refused: await line('Refused'),
    weary: await line('Weary'),
  }
  const other = await createTenantWorkspace(writer, { name: 'Other' })
  return { main, other, buyer, fixed, lines }
}

const { it, afterAll, beforeAll, main, the } = suite('bidders of a dialled call', world)

/** A target whose bidder has an address. */
async function bidder(
  line: { readonly campaignId: string },
  name: string,
  bidUrl: string,
  more: Json = {},
): Promise<string> {
  const { rtb, priority = 50, ...settings } = more
  const body = { name, type: 'rtb', buyerId: the.buyer, ...settings, rtb: { bidUrl, ...rtb } }
  const { status, text, body: made } = await main.console('/api/tracking/targets', { method: 'POST', body })
  expect(status, text).toBe(201)
  const { id } = made.target
  const path = `/api/tracking/targets/${id}/status`
  expect((await main.console(path, { method: 'POST', body: { status: 'active' } })).status).toBe(200)
  const route = `/api/tracking/campaigns/${line.campaignId}/routes/${id}`
  expect((await main.console(route, { method: 'PUT', body: { priority } })).status).toBe(201)
  return id
}

/** A target with a bidder of the sandbox. */
async function sandboxBidder(line: { readonly campaignId: string }, name: string, settings: Json, more: Json = {}) {
  const body = { name, latencyMs: 0, bidCents: 3_000, destination: DESK, ...settings }
  const made = await main.console('/api/sandbox/bidders', { method: 'POST', body })
  expect(made.status, made.text).toBe(201)
  return bidder(line, name, made.body.url, more)
}

const play = (line: { readonly e164: string }, more: Json = {}) =>
  main.playCall({ to: line.e164, from: CALLER, ...more })
const pingsOf = (story: Json) =>
  story.pings.map(({ target, status, bidCents }: Json) => [target.name, status, bidCents])

/** What this bidder was asked, and how it answers. */
const asked: { readonly headers: IncomingMessage['headers']; readonly url: string; readonly body: Json }[] = []
let answer: (response: ServerResponse) => void = (response) => response.end('{}')
const server = createServer((request, response) => {
  let text = ''
  request.on('data', (chunk) => {
    text += chunk
  })
  request.on('end', () => {
    asked.push({ headers: request.headers, url: request.url ?? '', body: text === '' ? null : JSON.parse(text) })
    answer(response)
  })
})
let ownUrl = ''
beforeAll(async () => {
  ownUrl = `http://127.0.0.1:${await listenLocally(server)}/ask`
})
afterAll(() => {
  server.closeAllConnections()
  server.close()
})

it('sells a call to the highest of bids and fixed prices, at the bid, and tells every ping in its story', async () => {
  const { highest } = the.lines
  await sandboxBidder(highest, 'Low', { bidCents: 1_000 })
  await sandboxBidder(highest, 'High', { bidCents: 5_000, durationSeconds: 30 }, { rtb: { modifierPct: -10 } })
  await sandboxBidder(highest, 'Silent', { bidCents: null })
  const { call, story } = await play(highest)
  expect(call).toMatchObject({
    target: { name: 'High' },
    outcome: 'converted',
    revenueCents: 4_500,
    frozen: { revenueCents: 4_500, durationThresholdSeconds: 30 },
    routingMode: 'highest_bid',
  })
  expect(pingsOf(story).toSorted()).toEqual([
    ['High', 'claimed', 4_500],
    ['Low', 'lost', 1_000],
    ['Silent', 'rejected', null],
  ])
  expect(story.pings.find(({ won }: Json) => won)).toEqual({
    id: expect.any(String),
    direction: 'outbound',
    at: call.startedAt,
    origin: 'call',
    auction: { id: call.id, ref: call.ref },
    campaign: call.campaign,
    publisher: null,
    target: call.target,
    buyer: call.buyer,
    status: 'claimed',
    won: true,
    bidCents: 4_500,
    rawBidCents: 5_000,
    httpStatus: 200,
    latencyMs: expect.any(Number),
    rejectCode: null,
    rejectReason: null,
    sentence: 'Target High bid $45.00.',
    callId: call.id,
  })
  expect(stepsOf(story).slice(0, 7)).toEqual(['incoming', 'gates', 'plan', 'ping', 'ping', 'ping', 'skipped'])
  expect(detailsOf(story, 'plan')[0].targets.map(({ name }: Json) => name)).toEqual(['High', 'Fixed', 'Low', 'Silent'])
  expect(skipsOf(story)).toEqual([['Silent', 'no_bid']])
})

it('fails over in the order of the prices, and to the number that each bid names', async () => {
  const { failover } = the.lines
  const first = await sandboxBidder(failover, 'First', { bidCents: 5_000 })
  await sandboxBidder(failover, 'Second', { bidCents: 4_000, destination: 'sip:desk@a.example' })
  const { call, story } = await play(failover, { script: { [first]: [{ result: 'busy' }] } })
  expect(call).toMatchObject({ target: { name: 'Second' }, deliveryMode: 'sip', revenueCents: 4_000 })
  expect(story.attempts.map(({ targetName, outcome }: Json) => [targetName, outcome])).toEqual([
    ['First', 'busy'],
    ['Second', 'answered'],
  ])
  expect(pingsOf(story).toSorted()).toEqual([
    ['First', 'claimed', 5_000],
    ['Second', 'claimed', 4_000],
  ])
})

it('asks a bidder in the other modes when its turn comes, and once for a call', async () => {
  const { turns } = the.lines
  asked.length = 0
  answer = (response) => response.end(JSON.stringify({ accept: true, bid: { amountCents: 900 }, destination: DESK }))
  await bidder(turns, 'Behind', ownUrl, { priority: 200 })
  expect((await play(turns)).call.target.name).toBe('Fixed')
  expect(asked).toHaveLength(0)
  const script = { [the.fixed]: [{ result: 'no_answer' }] }
  const { call, story } = await play(turns, { script })
  expect(call).toMatchObject({ target: { name: 'Behind' }, revenueCents: 900 })
  expect(asked).toHaveLength(1)
  expect(pingsOf(story)).toEqual([['Behind', 'claimed', 900]])
})

it('tells a bidder the caller only where the campaign discloses it', async () => {
  const { disclosed, turns } = the.lines
  answer = (response) => response.end(JSON.stringify({ accept: false, reason: 1_004 }))
  await bidder(disclosed, 'Told', `${ownUrl}?c={{caller.e164}}`, { rtb: { bidHeaders: { 'x-key': 'k3' } } })
  asked.length = 0
  const { call, story } = await play(disclosed)
  expect(asked[0]?.headers).toMatchObject({ 'x-key': 'k3', 'user-agent': 'svc-bids/1' })
  expect(asked[0]?.headers).not.toHaveProperty('svc-test')
  const { callerHash, callerNumber } = asked[0]?.body ?? {}
  expect([callerNumber, callerHash]).toEqual([CALLER, expect.stringMatching(/^[0-9a-f]{32}$/)])
  expect(asked[0]?.url).toBe(`/ask?c=${callerHash}`)
  expect(asked[0]?.body).toMatchObject({ auctionId: call.id, campaign: 'Disclosed', state: 'CA', sipOk: false })
  expect(story.pings[0]).toMatchObject({ status: 'rejected', rejectCode: 1_004, rejectReason: '1004' })
  asked.length = 0
  await play(turns, { script: { [the.fixed]: [{ result: 'busy' }] } })
  expect(asked[0]?.body).toMatchObject({ callerHash })
  expect(asked[0]?.body).not.toHaveProperty('callerNumber')
})

it.each([
  ['no_bid', 'no_bid', (response: ServerResponse) => response.writeHead(204).end(), 'did not bid.'],
  [
    'no_bid',
    'rejected',
    (response: ServerResponse) => response.end('{"accept":false,"reason":"Full"}'),
    'declined: Full.',
  ],
  ['error', 'error', (response: ServerResponse) => response.writeHead(503).end(), 'answered with status 503.'],
  ['error', 'error', (response: ServerResponse) => response.end('NaN'), 'cannot be read'],
  ['error', 'error', (response: ServerResponse) => response.destroy(), 'gave no answer'],
  ['timeout', 'timeout', () => undefined, 'did not answer in time.'],
] as const)('skips a bidder with %s when it is %s', async (reason, status, how, sentence) => {
  const { campaignId } = the.lines.refused
  const line = { ...the.lines.refused, campaignId }
  const id = await bidder(line, `Bidder ${status} ${sentence.length}`, ownUrl, { rtb: { timeoutMs: 100 } })
  answer = how
  const { call, story } = await play(line)
  expect(documentCode(`skip: ${reason}`)).toBeTruthy()
  expect(call.target.name).toBe('Fixed')
  expect(story.pings).toMatchObject([{ status, won: false, bidCents: null }])
  const skip = story.steps.find(({ step }: Json) => step === 'skipped')
  expect(skip).toMatchObject({ detail: { reason }, sentence: expect.stringContaining(sentence) })
  const path = `/api/tracking/campaigns/${campaignId}/routes/${id}`
  expect((await main.console(path, { method: 'DELETE' })).status).toBe(200)
})

it('suppresses a bidder after five failed requests in a row, and not after answers without a bid', async () => {
  const { weary } = the.lines
  const id = await bidder(weary, 'Weary', ownUrl)
  const begin = Date.parse(minutesAgo(60))
  let seconds = 0
  const skips = async () => {
    seconds += 1
    return skipsOf((await play(weary, { at: new Date(begin + seconds * 1_000).toISOString() })).story)
  }
  answer = (response) => response.writeHead(500).end()
  for (let n = 0; n < 4; n++) expect(await skips()).toEqual([['Weary', 'error']])
  const healthOf = async () => (await main.console(`/api/tracking/targets/${id}`)).body.target.health
  expect(await healthOf()).toBe('down')
  answer = (response) => response.end('{}')
  expect(await skips()).toEqual([['Weary', 'no_bid']])
  expect(await healthOf()).toBe('healthy')
  answer = (response) => response.writeHead(500).end()
  for (let n = 0; n < 5; n++) expect(await skips()).toEqual([['Weary', 'error']])
  asked.length = 0
  expect(await skips()).toEqual([['Weary', 'suppressed']])
  expect(asked).toHaveLength(0)
})

it('answers as the bidder of the sandbox was told to', async () => {
  const make = (client: typeof main.console, body: Json) => client('/api/sandbox/bidders', { method: 'POST', body })
  const { body } = await make(main.console, {
    name: 'Flaky',
    latencyMs: 0,
    bidCents: 700,
    failEvery: 2,
    expiresInSeconds: 5,
  })
  const ask = (method: string) => fetch(body.url, { method, ...(method === 'POST' && { body: 'anything' }) })
  const offer = {
    accept: true,
    bid: { amountCents: 700 },
    destination: null,
    durationSeconds: null,
    expiresInSeconds: 5,
  }
  expect(await (await ask('POST')).json()).toEqual(offer)
  expect((await ask('GET')).status).toBe(500)
  expect(await (await ask('GET')).json()).toEqual(offer)
  expect((await fetch(body.url.replace(/[^/]+$/, '01900000-0000-7000-8000-000000000000'))).status).toBe(404)
  const wrong = await make(main.console, { name: '', latencyMs: 10_001, bidCents: -1, status: 199 })
  expect([wrong.status, Object.keys(wrong.body.error.details)]).toEqual([
    400,
    ['name', 'latencyMs', 'bidCents', 'status'],
  ])
})
