import { describe, expect, it, test } from 'vitest'
import { bid, bidDestination, bidSkipReason, isBidFailure } from '../../../src/domain/bidding/bid.ts'
import { bidFrom } from '../../support/fixtures/bids.ts'
import { instantAfter } from '../../support/fixtures/call-world.ts'
import { idOf, NOW } from '../../support/fixtures/spec.ts'

const target = { id: idOf(1), name: 'Acme' }
const OFFER = { accept: true, bid: { amountCents: 1_250 }, destination: '(310) 555-0111', durationSeconds: 90 }

describe('a bid', () => {
  it('has a price, a destination, a threshold and a life', () => {
    const offered = bidFrom(target, OFFER, { rtb: { modifierPct: -10 } })
    expect(bid.parse(offered)).toMatchObject({
      status: 'bid',
      httpStatus: 200,
      askedAt: NOW,
      answeredAt: instantAfter(0.02),
      latencyMs: 20,
      rawBidCents: 1_250,
      bidCents: 1_125,
      destination: { mode: 'pstn', value: '+13105550111' },
      durationThresholdSeconds: 90,
      expiresAt: instantAfter(60.02),
      rejectCode: null,
      rejectReason: null,
      sentence: 'Target Acme bid $11.25.',
    })
  })

  test.each([
    [59, 59],
    [60, 60],
    [61, 60],
    [0, 0],
    [undefined, 60],
  ])('that expires in %s s lives %s s', (expiresInSeconds, seconds) => {
    expect(bidFrom(target, { ...OFFER, expiresInSeconds }, { latencyMs: 0 }).expiresAt).toBe(instantAfter(seconds))
  })

  it('goes to the target’s own destination when it names none that can be dialled', () => {
    const rtb = { destination: { type: 'sip', value: 'sip:desk@a.example' } } as const
    for (const destination of [undefined, 'nowhere', '911']) {
      expect(bidFrom(target, { ...OFFER, destination }, { rtb }).destination).toEqual({
        mode: 'sip',
        value: 'sip:desk@a.example',
      })
    }
    expect(bidFrom(target, { ...OFFER, destination: 'nowhere' }).destination).toBeNull()
  })

  test.each([
    ['no_bid', { ok: true, status: 204, body: '' }, 204, 'Target Acme did not bid.'],
    ['no_bid', { accept: true }, 200, 'Target Acme did not bid.'],
    ['rejected', { accept: false, reason: 'No budget.' }, 200, 'Target Acme declined: No budget.'],
    ['rejected', { accept: false }, 200, 'Target Acme declined.'],
    ['timeout', { ok: false, failure: 'timeout', sentence: 'x' }, null, 'Target Acme did not answer in time.'],
    ['error', { ok: true, status: 503, body: '' }, 503, 'Target Acme answered with status 503.'],
    ['error', { ok: true, status: 302, body: '' }, 302, 'Target Acme answered with status 302.'],
    [
      'error',
      { ok: true, status: 200, body: 'NaN' },
      200,
      "Target Acme gave an answer that cannot be read: The bidder's answer is not JSON.",
    ],
    [
      'error',
      { ok: false, failure: 'too_large', sentence: 'The response is larger than 65536 bytes.' },
      null,
      'Target Acme gave no answer: The response is larger than 65536 bytes.',
    ],
  ])('is none: %s for %j', (status, body, httpStatus, sentence) => {
    const answered = bidFrom(target, body)
    expect(bid.parse(answered)).toMatchObject({ status, httpStatus, bidCents: null, expiresAt: null, sentence })
    expect(isBidFailure(answered)).toBe(status === 'timeout' || status === 'error')
    expect(bidSkipReason(answered.status)).toBe(status === 'rejected' ? 'no_bid' : status)
  })

  it('keeps a reject reason that is a number as a code', () => {
    expect(bidFrom(target, { accept: false, reason: 1_004 })).toMatchObject({ rejectCode: 1_004, rejectReason: '1004' })
    expect(bidFrom(target, { accept: false, reason: 100_000 })).toMatchObject({ rejectCode: null })
  })

  test.each([1e300, Number.MAX_SAFE_INTEGER, 100_000_001])(
    'is at most the largest price, whatever it says: %s',
    (amountCents) => {
      const { bidCents, rawBidCents } = bid.parse(bidFrom(target, { ...OFFER, bid: { amountCents } }))
      expect([bidCents, Number.isSafeInteger(rawBidCents)]).toEqual([100_000_000, true])
    },
  )
})

test.each([
  ['+13105550111', { mode: 'pstn', value: '+13105550111' }],
  ['13105550111', { mode: 'pstn', value: '+13105550111' }],
  ['310-555-0111', { mode: 'pstn', value: '+13105550111' }],
  [' sip:a@b.example ', { mode: 'sip', value: 'sip:a@b.example' }],
  ['tel:+1310', null],
  ['', null],
  [`+1${'9'.repeat(400)}`, null],
])('a bid may send the call to %j', (text, destination) => {
  expect(bidDestination(text)).toEqual(destination)
})
