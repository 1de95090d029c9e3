import { describe, expect, it, test } from 'vitest'
import { NO_BIDS, noBidOf } from '../../../src/domain/auctions/no-bid.ts'
import { pingBody, pingFrom, readCaller, readTags } from '../../../src/domain/auctions/ping.ts'
import type { Json } from '../../support/e2e/api-client.ts'

const known = { kind: 'known', e164: '+13105550100' }

test.each([
  ['+13105550100', known],
  ['13105550100', known],
  ['3105550100', known],
  ['(310) 555-0100', known],
  ['tel:+1-310-555-0100', known],
  ['+442071838750', { kind: 'known', e164: '+442071838750' }],
  [null, { kind: 'hidden' }],
  ['', { kind: 'hidden' }],
  [' Anonymous ', { kind: 'hidden' }],
  ['Restricted', { kind: 'hidden' }],
  ['911', { kind: 'invalid' }],
  ['+0310', { kind: 'invalid' }],
  ['not a number', { kind: 'invalid' }],
  ['9'.repeat(41), { kind: 'invalid' }],
])('the caller %j of a ping is read', (text, caller) => {
  expect(readCaller(text)).toEqual(caller)
})

describe('the tags of a ping', () => {
  it('are texts, numbers and flags under valid keys; the rest is dropped', () => {
    expect(readTags({ a: 'x', 'b.c': 2, d: true, e: null, f: ['y'], g: { h: 1 }, 'no good': 'z', '': 'z' })).toEqual({
      a: 'x',
      'b.c': '2',
      d: 'true',
    })
  })

  it('are at most 40, the first that fit, each of at most 512 characters', () => {
    const sent = Object.fromEntries(Array.from({ length: 42 }, (_, n) => [`k${n}`, n === 0 ? null : '😀'.repeat(513)]))
    const tags = readTags(sent)
    expect(Object.keys(tags)).toEqual(Array.from({ length: 40 }, (_, n) => `k${n + 1}`))
    expect([...(tags.k1 ?? '')]).toHaveLength(512)
  })

  test.each([
    ['k'.repeat(64), 1],
    ['k'.repeat(65), 0],
  ])('have keys of at most 64 characters', (key, count) => {
    expect(Object.keys(readTags({ [key]: 'v' }))).toHaveLength(count)
  })
})

describe('the body of a ping', () => {
  const read = (body: Json) => pingFrom(pingBody.parse(body))

  it('may be empty', () => {
    expect(read({})).toEqual({
      caller: { kind: 'hidden' },
      callerState: null,
      callerZip: null,
      callerCity: null,
      publisherRef: null,
      externalCallId: null,
      sipOk: false,
      floorCents: null,
      tmaxMs: 3_000,
      tags: {},
    })
  })

  it('says more of the caller than the number does', () => {
    const body = {
      callerNumber: '+13105550100',
      callerState: 'ny',
      callerZip: '10001',
      callerCity: 'Albany',
      unknown: 1,
    }
    expect(read(body)).toMatchObject({ caller: known, callerState: 'NY', callerZip: '10001', callerCity: 'Albany' })
    expect(read({ callerNumber: '+13105550100' }).callerState).toBe('CA')
    expect(read({ callerNumber: '+13105550100', callerState: 'California' }).callerState).toBe('CA')
  })

  test.each([
    [{ tmaxMs: 99 }],
    [{ tmaxMs: 5_001 }],
    [{ tmaxMs: 100.5 }],
    [{ floorCents: -1 }],
    [{ floorCents: '5' }],
    [{ sipOk: 'yes' }],
    [{ callerNumber: 3_105_550_100 }],
    [{ tags: [] }],
    [{ callerZip: '9'.repeat(21) }],
  ])('is refused: %j', (body) => {
    expect(pingBody.safeParse(body).success).toBe(false)
  })

  test.each([100, 5_000])('may give a time budget of %i ms', (tmaxMs) => {
    expect(read({ tmaxMs }).tmaxMs).toBe(tmaxMs)
  })
})

test('every no-bid has a code of its own, and a sentence that tells of no buyer', () => {
  const reasons = Object.keys(NO_BIDS) as (keyof typeof NO_BIDS)[]
  const all = reasons.map(noBidOf)
  expect(new Set(all.map(({ code }) => code)).size).toBe(17)
  expect(all.find(({ reason }) => reason === 'state_not_targeted')?.code).toBe(1008)
  expect(all.find(({ reason }) => reason === 'no_bids')?.code).toBe(1011)
  for (const { sentence } of all) expect(sentence).toMatch(/^[A-Z].*\.$/)
})
