import { expect } from 'vitest'
import type { StreamWriter } from '../../../src/runtime/write/stream-writer.ts'
import type { Json } from '../../support/e2e/api-client.ts'
import { laneSuite } from '../../support/e2e/lane-suite.ts'
import { createPublisherClient } from '../../support/e2e/publisher-client.ts'
import { addNumber, openPublisherLane } from '../../support/e2e/publisher-lane.ts'
import { waitUntil } from '../../support/e2e/server.ts'
import { answerScript } from '../../support/e2e/tenant-client.ts'
import { createTenantWorkspace } from '../../support/e2e/world.ts'

const CALLER = '+13105550123'
const AUCTION = { auctionId: expect.stringMatching(/^[0-9a-f-]{36}$/), ref: expect.stringMatching(/^AU-\d{10}$/) }

async function world(writer: StreamWriter) {
  const main = await createTenantWorkspace(writer, { name: 'Main' })
  const buyer = await main.buyer({ name: 'Acme' })
  const desk = await main.target(buyer, { name: 'Desk', revenueCents: 2_000, durationThresholdSeconds: 45 })
  const single = await main.target(buyer, { name: 'Single', concurrencyCap: 1, dailyCap: 2, capCountsOn: 'claimed' })
  const lane = (name: string, settings: Json = {}) => openPublisherLane(main, name, { plan: [desk], ...settings })
  const lanes = {
    plain: await lane('Plain'),
    cached: await lane('Cached'),
    shared: await lane('Shared', { terms: { payoutMode: 'revshare', revsharePct: 50 } }),
    brief: await lane('Brief'),
    test: await lane('Test', { plan: [single], terms: { dailyCap: 1 } }),
    used: await lane('Used'),
  }
  await addNumber(main, lanes.cached)
  return { main, buyer, desk, single, lanes }
}

const { it, describe, main, the, server, desk, by, log } = laneSuite('pings of publishers', world)

it('a ping that a buyer takes is answered with the payout, the threshold and the life of the offer', async () => {
  const before = Date.now()
  const { status, body, headers } = await by('plain').ping({ callerNumber: CALLER })
  expect(status).toBe(200)
  expect(body).toEqual({
    ...AUCTION,
    outcome: 'won',
    payoutCents: 300,
    durationThresholdSeconds: 45,
    expiresAt: expect.any(String),
    expiresInSeconds: expect.any(Number),
    cached: false,
  })
  const lifeMs = Date.parse(body.expiresAt) - before
  expect(lifeMs).toBeGreaterThanOrEqual(60_000)
  expect(lifeMs).toBeLessThanOrEqual(60_000 + Date.now() - before)
  expect([59, 60]).toContain(body.expiresInSeconds)
  expect(headers.get('svc-request-id')).toMatch(/^req_[0-9a-f]{32}$/)
})

it('a ping that nobody takes is answered with code, word and sentence, and with nothing about buyers', async () => {
  const { status, body } = await by('plain').ping({ callerNumber: '12' })
  expect(status).toBe(200)
  expect(body).toEqual({
    ...AUCTION,
    outcome: 'no_bid',
    reason: { code: 1100, reason: 'caller_id_invalid', sentence: "The caller's number is not a phone number." },
  })
})

it('the payout of a share of the revenue follows the price of the winner', async () => {
  expect(await by('shared').won({ callerNumber: CALLER })).toMatchObject({ payoutCents: 1_000 })
})

it('references of auctions rise, and none is given twice', async () => {
  const answers = await Promise.all(Array.from({ length: 12 }, () => by('plain').ping({})))
  const refs = answers.map(({ body }) => body.ref)
  expect(new Set(refs).size).toBe(12)
  const [last] = refs.toSorted().toReversed()
  expect((await by('plain').ping({})).body.ref > last).toBe(true)
})

describe('a repeated ping inside the life of an offer', () => {
  const caller = { callerNumber: CALLER }

  it('gets the same offer under an id and a reference of its own', async () => {
    const first = await by('cached').won(caller)
    const again = await by('cached').won({ callerNumber: '310.555.0123', publisherRef: 'second' })
    const { payoutCents, durationThresholdSeconds, expiresAt } = first
    expect(again).toMatchObject({ payoutCents, durationThresholdSeconds, expiresAt, cached: true })
    expect([again.auctionId === first.auctionId, again.ref === first.ref]).toEqual([false, false])
    const held = await log.held(again.auctionId)
    expect(held).toMatchObject({
      outcome: 'cached',
      offer: { auctionId: first.auctionId },
      ping: { publisherRef: 'second' },
    })
  })

  it('is judged anew for another caller, a hidden one, above its floor, and after a change of the terms', async () => {
    const first = await by('cached').won({ callerNumber: '+13105550130' })
    const cached = async (body: Json) => (await by('cached').ping(body)).body.cached
    expect(await cached({ callerNumber: '+13105550131' })).toBe(false)
    expect(await by('cached').noBid({ callerNumber: '+13105550130', floorCents: 301 })).toEqual([1012, 'below_floor'])
    expect(await cached({ callerNumber: '+13105550130', floorCents: 300 })).toBe(true)
    await desk.changeLane(the.lanes.cached, { payoutCents: 250 })
    const anew = await by('cached').won({ callerNumber: '+13105550130' })
    expect(anew).toMatchObject({ payoutCents: 250, cached: false })
    expect(anew.expiresAt > first.expiresAt).toBe(true)
    for (let n = 0; n < 2; n += 1) expect(await cached({ callerNumber: null })).toBe(false)
  })

  it('asks no bidder, and is judged anew once the offer has expired', async () => {
    const { brief } = the.lanes
    await desk.removeRoute(brief, the.desk)
    const url = await desk.sandboxBidder({ bidCents: 900, expiresInSeconds: 1 })
    await desk.bidder(brief, the.buyer, 'Brief', url)
    const first = await by('brief').won(caller)
    const again = await by('brief').won(caller)
    expect(again.cached).toBe(true)
    expect((await log.held(again.auctionId)).bids ?? []).toEqual([])
    expect((await log.held(first.auctionId)).bids).toHaveLength(1)
    await waitUntil('The offer has expired', async () => Date.now() > Date.parse(first.expiresAt))
    expect(await by('brief').won(caller)).toMatchObject({ cached: false })
  })
})

describe('a ping with a key of the test environment', () => {
  it('is answered in full, counts nothing, reserves nothing and is never repeated', async () => {
    const lane = the.lanes.test
    await desk.changeKey(lane, { environment: 'test' })
    for (let n = 0; n < 3; n += 1) {
      const { auctionId, cached, ref } = await by('test').won({ callerNumber: CALLER })
      expect(cached).toBe(false)
      const accepted = await by('test').accepted(auctionId, CALLER)
      expect(accepted).toMatchObject({ auctionId, ref, number: lane.e164, payoutCents: 300 })
    }
    for (let n = 0; n < 2; n += 1) expect(await by('test').won({})).toMatchObject({ cached: false })
    expect(await log.all('OfferReserved')).toEqual([])
    // A call of the caller claims none of them.
    const placed = { to: lane.e164, from: CALLER, mode: 'live', speed: 100, script: { [the.single]: answerScript(1) } }
    const { body } = await main.placeCall(placed)
    const { call } = await main.readCallAfter('ended', body.callId)
    // Nor does any of them count on the lane, which takes one call a day.
    expect(call).toMatchObject({
      attribution: 'tracking_number',
      target: { name: 'Single' },
      frozen: { payoutWithheld: null },
    })
  })
})

it("a ping moves its key's last use and use count, a refused credential does not", async () => {
  const lane = the.lanes.used
  const before = Date.now()
  await by('used').won({ callerNumber: CALLER })
  await by('used').noBid({ callerNumber: '12' })
  expect((await by('used').ping({ tmaxMs: 1 })).status).toBe(400)
  expect((await createPublisherClient(server, () => `${lane.routingKey}x`).ping()).status).toBe(401)
  const key = await waitUntil('The use is recorded', async () => {
    const read = await desk.key(lane)
    return read.useCount >= 3 && read
  })
  expect(key.useCount).toBe(3)
  expect(Date.parse(key.lastUsedAt)).toBeGreaterThanOrEqual(before)
})
