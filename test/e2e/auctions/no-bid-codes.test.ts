import { expect } from 'vitest'
import { chargeUsage } from '../../../commands/money/charge-usage.ts'
import type { StreamWriter } from '../../../src/runtime/write/stream-writer.ts'
import { type Json, UNKNOWN_ID } from '../../support/e2e/api-client.ts'
import { createLaneDesk, createPublisherClient } from '../../support/e2e/publisher-client.ts'
import { openPublisherLane, type PublisherLane } from '../../support/e2e/publisher-lane.ts'
import { suite } from '../../support/e2e/suite.ts'
import { answerScript } from '../../support/e2e/tenant-client.ts'
import { cancelSubscription, createTenantWorkspace } from '../../support/e2e/world.ts'

const CALLER = '+13105550123'
const HIDDEN = { callerNumber: null }
const DAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat']

/** Hours that begin three days from now, and are over three days before. */
const elsewhere = () => ({ tz: 'UTC', days: { [DAYS[(new Date().getUTCDay() + 3) % 7] ?? '']: [['00:00', '23:59']] } })

async function world(writer: StreamWriter) {
  const main = await createTenantWorkspace(writer, { name: 'Main' })
  const buyer = await main.buyer({ name: 'Acme' })
  const desk = await main.target(buyer, { name: 'Desk' })
  const away = await main.target(buyer, { name: 'Away' })
  const eastern = await main.target(buyer, { name: 'Eastern', states: ['NY'] })
  const lane = (name: string, settings: Json = {}) => openPublisherLane(main, name, { plan: [desk], ...settings })
  const lanes = {
    plain: await lane('Plain'),
    paused: await lane('Paused'),
    restricted: await lane('Stopped publisher'),
    off: await lane('Off', { terms: { active: false } }),
    known: await lane('Known', { campaign: { anonymousPolicy: 'block' } }),
    knownByLane: await lane('Known by lane', { terms: { dedupeWindowSeconds: 3_600 } }),
    knownByRepeats: await lane('Known by repeats', {
      campaign: { repeatCallerPolicy: 'block', dedupeWindowSeconds: 3_600 },
    }),
    closed: await lane('Closed', { campaign: { hoursSchedule: elsewhere() } }),
    closedLane: await lane('Closed lane', { terms: { hoursSchedule: elsewhere() } }),
    capped: await lane('Capped', { campaign: { dailyCap: 1 } }),
    cappedLane: await lane('Capped lane', { terms: { dailyCap: 1 } }),
    cappedPayout: await lane('Capped payout', { terms: { dailyPayoutCapCents: 300 } }),
    cappedOpen: await lane('Capped and open', { terms: { dailyCap: 1, blockWhenCapped: false } }),
    states: await lane('States', { campaign: { states: ['NY'] } }),
    statesOfLane: await lane('States of lane', { terms: { states: ['NY'] } }),
    unplanned: await lane('Unplanned', { plan: [away] }),
    skipped: await lane('Skipped', { plan: [eastern] }),
    bidding: await lane('Bidding'),
    unnumbered: await lane('Unnumbered'),
    rated: await lane('Rated'),
    ordered: await lane('Ordered', { terms: { dedupeWindowSeconds: 3_600 } }),
  }
  const apart = async (name: string) => {
    const tenant = await createTenantWorkspace(writer, { name })
    const plan = [await tenant.target(await tenant.buyer({ name: 'Acme' }))]
    return { tenant, lane: await openPublisherLane(tenant, name, { plan }) }
  }
  const lapsed = await apart('Lapsed')
  const broke = await apart('Broke')
  await cancelSubscription(lapsed.tenant)
  const usage = { callId: UNKNOWN_ID, amountCents: 100_000, at: new Date().toISOString() }
  await broke.tenant.act(chargeUsage, usage)
  return { main, buyer, desk, away, lanes, lapsed, broke }
}

const { it, describe, main, the, server } = suite('no-bid codes', world)

const desk = createLaneDesk(main)
const by = (lane: () => Pick<PublisherLane, 'routingKey'>) => createPublisherClient(server, () => lane().routingKey)
const pinged = (name: keyof typeof the.lanes, body: Json = { callerNumber: CALLER }) =>
  by(() => the.lanes[name]).noBid(body)
const call = ({ e164 }: PublisherLane, from: string | null = CALLER) =>
  main.playCall({ to: e164, from, script: { [the.desk]: answerScript(5) } })

describe('a ping of a production key is answered no_bid', () => {
  it('with 1014 where the subscription has lapsed, or the wallet is empty', async () => {
    for (const { lane } of [the.lapsed, the.broke])
      expect(await by(() => lane).noBid({ callerNumber: CALLER })).toEqual([1014, 'workspace_inactive'])
  })

  it('with 1001 where the campaign is not live, 1002 where the publisher is not, 1003 where the lane is off', async () => {
    const { paused, restricted } = the.lanes
    await desk.campaignStatus(paused, 'paused')
    await desk.publisherStatus(restricted, 'paused')
    expect(await pinged('paused')).toEqual([1001, 'campaign_not_live'])
    expect(await pinged('restricted')).toEqual([1002, 'publisher_not_live'])
    expect(await pinged('off')).toEqual([1003, 'lane_inactive'])
  })

  it.each(['12', 'call me', '+1310555012345678', '0'.repeat(41)])(
    'with 1100 for the caller %j',
    async (callerNumber) => {
      expect(await pinged('plain', { callerNumber })).toEqual([1100, 'caller_id_invalid'])
    },
  )

  it.each(['known', 'knownByLane', 'knownByRepeats'] as const)(
    'with 1005 for a hidden caller where a rule needs the number: %s',
    async (name) => {
      expect(await pinged(name, HIDDEN)).toEqual([1005, 'caller_id_required'])
      await by(() => the.lanes[name]).won({ callerNumber: CALLER })
    },
  )

  it('with 1004 for a caller who is blocked', async () => {
    const id = await desk.block('+13105550199')
    expect(await pinged('plain', { callerNumber: '(310) 555-0199' })).toEqual([1004, 'caller_blocked'])
    await desk.unblock(id)
    await by(() => the.lanes.plain).won({ callerNumber: '(310) 555-0199' })
  })

  it('with 1006 outside the hours of the campaign and of the lane', async () => {
    expect(await pinged('closed')).toEqual([1006, 'closed'])
    expect(await pinged('closedLane')).toEqual([1006, 'closed'])
  })

  it.each(['capped', 'cappedLane', 'cappedPayout'] as const)('with 1007 once a cap is full: %s', async (name) => {
    const caller = { callerNumber: '+13105550150' }
    await by(() => the.lanes[name]).won(caller)
    await call(the.lanes[name])
    expect(await pinged(name, { callerNumber: '+13105550151' })).toEqual([1007, 'capped'])
    // A full cap goes before the offer that the first caller still has.
    expect(await pinged(name, caller)).toEqual([1007, 'capped'])
  })

  it('and with an offer of 0 where a lane whose cap is full does not block', async () => {
    await call(the.lanes.cappedOpen)
    expect(await by(() => the.lanes.cappedOpen).won({ callerNumber: '+13105550151' })).toMatchObject({ payoutCents: 0 })
  })

  it.each(['states', 'statesOfLane'] as const)(
    'with 1008 for a state that is not taken, or not known: %s',
    async (name) => {
      const client = by(() => the.lanes[name])
      expect(await client.noBid({ callerNumber: CALLER })).toEqual([1008, 'state_not_targeted'])
      expect(await client.noBid(HIDDEN)).toEqual([1008, 'state_not_targeted'])
      await client.won({ callerNumber: CALLER, callerState: 'ny' })
      await client.won({ callerNumber: '+12125550123' })
    },
  )

  it.each(['knownByLane', 'knownByRepeats'] as const)(
    'with 1009 for a caller who was sent before: %s',
    async (name) => {
      await call(the.lanes[name], '+13105550160')
      expect(await pinged(name, { callerNumber: '+13105550160' })).toEqual([1009, 'duplicate'])
      await by(() => the.lanes[name]).won({ callerNumber: '+13105550161' })
    },
  )

  it('with 1010 where no target is active, or all are skipped', async () => {
    await desk.targetStatus(the.away, 'paused')
    expect(await pinged('unplanned')).toEqual([1010, 'no_targets'])
    expect(await pinged('skipped')).toEqual([1010, 'no_targets'])
  })

  it('with 1011 where no bidder bids, and 1012 where the offer is below the floor of the ping', async () => {
    const { bidding } = the.lanes
    const declines = await desk.sandboxBidder({ bidCents: null })
    await desk.removeRoute(bidding, the.desk)
    const id = await desk.bidder(bidding, the.buyer, 'Declines', declines)
    expect(await pinged('bidding')).toEqual([1011, 'no_bids'])
    await desk.changeTarget(id, { rtb: { bidUrl: await desk.sandboxBidder({ bidCents: 900 }) } })
    const caller = { callerNumber: CALLER }
    expect(await pinged('bidding', { ...caller, floorCents: 301 })).toEqual([1012, 'below_floor'])
    expect(await by(() => bidding).won({ ...caller, floorCents: 300 })).toMatchObject({ payoutCents: 300 })
  })

  it('with 1013 where the lane has no number, or others hold all', async () => {
    const client = by(() => the.lanes.unnumbered)
    await client.won(HIDDEN)
    expect(await client.noBid(HIDDEN)).toEqual([1013, 'no_number'])
    await desk.assign(the.lanes.unnumbered.numberId, { campaignId: null })
    expect(await client.noBid({ callerNumber: CALLER })).toEqual([1013, 'no_number'])
  })
})

it('a ping over the rate of its key is answered 429 with Retry-After, whatever else would refuse it', async () => {
  const { rated } = the.lanes
  await desk.campaignStatus(rated, 'paused')
  await desk.changeKey(rated, { ratePerMinute: 1 })
  const client = by(() => rated)
  expect(await client.noBid({ callerNumber: CALLER })).toEqual([1001, 'campaign_not_live'])
  const { status, body, headers } = await client.ping({ callerNumber: CALLER })
  expect([status, body.error.code]).toEqual([429, 'rate_limited'])
  expect(Number(headers.get('retry-after'))).toBeGreaterThanOrEqual(1)
  expect(Number(headers.get('retry-after'))).toBeLessThanOrEqual(60)
})

it('of all the reasons against a ping, the first in the documented order is told', async () => {
  const { ordered } = the.lanes
  const client = by(() => ordered)
  const known = { callerNumber: CALLER, floorCents: 400 }
  const bidder = await desk.bidder(ordered, the.buyer, 'Weak', await desk.sandboxBidder({ bidCents: null }))
  await call(ordered)
  await desk.removeRoute(ordered, the.desk)
  await desk.changeTarget(bidder, { states: ['NY'] })
  await desk.changeCampaign(ordered, { anonymousPolicy: 'block', dailyCap: 1, states: ['NY'] })
  await desk.changeLane(ordered, { hoursSchedule: elsewhere(), active: false })
  await desk.campaignStatus(ordered, 'paused')
  await desk.publisherStatus(ordered, 'paused')
  const block = await desk.block(CALLER)
  await desk.assign(ordered.numberId, { campaignId: null })

  expect(await client.noBid(known)).toEqual([1001, 'campaign_not_live'])
  await desk.campaignStatus(ordered, 'live')
  expect(await client.noBid(known)).toEqual([1002, 'publisher_not_live'])
  await desk.publisherStatus(ordered, 'live')
  expect(await client.noBid({ callerNumber: '12' })).toEqual([1003, 'lane_inactive'])
  await desk.changeLane(ordered, { active: true })
  expect(await client.noBid({ callerNumber: '12' })).toEqual([1100, 'caller_id_invalid'])
  expect(await client.noBid(HIDDEN)).toEqual([1005, 'caller_id_required'])
  expect(await client.noBid(known)).toEqual([1004, 'caller_blocked'])
  await desk.unblock(block)
  expect(await client.noBid(known)).toEqual([1006, 'closed'])
  await desk.changeLane(ordered, { hoursSchedule: null })
  expect(await client.noBid(known)).toEqual([1007, 'capped'])
  await desk.changeCampaign(ordered, { dailyCap: 0 })
  expect(await client.noBid(known)).toEqual([1008, 'state_not_targeted'])
  await desk.changeCampaign(ordered, { states: [] })
  expect(await client.noBid(known)).toEqual([1009, 'duplicate'])
  const fresh = { ...known, callerNumber: '+13105550170' }
  expect(await client.noBid(fresh)).toEqual([1010, 'no_targets'])
  await desk.changeTarget(bidder, { states: [] })
  expect(await client.noBid(fresh)).toEqual([1011, 'no_bids'])
  await desk.changeTarget(bidder, { rtb: { bidUrl: await desk.sandboxBidder({ bidCents: 900 }) } })
  expect(await client.noBid(fresh)).toEqual([1012, 'below_floor'])
  const modest = { ...fresh, floorCents: 300 }
  expect(await client.noBid(modest)).toEqual([1013, 'no_number'])
  await desk.assign(ordered.numberId, { campaignId: ordered.campaignId, publisherId: ordered.publisherId })
  expect(await client.won(modest)).toMatchObject({ payoutCents: 300, cached: false })
})
