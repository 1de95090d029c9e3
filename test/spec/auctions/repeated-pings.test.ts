import { describe, expect, it, test } from 'vitest'
import { ledger } from '../../../src/domain/routing/ledger.ts'
import { AUCTION, heldIn, laneNumber, offerOf, postIn } from '../../support/fixtures/auctions.ts'
import { callWorld, changeSteps, instantAfter, routeArrival } from '../../support/fixtures/call-world.ts'
import { idOf, stateOf } from '../../support/fixtures/spec.ts'

const fixed = changeSteps.lane({ payoutMode: 'fixed', payoutCents: 1_500 })
const plain = callWorld(fixed)
const first = heldIn(plain)
const repeats = { offer: first.offer, terms: first.terms }
const later = instantAfter(30)
const again = { ping: { auctionId: idOf(0xb0), occurredAt: later }, at: later, repeats } as const

describe('a repeated ping of the same caller, lane and terms', () => {
  it('gets the same offer again, until it expires', () => {
    expect(heldIn(plain, again)).toMatchObject({
      outcome: 'cached',
      reason: null,
      offer: { auctionId: AUCTION, payoutCents: 1_500, expiresAt: instantAfter(60) },
      inputs: { repeats: { offer: { auctionId: AUCTION } } },
    })
    const expired = { ...again, ping: { ...again.ping, occurredAt: instantAfter(60) }, at: instantAfter(60) }
    expect(heldIn(plain, expired)).toMatchObject({ outcome: 'won', offer: { auctionId: idOf(0xb0) } })
  })

  it('gets another offer in other terms, or above its floor', () => {
    const dearer = callWorld(changeSteps.lane({ payoutMode: 'fixed', payoutCents: 1_600 }))
    expect(heldIn(dearer, again)).toMatchObject({ outcome: 'won', offer: { payoutCents: 1_600 } })
    expect(heldIn(plain, { ...again, ping: { ...again.ping, floorCents: 1_500 } }).outcome).toBe('cached')
    expect(heldIn(plain, { ...again, ping: { ...again.ping, floorCents: 1_501 } })).toMatchObject({
      outcome: 'no_bid',
      reason: { reason: 'below_floor' },
    })
  })

  it('is judged without the slots that the post of its own offer holds', () => {
    const one = callWorld(fixed, changeSteps.campaign({ concurrencyCap: 1 }))
    const held = heldIn(one)
    const reserved = { ledger: stateOf(ledger, postIn(one, held).events) }
    const own = { ...again, repeats: { offer: held.offer, terms: held.terms }, reads: reserved }
    expect(heldIn(one, own).outcome).toBe('cached')
    const other = { ping: again.ping, at: later, reads: reserved }
    expect(heldIn(one, other)).toMatchObject({ outcome: 'no_bid', reason: { reason: 'capped' } })
  })

  it('gets another offer once a call has claimed the first', () => {
    const routed = routeArrival(plain, { offer: offerOf(first), occurredAt: instantAfter(1) })
    const ended = { ...again, reads: { ledger: stateOf(ledger, routed.events) } }
    expect(heldIn(plain, ended)).toMatchObject({ outcome: 'won', offer: { auctionId: idOf(0xb0) } })
  })
})

describe('the number of an offer', () => {
  const number = laneNumber(plain)
  const hidden = { kind: 'hidden' } as const

  test.each([
    ['is named where the ping takes one step', { ping: { protocol: 'rtb_v1_compat' } }, number],
    ['is left to the post otherwise', {}, null],
    ['is the one that is held for a hidden caller', { ping: { caller: hidden }, heldNumber: number.id }, number],
    ['is any number for a test', { ping: { environment: 'test', caller: hidden } }, number],
  ] as const)('%s', (_title, circumstances, expected) => {
    expect(heldIn(plain, circumstances)).toMatchObject({ outcome: 'won', offer: { number: expected } })
  })

  it('is none where hidden callers hold all of the lane', () => {
    const none = { outcome: 'no_bid', reason: { reason: 'no_number' } }
    expect(heldIn(plain, { heldNumbers: [number.id] })).toMatchObject(none)
    expect(heldIn(plain, { ping: { caller: hidden } })).toMatchObject(none)
  })
})
