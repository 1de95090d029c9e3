import { describe, expect, it, test } from 'vitest'
import { BID_PATHS, bidResultOf, readBidAnswer, storedPathProblem } from '../../../src/domain/demand/bid-answer.ts'
import { pathProblem, valueAtPath } from '../../../src/domain/demand/bid-path.ts'
import { DEFAULT_RTB, type Rtb } from '../../../src/domain/demand/endpoint.ts'
import { RTB } from '../../../src/domain/shared/limits.ts'
import { expandMacros } from '../../../src/domain/shared/macros.ts'

const readText = (text: string, rtb: Partial<Rtb> = {}) => readBidAnswer({ ...DEFAULT_RTB, ...rtb }, text)
const read = (body: unknown, rtb: Partial<Rtb> = {}) => {
  const reading = readText(JSON.stringify(body), rtb)
  return reading.ok ? reading.answer : null
}
const NOTHING = {
  accepted: true,
  amountCents: null,
  destination: null,
  durationSeconds: null,
  expiresInSeconds: null,
  rejectReason: null,
}

describe('a bidder’s answer', () => {
  it('is read by the default paths when the target sets none', () => {
    const body = { accept: true, bid: { amountCents: 1_250 }, destination: '+14155550111', durationSeconds: 90 }
    expect(read({ ...body, expiresInSeconds: 30.9 })).toEqual({
      accepted: true,
      amountCents: 1_250,
      destination: '+14155550111',
      durationSeconds: 90,
      expiresInSeconds: 30,
      rejectReason: null,
    })
    expect(read({ accept: false, reason: 'No budget' })).toMatchObject({ accepted: false, rejectReason: 'No budget' })
  })

  it('is read by the target’s paths', () => {
    const rtb = { bidPath: '$.offers[0].price', bidUnit: 'dollars', acceptPath: '$.status', acceptValue: 'OK' } as const
    expect(read({ status: 'OK', offers: [{ price: '12.345' }] }, rtb)).toMatchObject({
      accepted: true,
      amountCents: 1_235,
    })
    expect(read({ status: 'no', offers: [{ price: 12 }] }, rtb)).toMatchObject({ accepted: false, amountCents: 1_200 })
    expect(read({ offers: [] }, rtb)).toMatchObject({ accepted: false, amountCents: null })
  })

  test.each<readonly [string, Partial<Rtb>, number, number | null]>([
    ['as it is', {}, 1_000, 1_000],
    ['with the modifier, half-up', { modifierPct: 12.55 }, 1_000, 1_126],
    ['up to the floor, after the modifier', { modifierPct: -50, minBidCents: 600 }, 1_000, 600],
    ['down to the ceiling', { maxBidCents: 600 }, 1_000, 600],
    ['down to the largest price', {}, 1e300, 100_000_000],
    ['not at all when it is nothing', { minBidCents: 600 }, 0, null],
    ['not at all when it is negative', {}, -5, null],
  ])('has its price read %s', (_how, rtb, amountCents, expected) => {
    expect(read({ bid: { amountCents } }, rtb)?.amountCents).toBe(expected)
  })

  test.each([null, [], 'text', 5, {}, { bid: null }, { bid: { amountCents: 'NaN' } }, { bid: { amountCents: [5] } }])(
    'that says nothing of a price (%j) holds none',
    (body) => {
      expect(read(body)).toEqual(NOTHING)
    },
  )

  it.each(['<bid>5</bid>', ''])('is not read when it is not JSON: %j', (text) => {
    expect(readText(text)).toEqual({ ok: false, sentence: "The bidder's answer is not JSON." })
  })

  it('is read however deep it is', () => {
    const deep = '['.repeat(5_000) + ']'.repeat(5_000)
    expect(readText(deep, { bidPath: '$[0][0]' })).toMatchObject({ ok: true, answer: { amountCents: null } })
  })

  it.each(BID_PATHS)('is not read when the stored %s is refused now', (name) => {
    const rtb = { ...DEFAULT_RTB, [name]: '$[*,*]' }
    const sentence = `The target's rtb.${name} is no longer accepted. ${pathProblem('$[*,*]')}`
    expect(readBidAnswer(rtb, '{}')).toEqual({ ok: false, sentence })
    expect(storedPathProblem(rtb)).toBe(sentence)
  })

  it('means a bid, no bid or a rejection', () => {
    expect(bidResultOf({ ...NOTHING, amountCents: 5 })).toBe('bid')
    expect(bidResultOf(NOTHING)).toBe('no_bid')
    expect(bidResultOf({ ...NOTHING, accepted: false, amountCents: 5 })).toBe('rejected')
  })
})

describe('a path into an answer', () => {
  test.each([
    '$',
    '$.bid',
    '$._b1',
    '$.☺',
    "$['a b']",
    '$["a b"]',
    '$["\\u0061\\n"]',
    "$['it\\'s']",
    '$[ 0 ]',
    '$.list[-1].x',
    "$[0]['a'].b",
    '$[9007199254740991]',
    `$.${'a'.repeat(RTB.path - 2)}`,
    `$${'.a'.repeat(RTB.pathSegments)}`,
    `$${'[0]'.repeat(RTB.pathSegments)}`,
  ])('may be %s', (path) => {
    expect(pathProblem(path)).toBeNull()
  })

  const singular = 'Must be a singular query'
  const tooLong = `Must have at most ${RTB.path} characters.`
  const tooManySegments = `Must have at most ${RTB.pathSegments} segments.`
  const refused: readonly (readonly [path: string, sentence: string])[] = [
    ['', 'which begins with $.'],
    ['bid', 'which begins with $.'],
    ['$.', 'Must be a JSONPath'],
    ['$.a[', 'Must be a JSONPath'],
    ['$.1a', 'Must be a JSONPath'],
    ['$[01]', 'Must be a JSONPath'],
    ['$[9007199254740992]', 'Must be a JSONPath'],
    ["$['a", 'Must be a JSONPath'],
    ['$.*', singular],
    ['$[*]', singular],
    ['$[0:2]', singular],
    ['$[::]', singular],
    ['$[0,0]', singular],
    ["$['a','b']", singular],
    ["$['a',0]", singular],
    ['$[*,*]', singular],
    ['$..price', singular],
    ['$..[0]', singular],
    ['$..*', singular],
    ['$[?@.ok==true].price', singular],
    ['$.a[?@.b]', singular],
    ['$[?$.a[?@.b==1]]', singular],
    ["$[?match(@.a, '(a+)+b')]", singular],
    ["$[?search(@.a, 'a')]", singular],
    [`$${'[0,0]'.repeat(90)}`, singular],
    [`$[${'*,'.repeat(200)}*]`, singular],
    [`$${'.a'.repeat(RTB.pathSegments + 1)}`, tooManySegments],
    [`$${'[0]'.repeat(RTB.pathSegments + 1)}`, tooManySegments],
    [`$.${'a'.repeat(RTB.path - 1)}`, tooLong],
    [`$${'[0,0]'.repeat(100_000)}`, tooLong],
  ]
  test.each(refused.map(([path, sentence]) => [path.slice(0, 40), path, sentence]))(
    'may not be %s',
    (_begins, path, sentence) => {
      expect(pathProblem(path)).toContain(sentence)
      expect(valueAtPath(path, [[1, 2], [3]])).toBeUndefined()
    },
  )

  test.each([
    ['$', 5, 5],
    ['$.a.b', { a: { b: 1 } }, 1],
    ['$["a.b"][-1]', { 'a.b': [1, 2, 3] }, 3],
    ['$[1]', [1, null], null],
    ['$.a', { b: 1 }, undefined],
    ['$.a.b', { a: null }, undefined],
    ['$[-3]', [1, 2], undefined],
    ['$.length', [1, 2], undefined],
    ['$.a.length', { a: 'text' }, undefined],
    ['$[0]', { 0: 'a' }, undefined],
    ['$[0]', 'text', undefined],
    ['$.__proto__', {}, undefined],
    ['$.constructor', {}, undefined],
  ])('%s of %j is %j', (path, answer, value) => {
    expect(valueAtPath(path, answer)).toBe(value)
  })
})

describe('macros', () => {
  it('are replaced by encoded values, and by nothing without a value', () => {
    const values = { 'a.b': 'x"y' }
    expect(expandMacros('{{a.b}}|{{ a.b }}|{{a.c}}|{{__proto__}}|{{{a.b}}', values, encodeURIComponent)).toBe(
      'x%22y|x%22y|||{{a.b}}',
    )
  })
})
