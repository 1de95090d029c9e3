import { describe, expect, it, test } from 'vitest'
import { holdAuction } from '../../../commands/auctions/hold-auction.ts'
import { setCampaignStatus } from '../../../commands/campaigns/set-campaign-status.ts'
import { blockCaller } from '../../../commands/routing/block-caller.ts'
import { setNumberStatus } from '../../../commands/supply/set-number-status.ts'
import { setPublisherStatus } from '../../../commands/supply/set-publisher-status.ts'
import { auction, auctionRef } from '../../../src/domain/auctions/auction.ts'
import { wallet } from '../../../src/domain/money/wallet.ts'
import { questionOf } from '../../../src/domain/routing/bids.ts'
import { blocklist } from '../../../src/domain/routing/blocklist.ts'
import { ledger } from '../../../src/domain/routing/ledger.ts'
import { isRefusal } from '../../../src/kernel/refusal.ts'
import type { Json } from '../../support/e2e/api-client.ts'
import { type Circumstances, holdIn, pingOf, REQUEST } from '../../support/fixtures/auctions.ts'
import { bidFrom } from '../../support/fixtures/bids.ts'
import {
  anotherTarget,
  bidderSteps,
  CALLER,
  callWorld,
  changed,
  changeSteps,
  instantAfter,
  routeArrival,
} from '../../support/fixtures/call-world.ts'
import { given, idOf, stateOf } from '../../support/fixtures/spec.ts'
import { numberIn } from '../../support/fixtures/workspace-fixture.ts'

type World = ReturnType<typeof callWorld>

const eventOf = (world: World, more?: Circumstances): Json => {
  const { outcome } = holdIn(world, more)
  if (isRefusal(outcome)) throw new Error(`Refused: ${outcome.refused}`)
  return outcome[0]?.data
}
const reasonOf = (world: World, more?: Circumstances) => eventOf(world, more).reason?.reason ?? null
const fixed = changeSteps.lane({ payoutMode: 'fixed', payoutCents: 1_500 })
const plain = callWorld(fixed)

const closedEveryDay = {
  tz: 'UTC',
  days: { mon: [['00:00', '00:30']], tue: [], wed: [], thu: [], fri: [], sat: [], sun: [] },
}
const blockedCaller = {
  blocklist: stateOf(
    blocklist,
    given(blocklist).when(blockCaller, { callerNumber: CALLER, campaignId: null, reason: null }).events,
  ),
}
/** A ledger that has admitted one call of the caller, sent by the publisher. */
const oneCall = (world: World) => ({ ledger: stateOf(ledger, routeArrival(world).events) })

/** Refusals in the documented order (Supplement §7), each by what makes it apply. */
const REFUSALS: readonly (readonly [reason: string, (world: World) => World, (world: World) => Circumstances])[] = [
  ['workspace_inactive', (world) => world, () => ({ reads: { wallet: wallet.initial } })],
  [
    'campaign_not_live',
    (world) => changed(world, [setCampaignStatus, () => ({ campaignId: world.campaignId, status: 'paused' })]),
    () => ({}),
  ],
  [
    'publisher_not_live',
    (world) => changed(world, [setPublisherStatus, () => ({ publisherId: world.publisherId, status: 'paused' })]),
    () => ({}),
  ],
  ['lane_inactive', (world) => changed(world, changeSteps.lane({ active: false })), () => ({})],
  ['caller_id_invalid', (world) => world, () => ({ ping: { caller: { kind: 'invalid' } } })],
  [
    'caller_id_required',
    (world) => changed(world, changeSteps.campaign({ anonymousPolicy: 'block' })),
    () => ({ ping: { caller: { kind: 'hidden' } } }),
  ],
  ['caller_blocked', (world) => world, () => ({ reads: blockedCaller })],
  ['closed', (world) => changed(world, changeSteps.campaign({ hoursSchedule: closedEveryDay })), () => ({})],
  ['capped', (world) => changed(world, changeSteps.campaign({ dailyCap: 1 })), (world) => ({ reads: oneCall(world) })],
  ['state_not_targeted', (world) => changed(world, changeSteps.campaign({ states: ['NY'] })), () => ({})],
  [
    'duplicate',
    (world) => changed(world, changeSteps.lane({ dedupeWindowSeconds: 3_600 })),
    (world) => ({ reads: oneCall(world) }),
  ],
]

describe('a ping that is refused', () => {
  test.each(REFUSALS.map(([reason], n) => [reason, n] as const))('%s comes before all that follow it', (reason, n) => {
    // Those before the n-th do not apply; the caller of a later one would hide it.
    const later = REFUSALS.slice(n)
    const world = later.reduce((before, [, change]) => change(before), plain)
    const [own] = later
    const all = later
      .toReversed()
      .map(([, , circumstances]) => circumstances(plain))
      .reduce((one, other) => ({ ping: { ...one.ping, ...other.ping }, reads: { ...one.reads, ...other.reads } }), {})
    const { ping } = own?.[2](plain) ?? {}
    const { caller: _hidden, ...others } = all.ping ?? {}
    const circumstances = { reads: all.reads ?? {}, ping: { ...others, ...ping } }
    expect(eventOf(world, circumstances)).toMatchObject({
      outcome: reason === 'caller_blocked' ? 'blocked' : 'no_bid',
      reason: { reason },
      offer: null,
      plan: [],
    })
    const without = REFUSALS.slice(n + 1).reduce((before, [, change]) => change(before), plain)
    expect(reasonOf(without, { reads: {}, ping: {} })).not.toBe(reason)
  })

  it('needs a number where the lane or the campaign looks callers up', () => {
    const hidden = { ping: { caller: { kind: 'hidden' } as const, callerState: null } }
    expect(reasonOf(plain, hidden)).toBe('no_number')
    for (const change of [
      changeSteps.lane({ dedupeWindowSeconds: 60 }),
      changeSteps.campaign({ repeatCallerPolicy: 'block', dedupeWindowSeconds: 60 }),
    ])
      expect(reasonOf(changed(plain, change), hidden)).toBe('caller_id_required')
  })

  it('is refused by the hours, states and caps of the lane', () => {
    expect(reasonOf(changed(plain, changeSteps.lane({ hoursSchedule: closedEveryDay })))).toBe('closed')
    expect(reasonOf(changed(plain, changeSteps.lane({ states: ['NY'] })))).toBe('state_not_targeted')
    const capped = changed(plain, changeSteps.lane({ hourlyCap: 1 }))
    expect(reasonOf(capped, { reads: oneCall(plain) })).toBe('capped')
    expect(reasonOf(capped)).toBeNull()
  })

  it('is answered unpaid where the lane lets calls through once it is full', () => {
    const open = changed(plain, changeSteps.lane({ hourlyCap: 1, blockWhenCapped: false }))
    expect(eventOf(open, { reads: oneCall(plain) })).toMatchObject({
      outcome: 'won',
      offer: { clearingPriceCents: 4_000, payoutCents: 0 },
    })
  })

  test.each([
    [1_500, null],
    [1_501, 'below_floor'],
  ])('has a floor of %i cents', (floorCents, reason) => {
    expect(reasonOf(plain, { ping: { floorCents } })).toBe(reason)
  })

  it('has no targets where all are skipped, and no number where none delivers', () => {
    const paused = callWorld(
      fixed,
      changeSteps.targetStatus('paused'),
      ...anotherTarget(1, { states: ['NY'] }, { priority: 200 }),
    )
    expect(eventOf(paused)).toMatchObject({
      reason: { reason: 'no_targets' },
      skipped: [{ reason: 'paused' }, { reason: 'state' }],
    })
    const silent = changed(
      plain,
      [setNumberStatus, (events) => ({ numberId: numberIn(events), status: 'past_due' })],
      [setNumberStatus, (events) => ({ numberId: numberIn(events), status: 'suspended' })],
    )
    expect(reasonOf(silent)).toBe('no_number')
  })
})

describe('an auction', () => {
  const offer = (amountCents: number, more: Json = {}) => ({
    accept: true,
    bid: { amountCents },
    destination: '+13125550188',
    ...more,
  })
  const highest = callWorld(
    fixed,
    changeSteps.campaign({ routingMode: 'highest_bid' }),
    ...bidderSteps(1),
    ...bidderSteps(2),
  )
  const turns = callWorld(fixed, ...bidderSteps(1, { priority: 10 }), ...bidderSteps(2, { priority: 20 }))
  const targetOf = (world: World, n: number) => ({ id: world.targetId(n), name: `Bidder ${n}` })
  const questionIn = (world: World, more?: Circumstances) => {
    const { outcome } = holdIn(world, more)
    return isRefusal(outcome) ? questionOf(outcome) : null
  }

  it('offers what the lane pays for the price of the first target', () => {
    expect(eventOf(plain)).toMatchObject({
      ref: 'AU-0000000007',
      outcome: 'won',
      reason: null,
      offer: {
        target: { name: 'Front desk' },
        bidId: null,
        clearingPriceCents: 4_000,
        payoutCents: 1_500,
        expiresAt: instantAfter(60),
      },
      terms: { payoutMode: 'fixed' },
      plan: [{ targetName: 'Front desk' }],
    })
    const shared = changed(plain, changeSteps.lane({ payoutMode: 'revshare', revsharePct: 50 }))
    expect(eventOf(shared).offer.payoutCents).toBe(2_000)
  })

  it('asks all bidders at once where the highest bid wins, and is decided by the price', () => {
    const question = questionIn(highest, { ping: { tags: { source: 'web' }, sipOk: true } })
    expect(question).toMatchObject({
      targetIds: [highest.targetId(1), highest.targetId(2)],
      budgetMs: 2_750,
      subject: {
        auction: { id: idOf(0xa0), ref: 'AU-0000000007' },
        publisher: { name: 'Blue Leads' },
        caller: { e164: CALLER, state: 'CA' },
        sipOk: true,
        tags: { source: 'web' },
      },
    })
    const bids = [
      bidFrom(targetOf(highest, 1), offer(5_000, { durationSeconds: 20, expiresInSeconds: 10 }), { latencyMs: 200 }),
      bidFrom(targetOf(highest, 2), { accept: false }),
    ]
    expect(eventOf(highest, { bids })).toMatchObject({
      outcome: 'won',
      offer: {
        target: { name: 'Bidder 1' },
        bidId: bids[0]?.bidId,
        clearingPriceCents: 5_000,
        durationThresholdSeconds: 20,
        expiresAt: instantAfter(10.2),
      },
      plan: [{ targetName: 'Bidder 1' }, { targetName: 'Front desk' }, { targetName: 'Bidder 2' }],
      bids,
    })
  })

  it('asks bidders in their turn in the other modes, within the time budget', () => {
    expect(questionIn(turns)?.targetIds).toEqual([turns.targetId(1)])
    const slow = bidFrom(targetOf(turns, 1), { ok: false, failure: 'timeout', sentence: '' }, { latencyMs: 2_000 })
    expect(questionIn(turns, { bids: [slow] })).toMatchObject({ targetIds: [turns.targetId(2)], budgetMs: 750 })
    const spent = bidFrom(targetOf(turns, 1), { ok: false, failure: 'timeout', sentence: '' }, { latencyMs: 2_950 })
    expect(eventOf(turns, { bids: [spent] })).toMatchObject({ outcome: 'no_bid', reason: { reason: 'no_bids' } })
    const bid = bidFrom(targetOf(turns, 2), offer(700), { at: slow.answeredAt })
    expect(eventOf(turns, { bids: [slow, bid] })).toMatchObject({
      offer: { target: { name: 'Bidder 2' }, clearingPriceCents: 700 },
      skipped: [{ targetName: 'Bidder 1', reason: 'timeout' }],
    })
  })

  it('has no bids where bidders alone could have won, and none did', () => {
    const only = callWorld(fixed, changeSteps.route({ active: false }), ...bidderSteps(1))
    expect(eventOf(only, { bids: [bidFrom(targetOf(only, 1), {})] }).reason).toEqual({
      code: 1011,
      reason: 'no_bids',
      sentence: 'No buyer gave a price.',
    })
  })

  it('is held once', () => {
    const first = holdIn(plain)
    const again = given(auction, first.events).when(
      holdAuction,
      { ping: pingOf(plain), ref: auctionRef(8), seq: 8, request: REQUEST },
      { reads: { ...plain.reads, ledger: ledger.initial } },
    )
    expect(again.outcome).toEqual([])
  })
})
