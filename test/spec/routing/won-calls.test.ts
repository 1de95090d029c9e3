import { describe, expect, it } from 'vitest'
import { booksOf } from '../../../src/domain/calls/books.ts'
import { counterOf } from '../../../src/domain/routing/counters.ts'
import { ledgerEvents } from '../../../src/domain/routing/ledger-events.ts'
import type { NewEvent } from '../../../src/kernel/event.ts'
import { AUCTION, heldIn, offerOf, postIn } from '../../support/fixtures/auctions.ts'
import { bidFrom } from '../../support/fixtures/bids.ts'
import {
  anotherTarget,
  bidderSteps,
  type CallWorld,
  callWorld,
  changeSteps,
  instantAfter,
  nthCallId,
  routeArrival,
} from '../../support/fixtures/call-world.ts'

const fixed = changeSteps.lane({ payoutMode: 'fixed', payoutCents: 1_500 })
const plain = callWorld(fixed)
const arrivesAt = instantAfter(10)

function admitted(events: readonly NewEvent[]) {
  const found = events.find(({ type }) => type === 'CallAdmitted')
  return ledgerEvents.CallAdmitted.parse(found?.data)
}

const arrive = (world: CallWorld, sent: object, before: readonly NewEvent[] = []) =>
  routeArrival(world, { occurredAt: arrivesAt, ...sent }, before)

describe('a call that was won at auction', () => {
  it('claims its offer: attribution, terms, promise, tags and the caller as the publisher knows it', () => {
    const held = heldIn(plain, {
      ping: { callerState: 'NV', callerCity: 'Reno', callerZip: '89501', tags: { src: 'web' } },
    })
    const { arrival, terms, offer } = admitted(arrive(plain, { offer: offerOf(held) }).events)
    expect(arrival).toMatchObject({
      attribution: 'rtb_bid',
      callerState: 'NV',
      callerCity: 'Reno',
      auction: { id: AUCTION, ref: 'AU-0000000007', callerZip: '89501' },
      tags: { src: { value: 'web', source: 'publisher' } },
    })
    expect(terms).toMatchObject({ payoutMode: 'fixed', payoutCents: 1_500, promise: { payoutCents: 1_500 } })
    expect(offer).toMatchObject({ auctionId: AUCTION })
  })

  it('is not priced anew by terms that changed since', () => {
    const offer = offerOf(heldIn(plain))
    const cheaper = callWorld(changeSteps.lane({ payoutMode: 'fixed', payoutCents: 100 }))
    expect(admitted(arrive(cheaper, { offer }).events).terms).toMatchObject({
      payoutCents: 1_500,
      promise: { payoutCents: 1_500 },
    })
  })

  it('takes over the slots of its post, in the same append', () => {
    const one = callWorld(
      fixed,
      changeSteps.target({ concurrencyCap: 1, dailyCap: 1 }),
      changeSteps.campaign({ dailyCap: 1 }),
    )
    const held = heldIn(one)
    const posted = postIn(one, held)
    const won = arrive(one, { offer: offerOf(held) }, posted.events)
    won.gives([{ type: 'ReservationReleased', data: { reason: 'claimed' } }, { type: 'CallAdmitted' }])
    expect(counterOf(won.state, 'target', one.targetId())).toMatchObject({ live: 1, total: 1 })
    expect(won.state.reservations.size).toBe(0)
  })

  it('claims an offer once, and none that has expired: it is then a call on its number', () => {
    const offer = offerOf(heldIn(plain))
    const won = arrive(plain, { offer })
    const again = arrive(plain, { offer, callId: nthCallId(2) }, won.events)
    const second = admitted(again.events.slice(won.events.length))
    expect(second.arrival).toMatchObject({ attribution: 'tracking_number' })
    expect(second.inputs.unclaimedOffer?.auctionId).toBe(AUCTION)
    const late = admitted(arrive(plain, { offer, occurredAt: instantAfter(60) }).events)
    expect(late.arrival.attribution).toBe('tracking_number')
    expect(admitted(arrive(plain, { offer, occurredAt: instantAfter(59) }).events).arrival.attribution).toBe('rtb_bid')
  })

  it('dials the winner first at its bid, then the auction’s order; a bidder whose bid has expired is asked anew', () => {
    const world = callWorld(
      fixed,
      changeSteps.campaign({ routingMode: 'highest_bid' }),
      ...bidderSteps(1),
      ...bidderSteps(2),
      ...anotherTarget(3, { revenueCents: 300 }),
    )
    const target = (n: number) => ({ id: world.targetId(n), name: `Bidder ${n}` })
    const offer = (amountCents: number, more: object = {}) => ({
      accept: true,
      bid: { amountCents },
      destination: `+1415555${amountCents}`,
      ...more,
    })
    const bids = [
      bidFrom(target(1), offer(5_000, { expiresInSeconds: 5 })),
      { ...bidFrom(target(2), offer(9_000)), bidId: '01900000-0000-7000-8000-0000000000f2' },
    ]
    const held = heldIn(world, { bids })
    expect(held).toMatchObject({ outcome: 'won', offer: { target: target(2), clearingPriceCents: 9_000 } })
    const { claim, plan } = admitted(arrive(world, { offer: offerOf(held) }).events)
    expect(claim).toMatchObject({ target: target(2), revenueCents: 9_000, destination: '+14155559000' })
    expect(plan.map(({ targetName }) => targetName).slice(0, 2)).toEqual(['Bidder 2', 'Bidder 1'])
    const paused = { ...world, reads: { ...world.reads, workspace: pausedTarget(world, 2) } }
    expect(arrive(paused, { offer: offerOf(held) }).outcome).toMatchObject({
      refused: 'bids-needed',
      details: { question: { targetIds: [world.targetId(1)] } },
    })
  })
})

function pausedTarget({ reads: { workspace } }: CallWorld, n: number) {
  const target = [...workspace.targets.values()].find(({ name }) => name === `Bidder ${n}`)
  if (!target) throw new Error('There is no such bidder.')
  return { ...workspace, targets: workspace.targets.set(target.id, { ...target, status: 'paused' as const }) }
}

describe('the payout of a call that was won at auction', () => {
  const terms = {
    payoutMode: 'revshare',
    payoutCents: null,
    revsharePct: 50,
    minPayoutCents: null,
    maxPayoutCents: null,
    payoutWithheld: null,
    bufferSeconds: 0,
    usageRateCents: 0,
    promise: { payoutCents: 900, durationThresholdSeconds: 30 },
  } as const
  const facts = { terms, dialled: true, posted: null, corrections: {} }
  const sold = { revenueCents: 4_000, durationThresholdSeconds: 60 }

  it.each([
    [29, { converted: false, revenueCents: 0, payoutCents: 0 }],
    [30, { converted: false, revenueCents: 0, payoutCents: 900 }],
    [60, { converted: true, revenueCents: 4_000, payoutCents: 900 }],
  ])('after %i seconds of talk', (talkSeconds, expected) => {
    expect(booksOf({ ...facts, sold, talkSeconds })).toMatchObject(expected)
  })

  it('is nothing where nobody answered, and a share of a conversion that came before the offered time', () => {
    expect(
      booksOf({
        ...facts,
        terms: { ...terms, promise: { payoutCents: 900, durationThresholdSeconds: 0 } },
        sold: null,
        talkSeconds: 0,
      }),
    ).toMatchObject({ payoutCents: 0 })
    const posted = { source: 'postback', revenueCents: 1_000, note: null, externalId: null } as const
    expect(booksOf({ ...facts, sold, posted, talkSeconds: 10 })).toMatchObject({ converted: true, payoutCents: 500 })
  })
})
