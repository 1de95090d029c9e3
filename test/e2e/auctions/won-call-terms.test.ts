import { expect } from 'vitest'
import type { StreamWriter } from '../../../src/runtime/write/stream-writer.ts'
import type { Json } from '../../support/e2e/api-client.ts'
import { laneSuite } from '../../support/e2e/lane-suite.ts'
import { openPublisherLane } from '../../support/e2e/publisher-lane.ts'
import { waitUntil } from '../../support/e2e/server.ts'
import { answerScript } from '../../support/e2e/tenant-client.ts'
import { callNow } from '../../support/e2e/won-call.ts'
import { createTenantWorkspace } from '../../support/e2e/world.ts'

const CALLER = '+13105550123'
const BUSY = [{ result: 'busy' }]

async function world(writer: StreamWriter) {
  const main = await createTenantWorkspace(writer, { name: 'Main' })
  const buyer = await main.buyer({ name: 'Acme' })
  const target = (name: string, settings: Json) => main.target(buyer, { name, ...settings })
  const fixed = await target('Fixed', { revenueCents: 2_000 })
  const patient = await target('Patient', { revenueCents: 5_000, durationThresholdSeconds: 600 })
  const quick = await target('Quick', { revenueCents: 1_000, durationThresholdSeconds: 1 })
  const lane = (name: string, settings: Json = {}) => openPublisherLane(main, name, { plan: [fixed], ...settings })
  const highest = { campaign: { routingMode: 'highest_bid' } }
  const share = { terms: { payoutMode: 'revshare', revsharePct: 50 } }
  const lanes = {
    promised: await lane('Promised', { plan: [quick, patient] }),
    short: await lane('Short', { plan: [quick] }),
    order: await lane('Order', { ...highest, ...share }),
    anew: await lane('Anew', { ...highest, ...share }),
    frozen: await lane('Frozen', { plan: [await target('Moving', { revenueCents: 2_000 })], ...share }),
    withheld: await lane('Withheld'),
  }
  return { main, buyer, fixed, patient, quick, lanes }
}

const { it, main, the, desk, by, log } = laneSuite('terms of calls that were won at auction', world)

type LaneName = keyof typeof the.lanes

/** A target of a lane's plan with a bidder of the sandbox. */
const bidder = async (name: LaneName, who: string, settings: Json) =>
  desk.bidder(the.lanes[name], the.buyer, who, await desk.sandboxBidder(settings))

/** Wins an offer, posts it, and returns it with the number to call. */
async function bought(name: LaneName): Promise<Json> {
  const won = await by(name).won({ callerNumber: CALLER })
  return { ...won, ...(await by(name).accepted(won.auctionId, CALLER)) }
}
const call = (to: string, script: Json, more: Json = {}) => callNow(main, { to, from: CALLER, script, ...more })
const attemptsOf = ({ attempts }: Json) => attempts.map(({ targetName, outcome }: Json) => [targetName, outcome])

it('the offered payout is earned after the offered threshold although the buyer does not pay', async () => {
  const { number, payoutCents } = await bought('promised')
  const script = { [the.quick]: BUSY, [the.patient]: answerScript(2, { afterSeconds: 1 }) }
  const { call: won, story } = await call(number, script, { speed: 1 })
  expect(attemptsOf(story)).toEqual([
    ['Quick', 'busy'],
    ['Patient', 'answered'],
  ])
  expect(won).toMatchObject({
    attribution: 'rtb_bid',
    target: { name: 'Patient' },
    converted: false,
    revenueCents: 0,
    payoutCents,
    profitCents: -payoutCents,
  })
})

it('the offered payout is not earned below the offered threshold, or without an answer', async () => {
  const short = await bought('short')
  const answered = await call(short.number, { [the.quick]: answerScript(1, { afterSeconds: 1 }) })
  expect(answered.call).toMatchObject({ attribution: 'rtb_bid', talkSeconds: 0, converted: false, payoutCents: 0 })
  const missed = await bought('short')
  const { call: lost } = await call(missed.number, { [the.quick]: BUSY })
  expect(lost).toMatchObject({ attribution: 'rtb_bid', status: 'busy', payoutCents: 0 })
})

it('the winner is dialled first, at its bid, and then the order of the auction, without asking again', async () => {
  const high = await bidder('order', 'High', { bidCents: 5_000 })
  const middle = await bidder('order', 'Middle', { bidCents: 3_000 })
  await bidder('order', 'Silent', { bidCents: null })
  const { auctionId, number, payoutCents } = await bought('order')
  expect(payoutCents).toBe(2_500)
  const held = await log.held(auctionId)
  expect(held.offer).toMatchObject({ target: { name: 'High' }, clearingPriceCents: 5_000 })
  const { call: won, story } = await call(number, { [high]: BUSY, [middle]: answerScript(1) })
  expect(attemptsOf(story)).toEqual([
    ['High', 'busy'],
    ['Middle', 'answered'],
  ])
  expect(won).toMatchObject({ target: { name: 'Middle' }, revenueCents: 3_000, payoutCents: 2_500 })
  // The bids of the auction, with their ids, and no others.
  const ids = (held.bids ?? []).map(({ bidId }) => bidId)
  expect(ids).toHaveLength(3)
  for (const { id } of story.pings) expect(ids).toContain(id)
})

it('a bidder behind the winner whose bid has expired is asked anew in its turn', async () => {
  const high = await bidder('anew', 'High', { bidCents: 5_000, destination: '+13125550181' })
  const brief = await bidder('anew', 'Brief', { bidCents: 3_000, expiresInSeconds: 1, destination: '+13125550182' })
  const { auctionId, number } = await bought('anew')
  const bids = (await log.held(auctionId)).bids ?? []
  const old = bids.find(({ target }) => target.name === 'Brief')
  await waitUntil('The bid has expired', async () => Date.now() > Date.parse(old?.expiresAt ?? ''))
  await desk.changeTarget(brief, { rtb: { bidUrl: await desk.sandboxBidder({ bidCents: 3_500 }) } })
  const { call: won, story } = await call(number, { [high]: BUSY, [brief]: answerScript(1) })
  expect(attemptsOf(story)).toEqual([
    ['High', 'busy'],
    ['Brief', 'answered'],
  ])
  expect(won).toMatchObject({
    attribution: 'rtb_bid',
    target: { name: 'Brief' },
    revenueCents: 3_500,
    payoutCents: 2_500,
  })
})

it('terms, prices and states that change after the ping do not re-price its call', async () => {
  const { frozen } = the.lanes
  const { number, payoutCents } = await bought('frozen')
  expect(payoutCents).toBe(1_000)
  await desk.changeLane(frozen, { payoutMode: 'fixed', payoutCents: 5 })
  const [{ target }] = (await main.console(`/api/tracking/campaigns/${frozen.campaignId}/routes`)).body.routes
  await desk.changeTarget(target.id, { revenueCents: 9_000, durationThresholdSeconds: 60 })
  const { call: won } = await call(number, { [target.id]: answerScript(1) })
  expect(won).toMatchObject({
    attribution: 'rtb_bid',
    revenueCents: 2_000,
    payoutCents: 1_000,
    frozen: { revenueCents: 2_000, durationThresholdSeconds: 0 },
  })
})

it('a lane that is switched off after the ping does not withhold the payout of its call', async () => {
  const { withheld } = the.lanes
  const { number } = await bought('withheld')
  await desk.publisherStatus(withheld, 'paused')
  const { call: won } = await call(number, { [the.fixed]: answerScript(1) })
  expect(won).toMatchObject({ attribution: 'rtb_bid', payoutCents: 300, frozen: { payoutWithheld: null } })
})
