import { expect } from 'vitest'
import type { StreamWriter } from '../../../src/runtime/write/stream-writer.ts'
import type { Json } from '../../support/e2e/api-client.ts'
import { laneSuite } from '../../support/e2e/lane-suite.ts'
import { addNumber, openPublisherLane } from '../../support/e2e/publisher-lane.ts'
import { waitUntil } from '../../support/e2e/server.ts'
import { answerScript } from '../../support/e2e/tenant-client.ts'
import { callNow } from '../../support/e2e/won-call.ts'
import { createTenantWorkspace } from '../../support/e2e/world.ts'

const CALLER = '+13105550123'
const OTHER = '+12125550124'

async function world(writer: StreamWriter) {
  const main = await createTenantWorkspace(writer, { name: 'Main' })
  const buyer = await main.buyer({ name: 'Acme' })
  const desk = await main.target(buyer, { name: 'Desk', revenueCents: 2_000 })
  const lane = (name: string, settings: Json = {}) => openPublisherLane(main, name, { plan: [desk], ...settings })
  const lanes = {
    posted: await lane('Posted'),
    windowed: await lane('Windowed'),
    compat: await lane('Compat'),
    hiddenCompat: await lane('Hidden compat'),
    hidden: await lane('Hidden'),
    unposted: await lane('Unposted'),
    once: await lane('Once'),
    brief: await lane('Brief'),
    elsewhere: await lane('Elsewhere'),
    tagged: await lane('Tagged'),
    voided: await lane('Voided'),
  }
  await addNumber(main, lanes.elsewhere)
  return { main, buyer, desk, lanes }
}

const { it, describe, main, the, server, desk, by, log, typesOf } = laneSuite('calls that were won at auction', world)

type LaneName = keyof typeof the.lanes
const call = (to: string, from: string | null = CALLER) =>
  callNow(main, { to, from, script: { [the.desk]: answerScript(1) } })
const attributionOf = async (to: string, from?: string | null) => (await call(to, from)).call.attribution

const untilClaimed = (auctionId: string) =>
  waitUntil('The offer is claimed', async () => (await typesOf(auctionId)).includes('OfferClaimed'))

it('a call of a posted offer is attributed by caller and number, and claims the offer', async () => {
  const { publisherId, e164, campaignId } = the.lanes.posted
  const { auctionId, ref } = await by('posted').won({ callerNumber: CALLER })
  const { number } = await by('posted').accepted(auctionId, CALLER)
  expect(number).toBe(e164)
  expect(await attributionOf(number, OTHER)).toBe('tracking_number')
  const { call: won, story } = await call(number)
  expect(won).toMatchObject({
    attribution: 'rtb_bid',
    campaign: { id: campaignId },
    publisher: { id: publisherId },
    target: { name: 'Desk' },
    revenueCents: 2_000,
    payoutCents: 300,
  })
  const { sentence } = story.steps.find(({ step }: Json) => step === 'incoming')
  expect(sentence).toContain(ref)
  await untilClaimed(auctionId)
  const [released] = (await log.all('ReservationReleased')).filter((event) => event.auctionId === auctionId)
  expect(released.reason).toBe('claimed')
  expect(await typesOf(auctionId)).toEqual(['AuctionHeld', 'OfferPosted', 'OfferClaimed'])
})

it('a call of a won ping that was not posted is attributed by the ping', async () => {
  const { e164 } = the.lanes.windowed
  const { auctionId } = await by('windowed').won({ callerNumber: CALLER })
  expect(await attributionOf(e164, OTHER)).toBe('tracking_number')
  expect(await attributionOf(e164)).toBe('ping_window')
  await untilClaimed(auctionId)
})

describe('a single-step win', () => {
  const win = async (name: LaneName, query: string) => {
    const url = await desk.compat(the.lanes[name])
    const { body } = await by(name).send(`${url.slice(server.baseUrl.length)}${query}`)
    expect(body.rejectCode, JSON.stringify(body)).toBeUndefined()
    return body
  }

  it('is claimed by caller and number', async () => {
    const { phoneNumber, bidId } = await win('compat', `?CID=${CALLER.slice(1)}`)
    expect(await attributionOf(phoneNumber, OTHER)).toBe('tracking_number')
    expect(await attributionOf(phoneNumber)).toBe('rtb_bid')
    await untilClaimed(bidId)
  })

  it.each([
    ['the caller shows the number', OTHER],
    ['the caller hides it', null],
  ])(
    'of a hidden caller is claimed by the held number alone, which is free afterwards, when %s',
    async (_what, from) => {
      const { phoneNumber, bidId } = await win('hiddenCompat', '')
      expect(await attributionOf(phoneNumber, from)).toBe('rtb_bid')
      await untilClaimed(bidId)
      expect(await attributionOf(phoneNumber, from)).toBe('tracking_number')
    },
  )
})

it('the offer of a hidden ping, once posted, is claimed by its caller alone', async () => {
  const { auctionId } = await by('hidden').won({})
  const { number } = await by('hidden').accepted(auctionId, CALLER)
  expect(await attributionOf(number, OTHER)).toBe('tracking_number')
  expect(await attributionOf(number, null)).toBe('tracking_number')
  expect(await attributionOf(number)).toBe('rtb_bid')
})

it('the offer of a hidden ping that was not posted is claimed by no call until it is', async () => {
  const { auctionId } = await by('unposted').won({})
  for (const from of [OTHER, null]) expect(await attributionOf(the.lanes.unposted.e164, from)).toBe('tracking_number')
  // Its post tells the caller.
  await by('unposted').accepted(auctionId, OTHER)
  expect(await attributionOf(the.lanes.unposted.e164, OTHER)).toBe('rtb_bid')
  await untilClaimed(auctionId)
})

it('an offer is claimed once, and its reservation does not expire afterwards', async () => {
  const { auctionId } = await by('once').won({ callerNumber: CALLER })
  const { number } = await by('once').accepted(auctionId, CALLER)
  expect(await attributionOf(number)).toBe('rtb_bid')
  expect(await attributionOf(number)).toBe('tracking_number')
  const claims = (await log.eventsOf(auctionId)).filter(({ type }) => type === 'OfferClaimed')
  expect(claims).toHaveLength(1)
  // The caller's next ping gets an offer of its own, which the post before does not hide.
  expect(await by('once').won({ callerNumber: CALLER })).toMatchObject({ cached: false })
  expect(await attributionOf(number)).toBe('ping_window')
})

it('a posted offer is not claimed on another number of the lane', async () => {
  const { auctionId } = await by('elsewhere').won({ callerNumber: CALLER })
  const { number } = await by('elsewhere').accepted(auctionId, CALLER)
  const { data } = (await main.rest('/api/v1/numbers?pageSize=200')).body
  const { publisherId } = the.lanes.elsewhere
  const others = data.filter((one: Json) => one.publisher?.id === publisherId && one.e164 !== number)
  expect(others).toHaveLength(1)
  expect(await attributionOf(others[0].e164)).toBe('tracking_number')
  expect(await attributionOf(number)).toBe('rtb_bid')
})

it('no offer is claimed after its life, posted or not', async () => {
  const { brief } = the.lanes
  await desk.removeRoute(brief, the.desk)
  const url = await desk.sandboxBidder({ bidCents: 900, expiresInSeconds: 1 })
  await desk.bidder(brief, the.buyer, 'Brief', url)
  const posted = await by('brief').won({ callerNumber: CALLER })
  await by('brief').accepted(posted.auctionId, CALLER)
  const { expiresAt } = await by('brief').won({ callerNumber: OTHER })
  await waitUntil('The offers have expired', async () => Date.now() > Date.parse(expiresAt))
  expect(await attributionOf(brief.e164)).toBe('tracking_number')
  expect(await attributionOf(brief.e164, OTHER)).toBe('tracking_number')
  await waitUntil('The post has expired', async () => (await typesOf(posted.auctionId)).includes('OfferExpired'))
})

it('an offer whose bid was voided is claimed by no call, posted or not, and its post holds no slot', async () => {
  const { voided } = the.lanes
  await desk.bidder(voided, the.buyer, 'Voided', await desk.sandboxBidder({ bidCents: 900 }))
  const posted = await by('voided').won({ callerNumber: CALLER })
  const { number } = await by('voided').accepted(posted.auctionId, CALLER)
  const windowed = await by('voided').won({ callerNumber: OTHER })
  for (const { auctionId } of [posted, windowed]) {
    const bidId = (await log.held(auctionId)).offer?.bidId ?? expect.fail('No bid has won.')
    const { ping, changed } = await desk.voidBid(bidId, { note: 'Sent twice' })
    expect([ping.status, changed]).toEqual(['void', true])
    const { data } = (await main.console(`/api/tracking/activity?entityId=${bidId}`)).body
    expect(data).toMatchObject([{ action: 'voided', summary: 'Bid of Voided was voided: Sent twice' }])
  }
  const released = async () =>
    (await log.all('ReservationReleased')).filter((one) => one.auctionId === posted.auctionId)
  await waitUntil('The reservation has ended', async () => (await released()).length > 0)
  expect(await released()).toMatchObject([{ reason: 'void' }])
  expect(await attributionOf(number)).toBe('tracking_number')
  expect(await attributionOf(number, OTHER)).toBe('tracking_number')
  expect(await typesOf(posted.auctionId)).toEqual(['AuctionHeld', 'OfferPosted', 'BidVoided'])
  expect(await typesOf(windowed.auctionId)).toEqual(['AuctionHeld', 'BidVoided'])
})

it('a won call has the tags, the state and the city of its ping and its post', async () => {
  const ping = { callerNumber: CALLER, callerState: 'TX', callerCity: 'Austin', callerZip: '73301' }
  const { auctionId } = await by('tagged').won({ ...ping, tags: { 'utm.source': 'a', both: 'ping', __proto: 1 } })
  const { body } = await by('tagged').post(auctionId, CALLER, { tags: { both: 'post', more: true } })
  const { call: won } = await call(body.number)
  expect(won).toMatchObject({
    attribution: 'rtb_bid',
    callerState: 'TX',
    callerCity: 'Austin',
    tags: { 'utm.source': 'a', both: 'post', more: 'true', __proto: '1' },
    tagSources: { 'utm.source': 'publisher', both: 'publisher', more: 'publisher', __proto: 'publisher' },
  })
})
