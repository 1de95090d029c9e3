import { expect } from 'vitest'
import type { StreamWriter } from '../../../src/runtime/write/stream-writer.ts'
import type { Json } from '../../support/e2e/api-client.ts'
import { startTestBidder, type TestBidder } from '../../support/e2e/hostile-bidder.ts'
import { laneSuite } from '../../support/e2e/lane-suite.ts'
import { openPublisherLane } from '../../support/e2e/publisher-lane.ts'
import { waitUntil } from '../../support/e2e/server.ts'
import { createTenantWorkspace } from '../../support/e2e/world.ts'

const CALLER = '+13105550123'
const QUERY = '?auction={{auction.id}}&ref={{auction.ref}}&bid={{bid.id}}&amount={{bid.amount}}&caller={{caller.e164}}'

async function world(writer: StreamWriter) {
  const main = await createTenantWorkspace(writer, { name: 'Main' })
  const buyer = await main.buyer({ name: 'Acme' })
  const fixed = await main.target(buyer, { name: 'Fixed', revenueCents: 700 })
  const lane = (name: string) =>
    openPublisherLane(main, name, {
      plan: [fixed],
      campaign: { routingMode: 'highest_bid', discloseCallerId: true },
    })
  const lanes = {
    told: await lane('Told'),
    flaky: await lane('Flaky'),
    deaf: await lane('Deaf'),
    slow: await lane('Slow'),
    guarded: await lane('Guarded'),
    lost: await lane('Lost'),
    test: await lane('Test'),
  }
  return { main, buyer, lanes }
}

const { it, beforeAll, afterAll, the, desk, by, log } = laneSuite('confirmations of wins', world)

type LaneName = keyof typeof the.lanes
let bidder: TestBidder
let failures = 0
beforeAll(async () => {
  failures = 2
  bidder = await startTestBidder({
    bid: (response) => response.end('{"accept":true,"bid":{"amountCents":1250},"destination":"+13125550188"}'),
    told: (response) => response.end(),
    flaky: (response) => {
      failures -= 1
      response.writeHead(failures < 0 ? 204 : 503).end()
    },
    deaf: (response) => response.writeHead(404).end(),
    slow: () => undefined,
    lost: (response) => response.end(),
    test: (response) => response.end(),
  })
})
afterAll(async () => {
  bidder.close()
})

/** A bidder on the plan of a lane that wants to be told of its wins. */
const wants = (name: LaneName, confirmUrl: string, more: Json = {}) =>
  desk.bidder(the.lanes[name], the.buyer, 'Bidder', bidder.url('bid'), {
    bidUnit: 'cents',
    confirmUrl,
    timeoutMs: 200,
    ...more,
  })

/** The confirmation of an auction's win, once it is recorded. */
const confirmed = (auctionId: string): Promise<Json> =>
  waitUntil('The confirmation is recorded', async () => {
    const found = (await log.eventsOf(auctionId)).find(({ type }) => type === 'WinConfirmed')
    return found?.data
  })

it('the bidder that wins is told once, with the auction, its bid and a hash for the caller', async () => {
  const id = await wants('told', `${bidder.url('told')}${QUERY}`)
  const { auctionId, ref } = await by('told').won({ callerNumber: CALLER })
  const told = await confirmed(auctionId)
  const [bid] = (await log.held(auctionId)).bids ?? []
  expect(told).toMatchObject({ auctionId, bidId: bid?.bidId, target: { id, name: 'Bidder' } })
  expect(told.tries).toEqual([
    { at: expect.any(String), status: 200, ms: expect.any(Number), sentence: 'The bidder answered with status 200.' },
  ])
  const [request, ...more] = bidder.asked('told')
  expect([request?.method, more]).toEqual(['GET', []])
  const sent = new URL(request?.url ?? '', bidder.url('told')).searchParams
  expect(Object.fromEntries(sent)).toEqual({
    auction: auctionId,
    ref,
    bid: bid?.bidId,
    amount: '1250',
    caller: expect.stringMatching(/^[0-9a-f]{32}$/),
  })
})

it('a confirmation that fails is tried again, and not after it was taken', async () => {
  await wants('flaky', bidder.url('flaky'))
  const { auctionId } = await by('flaky').won({ callerNumber: CALLER })
  const { tries } = await confirmed(auctionId)
  expect(tries.map(({ status }: Json) => status)).toEqual([503, 503, 204])
  expect(bidder.asked('flaky')).toHaveLength(3)
})

it('a confirmation is given up after three tries', async () => {
  await wants('deaf', bidder.url('deaf'))
  const { auctionId } = await by('deaf').won({ callerNumber: CALLER })
  const { tries } = await confirmed(auctionId)
  expect(tries.map(({ sentence }: Json) => sentence)).toEqual(Array(3).fill('The bidder answered with status 404.'))
  expect(bidder.asked('deaf')).toHaveLength(3)
})

it('a bidder that hangs when it is told holds up neither the answer nor the post', async () => {
  await wants('slow', bidder.url('slow'))
  const { auctionId } = await by('slow').won({ callerNumber: CALLER })
  await by('slow').accepted(auctionId, CALLER)
  const types = (await log.eventsOf(auctionId)).map(({ type }) => type)
  expect(types).toEqual(['AuctionHeld', 'OfferPosted'])
  const { tries } = await confirmed(auctionId)
  expect(tries).toHaveLength(3)
  for (const one of tries) expect(one).toMatchObject({ status: null, sentence: 'The request timed out.' })
})

it('a confirmation goes through the guard for addresses', async () => {
  await wants('guarded', 'http://169.254.169.254/latest/meta-data')
  const { auctionId } = await by('guarded').won({ callerNumber: CALLER })
  const { tries } = await confirmed(auctionId)
  for (const one of tries)
    expect(one).toMatchObject({ status: null, sentence: expect.stringMatching(/^The address is not allowed/) })
})

it('no bidder is told of the win of a test key', async () => {
  await desk.changeKey(the.lanes.test, { environment: 'test' })
  await wants('test', bidder.url('test'))
  const { auctionId } = await by('test').won({ callerNumber: CALLER })
  const held = await log.held(auctionId)
  expect([held.offer?.target.name, held.confirms]).toEqual(['Bidder', false])
})

it('a bidder that loses is not told, nor again when its offer is repeated', async () => {
  await wants('lost', bidder.url('lost'), { priority: 2 })
  const winner = await desk.sandboxBidder({ bidCents: 5_000 })
  await desk.bidder(the.lanes.lost, the.buyer, 'Winner', winner, { confirmUrl: bidder.url('test') })
  const first = await by('lost').won({ callerNumber: CALLER })
  await confirmed(first.auctionId)
  const again = await by('lost').won({ callerNumber: CALLER })
  expect(again.cached).toBe(true)
  // What is told later is told after this.
  const last = await by('lost').won({ callerNumber: '+13105550124' })
  await confirmed(last.auctionId)
  expect([bidder.asked('lost').length, bidder.asked('test').length]).toEqual([0, 2])
  expect((await log.eventsOf(again.auctionId)).map(({ type }) => type)).toEqual(['AuctionHeld'])
})
