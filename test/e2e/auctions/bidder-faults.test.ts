import { createServer, type Socket } from 'node:net'
import { expect, onTestFinished } from 'vitest'
import type { AuctionHeld } from '../../../src/domain/auctions/auction.ts'
import type { StreamWriter } from '../../../src/runtime/write/stream-writer.ts'
import {
  HOSTILE_ANSWERS,
  type HostileAnswer,
  startTestBidder,
  type TestBidder,
} from '../../support/e2e/hostile-bidder.ts'
import { laneSuite } from '../../support/e2e/lane-suite.ts'
import { openPublisherLane } from '../../support/e2e/publisher-lane.ts'
import { waitUntil } from '../../support/e2e/server.ts'
import { createTenantWorkspace } from '../../support/e2e/world.ts'

/** A short budget, for bidders who use it up; the others have the default, since they answer when the machine has time for them. */
const SHORT = { tmaxMs: 400 }
const SECRET = 'bidder-secret-4f9c'

async function world(writer: StreamWriter) {
  const main = await createTenantWorkspace(writer, { name: 'Main' })
  const buyer = await main.buyer({ name: 'Acme' })
  const fixed = await main.target(buyer, { name: 'Fixed', revenueCents: 700 })
  const lane = (name: string, routingMode: string) =>
    openPublisherLane(main, name, { plan: [fixed], campaign: { routingMode } })
  const lanes = {
    one: await lane('One', 'priority'),
    all: await lane('All', 'highest_bid'),
    weary: await lane('Weary', 'priority'),
    secret: await lane('Secret', 'priority'),
  }
  return { main, buyer, fixed, lanes }
}

const { it, beforeAll, afterAll, main, the, desk, by, log } = laneSuite('faults of bidders', world)

type LaneName = keyof typeof the.lanes
let hostile: TestBidder
/** What connects to an address that no bidder may have. */
const intruders: Socket[] = []
const canary = createServer((socket) => {
  intruders.push(socket)
  socket.destroy()
})
let canaryPort = 0
beforeAll(async () => {
  hostile = await startTestBidder(HOSTILE_ANSWERS)
  canaryPort = await new Promise((resolve) => {
    canary.listen(0, '127.0.0.2', () => {
      const address = canary.address()
      resolve(typeof address === 'object' && address ? address.port : 0)
    })
  })
})
afterAll(async () => {
  hostile.close()
  canary.close()
})

/** A bidder on the plan of lane One until the present test ends; returns its target's id. */
async function guest(name: string, url: string): Promise<string> {
  const { one } = the.lanes
  const id = await desk.bidder(one, the.buyer, name, url)
  onTestFinished(async () => {
    await desk.removeRoute(one, id)
  })
  return id
}

let caller = 100
/** Pings for a caller who has not been seen before; returns the auction as it was recorded. */
async function auctionOf(name: LaneName, body = {}): Promise<AuctionHeld> {
  caller += 1
  const answer = await by(name).ping({ callerNumber: `+1310555${String(caller).padStart(4, '0')}`, ...body })
  expect(answer.status, answer.text).toBe(200)
  return log.held(answer.body.auctionId)
}

/** Every fault, what its request comes to, and what is said of it. */
const FAULTS: readonly (readonly [HostileAnswer, string, RegExp])[] = [
  ['hang', 'timeout', /^Target \w+ did not answer in time\.$/],
  ['drip', 'timeout', /^Target \w+ did not answer in time\.$/],
  ['reset', 'error', /^Target \w+ gave no answer: The request failed \(\w+\)\.$/],
  ['cut', 'error', /^Target \w+ gave no answer: The request failed \(\w+\)\.$/],
  ['endless', 'error', /^Target \w+ gave no answer: The response is larger than 65536 bytes\.$/],
  ['large', 'error', /^Target \w+ gave no answer: The response is larger than 65536 bytes\.$/],
  ['bomb', 'error', /^Target \w+ gave an answer that cannot be read: The bidder's answer is not JSON\.$/],
  ['text', 'error', /^Target \w+ gave an answer that cannot be read: The bidder's answer is not JSON\.$/],
  ['deep', 'error', /^Target \w+ gave an answer that cannot be read: The bidder's answer is not JSON\.$/],
  ['nan', 'error', /^Target \w+ gave an answer that cannot be read: The bidder's answer is not JSON\.$/],
  ['nanText', 'no_bid', /^Target \w+ did not bid\.$/],
  ['negative', 'no_bid', /^Target \w+ did not bid\.$/],
  ['infinite', 'no_bid', /^Target \w+ did not bid\.$/],
  ['failing', 'error', /^Target \w+ answered with status 500\.$/],
  ['redirect', 'error', /^Target \w+ answered with status 302\.$/],
]

it.each(FAULTS)(
  'a bidder whose fault is %s is one bid of the kind %s, and the next target wins in time',
  async (fault, status, sentence) => {
    const id = await guest(fault, hostile.url(fault))
    const held = await auctionOf('one', status === 'timeout' ? SHORT : {})
    expect(hostile.asked(fault)).toHaveLength(1)
    expect(held.bids).toMatchObject([{ target: { id, name: fault }, status, bidCents: null, expiresAt: null }])
    expect(held.bids?.[0]?.sentence).toMatch(sentence)
    expect(held).toMatchObject({ outcome: 'won', offer: { target: { name: 'Fixed' } } })
  },
)

it('an enormous bid is the largest price that there is, and its raw figure is a safe one', async () => {
  await guest('enormous', hostile.url('enormous'))
  const held = await auctionOf('one')
  expect(held.bids).toMatchObject([{ status: 'bid', rawBidCents: Number.MAX_SAFE_INTEGER }])
  expect(held.offer?.clearingPriceCents).toBe(held.bids?.[0]?.bidCents)
  expect(held.offer?.clearingPriceCents).toBeLessThanOrEqual(100_000_000)
})

it('all of them at once cost the auction no more than its time, and the sober bidder wins', async () => {
  const { all } = the.lanes
  for (const [fault] of FAULTS) await desk.bidder(all, the.buyer, fault, hostile.url(fault))
  await desk.bidder(all, the.buyer, 'Sober', await desk.sandboxBidder({ bidCents: 900 }))
  for (let n = 0; n < 3; n += 1) {
    const held = await auctionOf('all')
    expect(held.offer).toMatchObject({ target: { name: 'Sober' }, clearingPriceCents: 900 })
    expect(held.bids).toHaveLength(FAULTS.length + 1)
  }
})

it.each([
  ['an address that is not public', () => `http://127.0.0.2:${canaryPort}/`],
  ['another spelling of one', () => `http://127.2:${canaryPort}/`],
  ['a mapped form of one', () => `http://[::ffff:127.0.0.2]:${canaryPort}/`],
  ['the metadata of a cloud', () => 'http://169.254.169.254/latest/meta-data'],
])('a bidder at %s is never connected to', async (what, url) => {
  await guest(`At ${what}`, url())
  const held = await auctionOf('one')
  expect(held.bids).toMatchObject([{ status: 'error', httpStatus: null }])
  expect(held.bids?.[0]?.sentence).toMatch(/gave no answer: The address is not allowed/)
  expect(held.offer?.target.name).toBe('Fixed')
  expect(intruders).toHaveLength(0)
})

it('a bidder is set aside after five failed requests in a row, and is never reported as down', async () => {
  const { weary } = the.lanes
  const id = await desk.bidder(weary, the.buyer, 'Weary', hostile.url('failing'))
  const asked = () => hostile.asked('failing').length
  const before = asked()
  const counted = async (n: number) =>
    waitUntil(`${n} failures are counted`, async () => {
      const events = await log.all('BidsCounted')
      return events.flatMap(({ bids }) => bids).filter(({ target }) => target.id === id).length >= n
    })
  for (let n = 1; n <= 5; n += 1) {
    expect((await auctionOf('weary')).skipped).toMatchObject([{ reason: 'error' }])
    await counted(n)
  }
  expect(asked()).toBe(before + 5)
  const held = await auctionOf('weary')
  expect(held.skipped).toMatchObject([{ targetName: 'Weary', reason: 'suppressed' }])
  expect([held.bids ?? [], asked()]).toEqual([[], before + 5])
  const healthOf = async () => (await main.console(`/api/tracking/targets/${id}`)).body.target.health
  await waitUntil('The target is shown as down', async () => (await healthOf()) === 'down')
  expect(await log.all('TargetWentDown')).toEqual([])
})

it("no event of an auction holds the value of a bidder's header", async () => {
  const echo = await startTestBidder({
    echo: (response, request) =>
      response.end(JSON.stringify({ accept: false, reason: `No ${request.headers['x-key']}` })),
  })
  await desk.bidder(the.lanes.secret, the.buyer, 'Secret', echo.url('echo'), {
    bidHeaders: { 'x-key': `Token ${SECRET}` },
  })
  const { ping, bids } = await auctionOf('secret')
  expect(echo.asked('echo').map(({ headers }) => headers['x-key'])).toEqual([`Token ${SECRET}`])
  const events = await log.eventsOf(ping.auctionId)
  expect(events.length).toBeGreaterThan(0)
  echo.close()
  expect(bids).toMatchObject([{ rejectReason: 'No •••', sentence: 'Target Secret declined: No •••.' }])
  expect(JSON.stringify(events)).not.toContain(SECRET)
})
