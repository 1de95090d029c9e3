import { describe, expect, it, test } from 'vitest'
import {
  type BidSubject,
  createBidRequests,
  createConfirmRequest,
  createTestRequest,
} from '../../../src/domain/bidding/bid-request.ts'
import { DEFAULT_RTB, type Rtb } from '../../../src/domain/demand/endpoint.ts'
import { PROTO_KEY } from '../../../src/kernel/proto-key.ts'
import { sampleBidder, sampleSubject } from '../../support/fixtures/bids.ts'
import { NOW } from '../../support/fixtures/spec.ts'

const bidUrl = 'https://bids.example/ask?c={{caller.e164}}&s={{caller.state}}'
const bidder = { ...sampleBidder, bidCents: null }
const requestOf = (rtb: Partial<Rtb> = {}, subject: Partial<BidSubject> = {}) =>
  createBidRequests({ ...sampleSubject, ...subject })({ ...DEFAULT_RTB, ...rtb, bidUrl: rtb.bidUrl ?? bidUrl }, bidder)
const bodyOf = (rtb: Partial<Rtb>, subject?: Partial<BidSubject>) => requestOf(rtb, subject).body

describe('a request to a bidder', () => {
  it('tells what the supplement lists, without the number of a caller that the campaign does not disclose', () => {
    const { url, method, headers, body } = requestOf({ bidHeaders: { 'X-Key': 'k {{campaign.name}}' } })
    const hash = 'a'.repeat(32)
    expect([url, method]).toEqual([`https://bids.example/ask?c=${hash}&s=CA`, 'POST'])
    expect(headers).toEqual({
      accept: 'application/json',
      'content-type': 'application/json',
      'user-agent': 'svc-bids/1',
      'x-key': 'k Solar',
    })
    expect(JSON.parse(body ?? '')).toEqual({
      auctionId: sampleSubject.auction.id,
      campaign: 'Solar',
      state: 'CA',
      zip: '90001',
      city: 'Los Angeles',
      callerHash: hash,
      sipOk: true,
      tags: { source: 'web', note: hash },
    })
  })

  it('names a tag called __proto__ as the publisher sent it', () => {
    const tags = { [PROTO_KEY]: 'own' }
    expect(bodyOf({}, { tags })).toContain('"tags":{"__proto__":"own"}')
    expect(bodyOf({ contentType: 'text/plain', bidBodyTemplate: '{{tag.__proto__}}' }, { tags })).toBe('own')
  })

  it('tells the number where the campaign discloses it, and never in the URL', () => {
    const { url, body } = requestOf({}, { isDisclosed: true })
    expect(url).not.toContain('3105550100')
    const { callerNumber, tags } = JSON.parse(body ?? '')
    expect([callerNumber, tags.note]).toEqual(['+13105550100', 'call 310-555-0100'])
  })

  test.each([
    ['caller.e164', '+13105550100'],
    ['caller.digits', '13105550100'],
    ['caller.nanp', '3105550100'],
    ['caller.suffix', '0100'],
    ['tag.note', 'call 310-555-0100'],
  ])('expands {{%s}} to the hash unless the caller is disclosed in a body', (token, real) => {
    const template = `{{${token}}}`
    const hash = 'a'.repeat(32)
    const plain = { contentType: 'text/plain', bidBodyTemplate: template, bidUrl: `https://a.example/?${template}` }
    expect(bodyOf(plain)).toBe(hash)
    expect(bodyOf(plain, { isDisclosed: true })).toBe(real)
    expect(requestOf(plain, { isDisclosed: true }).url).toBe(`https://a.example/?${hash}`)
  })

  test.each([
    ['application/json', '{"r":"{{auction.ref}}","s":"{{tag.source}}"}', '{"r":"AU-0000000007","s":"a\\"b"}'],
    ['application/x-www-form-urlencoded', 's={{tag.source}}&b={{bid.id}}', `s=a%22b&b=${sampleBidder.bidId}`],
    ['text/plain', '{{tag.source}}|{{tag.none}}|{{target.ref}}|{{publisher.ref}}', 'a"b||b-1|sub-1'],
  ])('spells its template for %s', (contentType, bidBodyTemplate, body) => {
    expect(bodyOf({ contentType, bidBodyTemplate }, { tags: { source: 'a"b' } })).toBe(body)
  })

  it('keeps line breaks of a tag out of its headers', () => {
    const { headers } = requestOf({ bidHeaders: { 'x-a': '{{tag.a}}' } }, { tags: { a: '1\r\nx-b: 2\u2028' } })
    expect(headers['x-a']).toBe('1x-b: 2')
  })

  it('tells nothing of a hidden caller', () => {
    const caller = { e164: null, hash: null, state: null, zip: null, city: null }
    const { url, body } = requestOf({}, { caller, tags: {} })
    expect(url).toBe('https://bids.example/ask?c=&s=')
    expect(JSON.parse(body ?? '')).toMatchObject({ callerHash: null, state: null })
  })

  it('has no body with the method GET', () => {
    const { headers, body } = requestOf({ method: 'GET', bidBodyTemplate: 'a' })
    expect(body).toBeNull()
    expect(headers).not.toHaveProperty('content-type')
  })
})

describe('a confirmation', () => {
  const confirm = (bidUnit: Rtb['bidUnit']) => {
    const rtb = { ...DEFAULT_RTB, bidUnit, confirmUrl: 'https://a.example/won?b={{bid.id}}&p={{bid.amount}}' } as const
    return createConfirmRequest(rtb, sampleSubject, { ...bidder, bidCents: 1_250 })
  }

  test.each([
    ['dollars', '12.50'],
    ['cents', '1250'],
  ] as const)('is a GET with the bid in the unit of the bidder: %s', (unit, amount) => {
    expect(confirm(unit)).toMatchObject({
      method: 'GET',
      url: `https://a.example/won?b=${sampleBidder.bidId}&p=${amount}`,
      body: null,
    })
  })
})

describe('a test request', () => {
  it('is marked as a test, and uses a sample caller', () => {
    const rtb = { ...DEFAULT_RTB, bidUrl, bidHeaders: { 'Svc-Test': '0' } }
    const { url, headers, body } = createTestRequest(rtb, sampleBidder, NOW)
    expect(url).toBe(`https://bids.example/ask?c=${'0'.repeat(32)}&s=NY`)
    expect(headers['svc-test']).toBe('1')
    expect(JSON.parse(body ?? '')).toMatchObject({ test: true, callerNumber: '+12125550100' })
  })
})
