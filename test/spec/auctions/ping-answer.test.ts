import { describe, expect, it, test } from 'vitest'
import {
  compatAnswer,
  compatAnswerShape,
  pingAnswer,
  pingAnswerShape,
} from '../../../src/domain/auctions/ping-answer.ts'
import { heldIn, laneNumber } from '../../support/fixtures/auctions.ts'
import { callWorld, changeSteps, instantAfter } from '../../support/fixtures/call-world.ts'
import { auctionId, bidId, heldAs, offering, pings } from '../../support/fixtures/logged-pings.ts'

const both = [offering(2_500), offering(2_000)] as const
const compat = { protocol: 'rtb_v1_compat' } as const
const inOneStep = heldAs(3, { ago: 0, answers: both, ms: 1_000, ping: { ...compat, sipOk: true } })

describe('the answer to a ping', () => {
  it('is the offer, with the whole seconds that are left of it', () => {
    const expiresAt = instantAfter(-10 + 60.02)
    expect(pingAnswerShape.parse(pingAnswer(pings.live, instantAfter(-5)))).toEqual({
      auctionId: auctionId(11),
      ref: 'AU-0000000011',
      outcome: 'won',
      payoutCents: 1_500,
      durationThresholdSeconds: pings.live.offer?.durationThresholdSeconds,
      expiresAt,
      expiresInSeconds: 55,
      cached: false,
    })
    expect(pingAnswer(pings.live, instantAfter(100))).toMatchObject({ expiresInSeconds: 0 })
  })

  it('is the offer of the earlier ping where it is repeated, under its own id', () => {
    expect(pingAnswer(pings.cached)).toMatchObject({
      auctionId: auctionId(4),
      ref: 'AU-0000000004',
      outcome: 'won',
      payoutCents: 1_500,
      expiresAt: pings.claimed.offer?.expiresAt,
      cached: true,
    })
  })

  it.each([
    ['no_bid', pings.noBids, 1011, 'no_bids'],
    ['blocked', pings.blocked, 1004, 'caller_blocked'],
  ])('is a no-bid with its reason where the outcome is %s', (outcome, held, code, reason) => {
    expect(held.outcome).toBe(outcome)
    expect(pingAnswerShape.parse(pingAnswer(held))).toEqual({
      auctionId: held.ping.auctionId,
      ref: held.ref,
      outcome: 'no_bid',
      reason: { code, reason, sentence: expect.any(String) },
    })
  })
})

describe('the answer to a ping in one step', () => {
  it('names dollars, seconds, and the number in both spellings', () => {
    const { e164 } = laneNumber(callWorld())
    const answer = compatAnswerShape.parse(compatAnswer(inOneStep, { sipDomain: 'sip.example' }))
    expect(answer).toMatchObject({
      bidId: auctionId(3),
      bidAmount: 15,
      expireInSeconds: 59,
      expireEpoch: Math.floor(Date.parse(instantAfter(60.02)) / 1_000),
      phoneNumber: e164,
      phoneNumberNoPlus: e164.slice(1),
      sipAddress: `sip:${e164.slice(1)}@sip.example`,
    })
    expect(bidId(3, 1)).not.toBe(auctionId(3))
  })

  test.each([
    ['the environment has no domain', inOneStep, null],
    ['the publisher takes no SIP', { ...inOneStep, ping: { ...inOneStep.ping, sipOk: false } }, 'sip.example'],
  ])('names no address where %s', (_, held, sipDomain) => {
    expect(compatAnswer(held, { sipDomain })).not.toHaveProperty('sipAddress')
  })

  const codesOf = (held: typeof inOneStep, list: 'bidTerms' | 'warnings') => {
    const answer = compatAnswer(held, { sipDomain: null })
    if (!('warnings' in answer)) throw new Error('It was rejected.')
    return answer[list].map(({ code }) => code)
  }
  const revshare = { ...inOneStep, terms: inOneStep.terms && { ...inOneStep.terms, payoutMode: 'revshare' as const } }

  test.each([
    ['100: the talk time, and 120: the caller must match', inOneStep, [100, 120]],
    ['100 alone for a hidden caller', pings.hidden, [100]],
    ['110: the payout is a share', revshare, [100, 110, 120]],
  ])('has the terms %s', (_, held, codes) => {
    expect(codesOf(held, 'bidTerms')).toEqual(codes)
  })

  test.each([
    ['none', inOneStep, []],
    ['200: no caller id', pings.hidden, [200]],
    ['220: test', { ...inOneStep, ping: { ...inOneStep.ping, environment: 'test' as const } }, [220]],
    ['230: cached', { ...inOneStep, outcome: 'cached' as const }, [230]],
  ])('warns of %s', (_, held, codes) => {
    expect(codesOf(held, 'warnings')).toEqual(codes)
  })

  it('is a rejection by its code, with an amount of 0', () => {
    expect(compatAnswerShape.parse(compatAnswer(pings.noBids, { sipDomain: null }))).toEqual({
      bidId: auctionId(2),
      bidAmount: 0,
      rejectReason: 'No buyer gave a price.',
      rejectCode: 1011,
    })
  })

  it('is a win where the payout is 0', () => {
    const held = heldIn(callWorld(changeSteps.lane({ payoutMode: 'fixed', payoutCents: 0 })), { ping: compat })
    const answer = compatAnswer(held, { sipDomain: null })
    expect(answer).toMatchObject({ bidAmount: 0, phoneNumber: expect.any(String) })
    expect(answer).not.toHaveProperty('rejectCode')
  })
})
