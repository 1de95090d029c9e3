import { expect } from 'vitest'
import type { StreamWriter } from '../../../src/runtime/write/stream-writer.ts'
import { type Json, statusAndCode, UNKNOWN_ID } from '../../support/e2e/api-client.ts'
import { laneSuite } from '../../support/e2e/lane-suite.ts'
import { addNumber, openPublisherLane } from '../../support/e2e/publisher-lane.ts'
import { waitUntil } from '../../support/e2e/server.ts'
import { answerScript } from '../../support/e2e/tenant-client.ts'
import { callNow } from '../../support/e2e/won-call.ts'
import { createTenantWorkspace } from '../../support/e2e/world.ts'

const CALLER = '+13105550123'
const OTHER = '+13105550124'

async function world(writer: StreamWriter) {
  const main = await createTenantWorkspace(writer, { name: 'Main' })
  const buyer = await main.buyer({ name: 'Acme' })
  const desk = await main.target(buyer, { name: 'Desk' })
  const target = (name: string, caps: Json) => main.target(buyer, { name, ...caps })
  const lane = async (name: string, settings: Json = {}) => openPublisherLane(main, name, { plan: [desk], ...settings })
  const lanes = {
    plain: await lane('Plain'),
    cached: await lane('Cached'),
    hidden: await lane('Hidden'),
    brief: await lane('Brief'),
    called: await lane('Called'),
    voided: await lane('Voided'),
    daily: await lane('Daily', { campaign: { dailyCap: 1 } }),
    slot: await lane('Slot', { plan: [await target('Slot', { concurrencyCap: 1 })] }),
    lastSlot: await lane('Last slot', { plan: [await target('Last slot', { concurrencyCap: 1 })] }),
    lastOfDay: await lane('Last of day', {
      plan: [await target('Last of day', { dailyCap: 1, capCountsOn: 'claimed' })],
    }),
    lastOfCampaign: await lane('Last of campaign', { campaign: { concurrencyCap: 1 } }),
    lastOfLane: await lane('Last of lane', { terms: { dailyCap: 1 } }),
  }
  await addNumber(main, lanes.hidden)
  return { main, buyer, desk, lanes }
}

const env = { SIP_DOMAIN: 'sip.calls.example' }
const { it, describe, main, the, desk, by, log, typesOf } = laneSuite('posts of offers', world, { env })

const untilPast = (instant: string) => waitUntil(`It is ${instant}`, async () => Date.now() > Date.parse(instant))
const FULL = { outcome: 'no_bid', reason: { code: 1007, reason: 'capped', sentence: 'A cap is full.' } }

it('an accepted post is answered with the number to call, its SIP address, and the life of the offer', async () => {
  const { auctionId, ref, expiresAt, payoutCents } = await by('plain').won({ callerNumber: CALLER })
  const { status, body } = await by('plain').post(auctionId, '(310) 555-0123', { tags: { a: 1 } })
  const { e164 } = the.lanes.plain
  expect(status).toBe(200)
  expect(body).toEqual({
    auctionId,
    ref,
    outcome: 'accepted',
    number: e164,
    sipAddress: `sip:${e164.slice(1)}@sip.calls.example`,
    payoutCents,
    expiresAt,
  })
  expect(await typesOf(auctionId)).toEqual(['AuctionHeld', 'OfferPosted'])
})

it('the same post again is answered the same, and another caller is refused with 409', async () => {
  const { auctionId } = await by('plain').won({ callerNumber: '+13105550140' })
  const first = await by('plain').accepted(auctionId, '+13105550140')
  for (const more of [{}, { tags: { b: 2 } }])
    expect((await by('plain').post(auctionId, '+13105550140', more)).body).toEqual(first)
  expect(statusAndCode(await by('plain').post(auctionId, OTHER))).toEqual([409, 'conflict'])
  const reserved = (await log.all('OfferReserved')).filter((event) => event.auctionId === auctionId)
  expect(reserved).toHaveLength(1)
})

it('a post for another caller than the ping, of an auction without an offer or of none, is refused', async () => {
  const { auctionId } = await by('plain').won({ callerNumber: CALLER })
  expect(statusAndCode(await by('plain').post(auctionId, OTHER))).toEqual([409, 'conflict'])
  const { body } = await by('plain').ping({ callerNumber: '12' })
  expect(statusAndCode(await by('plain').post(body.auctionId, CALLER))).toEqual([409, 'conflict'])
  expect(statusAndCode(await by('plain').post(UNKNOWN_ID, CALLER))).toEqual([404, 'not_found'])
})

it('any ping that got an offer again posts the one offer', async () => {
  const caller = { callerNumber: CALLER }
  const first = await by('cached').won(caller)
  const second = await by('cached').won(caller)
  const third = await by('cached').won(caller)
  expect([second.cached, third.cached]).toEqual([true, true])
  const posted = await by('cached').accepted(second.auctionId, CALLER)
  expect(posted).toMatchObject({ auctionId: second.auctionId, ref: second.ref, number: the.lanes.cached.e164 })
  for (const { auctionId, ref } of [first, third])
    expect((await by('cached').post(auctionId, CALLER)).body).toEqual({ ...posted, auctionId, ref })
  const reserved = (await log.all('OfferReserved')).filter(
    ({ publisherId }) => publisherId === the.lanes.cached.publisherId,
  )
  expect(reserved).toMatchObject([{ auctionId: first.auctionId, postedBy: second.auctionId }])
})

it('a hidden ping is posted with the caller, on the number that was held for it', async () => {
  const [first, second] = [await by('hidden').won({}), await by('hidden').won({})]
  const one = await by('hidden').accepted(first.auctionId, CALLER)
  const two = await by('hidden').accepted(second.auctionId, CALLER)
  expect(new Set([one.number, two.number]).size).toBe(2)
  expect(statusAndCode(await by('hidden').post(first.auctionId, OTHER))).toEqual([409, 'conflict'])
  expect(await by('hidden').noBid({})).toEqual([1013, 'no_number'])
})

it('a post after the offer has expired is refused with 410', async () => {
  const { brief } = the.lanes
  await desk.removeRoute(brief, the.desk)
  const url = await desk.sandboxBidder({ bidCents: 900, expiresInSeconds: 1 })
  await desk.bidder(brief, the.buyer, 'Brief', url)
  const { auctionId, expiresAt, expiresInSeconds } = await by('brief').won({ callerNumber: CALLER })
  expect(expiresInSeconds).toBeLessThanOrEqual(1)
  await untilPast(expiresAt)
  expect(statusAndCode(await by('brief').post(auctionId, CALLER))).toEqual([410, 'bid_expired'])
  expect(await typesOf(auctionId)).toEqual(['AuctionHeld'])
})

it('a post whose cap has filled since the ping gets no offer, and says so again', async () => {
  const { daily } = the.lanes
  const { auctionId, ref } = await by('daily').won({ callerNumber: CALLER })
  // An instant call ends now: in the first minutes of a day it arrived on the day before, which has a cap of its own.
  await callNow(main, { to: daily.e164, from: OTHER })
  for (let n = 0; n < 2; n += 1) {
    const { status, body } = await by('daily').post(auctionId, CALLER)
    expect([status, body]).toEqual([200, { auctionId, ref, ...FULL }])
  }
  expect(await typesOf(auctionId)).toEqual(['AuctionHeld', 'PostRefused', 'PostRefused'])
})

it('the slot of a post is free again once its offer has expired without a call', async () => {
  const { slot } = the.lanes
  const url = await desk.sandboxBidder({ bidCents: 900, expiresInSeconds: 2 })
  const bidder = await desk.bidder(slot, the.buyer, 'Slot bidder', url, {})
  await desk.changeTarget(bidder, { concurrencyCap: 1 })
  const [route] = (await main.console(`/api/tracking/campaigns/${slot.campaignId}/routes`)).body.routes
  expect(route.target.id).toBe(bidder)
  const { auctionId, expiresAt } = await by('slot').won({ callerNumber: CALLER })
  await by('slot').accepted(auctionId, CALLER)
  const clearing = async (callerNumber: string) => {
    const { body } = await by('slot').ping({ callerNumber })
    return (await log.held(body.auctionId)).offer?.target.name
  }
  // While the slot is held, the plan's next target takes the ping.
  expect(await clearing('+13105550160')).toBe('Slot')
  await waitUntil('The reservation has ended', async () => (await typesOf(auctionId)).includes('OfferExpired'))
  expect(Date.now()).toBeGreaterThanOrEqual(Date.parse(expiresAt))
  expect(await clearing('+13105550161')).toBe('Slot bidder')
  expect(statusAndCode(await by('slot').post(auctionId, CALLER))).toEqual([410, 'bid_expired'])
})

it('an accepted post is answered the same after its call has come', async () => {
  const { auctionId } = await by('called').won({ callerNumber: CALLER })
  const first = await by('called').accepted(auctionId, CALLER)
  await callNow(main, { to: first.number, from: CALLER, script: { [the.desk]: answerScript(1) } })
  await waitUntil('The offer is claimed', async () => (await typesOf(auctionId)).includes('OfferClaimed'))
  const again = await by('called').post(auctionId, CALLER)
  expect([again.status, again.body]).toEqual([200, first])
})

it('an accepted post whose bid was voided is refused with 410 when it is repeated', async () => {
  const { voided } = the.lanes
  const bidder = await desk.bidder(voided, the.buyer, 'Voided', await desk.sandboxBidder({ bidCents: 900 }))
  const { auctionId } = await by('voided').won({ callerNumber: CALLER })
  await by('voided').accepted(auctionId, CALLER)
  const { offer } = await log.held(auctionId)
  expect(offer?.target.id).toBe(bidder)
  await desk.voidBid(offer?.bidId ?? '')
  expect(statusAndCode(await by('voided').post(auctionId, CALLER))).toEqual([410, 'bid_expired'])
})

describe('of posts that race for the last place', () => {
  it.each(['lastSlot', 'lastOfDay', 'lastOfCampaign', 'lastOfLane'] as const)(
    'one is accepted and the others get no offer: %s',
    async (name) => {
      const callers = Array.from({ length: 8 }, (_, n) => `+1310555017${n}`)
      const pings = await Promise.all(callers.map((callerNumber) => by(name).won({ callerNumber })))
      const posts = await Promise.all(pings.map(({ auctionId }, n) => by(name).post(auctionId, callers[n])))
      expect(posts.map(({ status }) => status)).toEqual(Array.from({ length: 8 }, () => 200))
      const accepted = posts.filter(({ body }) => body.outcome === 'accepted')
      expect(accepted).toHaveLength(1)
      for (const { body } of posts) if (body.outcome !== 'accepted') expect(body).toMatchObject(FULL)
    },
  )

  it('the same post many times at once is one post, with one answer', async () => {
    const { auctionId } = await by('plain').won({ callerNumber: '+13105550180' })
    const posts = await Promise.all(Array.from({ length: 8 }, () => by('plain').post(auctionId, '+13105550180')))
    expect(new Set(posts.map(({ text }) => text)).size).toBe(1)
    expect(posts[0]?.body.outcome).toBe('accepted')
    expect((await typesOf(auctionId)).filter((type) => type === 'OfferPosted')).toHaveLength(1)
  })

  it('of a hidden offer for two callers, one is accepted and the other refused with 409', async () => {
    const { auctionId } = await by('plain').won({})
    const posts = await Promise.all([CALLER, OTHER].map((caller) => by('plain').post(auctionId, caller)))
    expect(posts.map(({ status }) => status).toSorted()).toEqual([200, 409])
  })
})
