import { describe, expect, it, test } from 'vitest'
import { macroValues } from '../../../src/domain/delivery/macro-values.ts'
import { isKnownMacro, macroVocabulary } from '../../../src/domain/delivery/macro-vocabulary.ts'
import { SAMPLE_CALLER_HASH, sampleData, sampleEnvelope } from '../../../src/domain/delivery/sample.ts'
import type { Envelope } from '../../../src/domain/delivery/webhook-events.ts'
import { PROTO_KEY } from '../../../src/kernel/proto-key.ts'

const HASH = 'c'.repeat(32)
const NUMBER = '+12125550142'
const envelope = sampleEnvelope('call.completed')
const about = (data: object): Envelope => ({ ...envelope, data: { ...envelope.data, ...data } })
const valuesOf = (data: object, inUrl: boolean, callerHash: string | null = HASH) =>
  macroValues({ envelope: about(data), callerHash }, inUrl)
const inBody = (data: object = {}) => valuesOf(data, false)
const inUrl = (data: object = {}) => valuesOf(data, true)

const GROUPS = {
  event: 'name id time',
  call: 'id ref status started answered ended talk converted revenue payout dialed state city zip',
  campaign: 'id name',
  publisher: 'id name ref',
  buyer: 'id name',
  target: 'id name ref',
  caller: 'e164 digits nanp suffix hash state area',
  tag: '<key>',
} as const

describe('the vocabulary of macros', () => {
  it('has the groups and tokens of the supplement, in its order', () => {
    const tokens = Object.entries(GROUPS).flatMap(([group, names]) =>
      names.split(' ').map((name) => [group, `{{${group}.${name}}}`]),
    )
    expect(macroVocabulary.map(({ group, token }) => [group, token])).toEqual(tokens)
  })

  it('marks as hashed in a URL those that hold the number', () => {
    const hashed = macroVocabulary.filter(({ inUrl }) => inUrl === 'hashed').map(({ token }) => token)
    expect(hashed).toEqual(['{{caller.e164}}', '{{caller.digits}}', '{{caller.nanp}}', '{{caller.suffix}}'])
  })

  it('has a description and an example of each, which are the values of the sample', () => {
    const values = macroValues({ envelope, callerHash: SAMPLE_CALLER_HASH }, false)
    for (const { token, description, example } of macroVocabulary) {
      expect(description, token).toMatch(/^[A-Z].*\.$/)
      expect(example, token).toBe(values[token.slice(2, -2).replace('<key>', 'source')])
    }
  })

  test.each([
    ['call.ref', true],
    ['tag.utm_source', true],
    ['tag.a-b.c', true],
    ['tag.__proto__', true],
    ['tag.', false],
    ['tag.a b', false],
    ['call.nope', false],
    ['call', false],
    ['auction.id', false],
    ['bid.amount', false],
    ['__proto__', false],
    ['constructor', false],
    ['', false],
  ])('knows the macro %j: %s', (name, known) => {
    expect(isKnownMacro(name)).toBe(known)
  })
})

describe('values of macros', () => {
  test.each([
    ['event.name', 'call.completed'],
    ['event.id', envelope.id],
    ['event.time', envelope.createdAt],
    ['call.started', '2026-03-10T15:00:00.000Z'],
    ['call.talk', '132'],
    ['call.converted', 'true'],
    ['call.revenue', '50.00'],
    ['call.payout', '30.00'],
    ['call.state', 'NY'],
    ['caller.state', 'NY'],
    ['caller.area', '212'],
    ['target.ref', 'desk-1'],
    ['tag.source', 'radio'],
  ])('{{%s}} is %s in a URL as in a body', (name, value) => {
    expect([inBody()[name], inUrl()[name]]).toEqual([value, value])
  })

  test.each([
    [0, '0.00'],
    [1, '0.01'],
    [1_250, '12.50'],
    [-305, '-3.05'],
    [100_000_000, '1000000.00'],
  ])('has %d cents as %s dollars', (revenueCents, dollars) => {
    expect(inBody({ revenueCents })['call.revenue']).toBe(dollars)
  })

  it('are missing where the call has none', () => {
    const values = inBody({ buyerId: null, endedAt: null, tags: {} })
    for (const name of ['buyer.id', 'call.ended', 'tag.source']) expect(values).not.toHaveProperty([name])
  })

  it('of an event about no call are those of the event alone', () => {
    const values = macroValues({ envelope: sampleEnvelope('wallet.low'), callerHash: null }, false)
    expect(Object.keys(values)).toEqual(['event.name', 'event.id', 'event.time'])
  })

  test.each([
    ['caller.e164', NUMBER],
    ['caller.digits', '12125550142'],
    ['caller.nanp', '2125550142'],
    ['caller.suffix', '0142'],
  ])('{{%s}} is %s in a body, and the hash in a URL', (name, real) => {
    expect([inBody()[name], inUrl()[name]]).toEqual([real, HASH])
  })

  test.each([
    ['a tag', { tags: { note: 'call (212) 555-0142' } }, 'tag.note', 'call (212) 555-0142'],
    ['a tag with other digits around', { tags: { note: '0012125550142#9' } }, 'tag.note', '0012125550142#9'],
    ['the reference of a publisher', { publisherRef: 'lead-2125550142' }, 'publisher.ref', 'lead-2125550142'],
    ['a city', { callerCity: '212.555.0142' }, 'call.city', '212.555.0142'],
  ])('hides the ten digits of the caller in %s, in a URL alone', (_what, data, name, real) => {
    expect([inBody(data)[name], inUrl(data)[name]]).toEqual([real, HASH])
  })

  it('show nine digits of the caller, and an instant that looks like a number', () => {
    const data = { callerNumber: '+12603101500', tags: { note: '260310150' } }
    expect(inUrl(data)).toMatchObject({ 'tag.note': '260310150', 'call.started': '2026-03-10T15:00:00.000Z' })
  })

  it('of a hidden caller are missing', () => {
    const values = valuesOf({ callerNumber: null }, true, null)
    const known = Object.keys(values).filter((name) => name.startsWith('caller.'))
    expect(known).toEqual(['caller.state'])
  })

  it('are never the number in a URL, even without its hash', () => {
    const values = valuesOf({ tags: { note: NUMBER } }, true, null)
    expect(values).not.toHaveProperty(['caller.e164'])
    expect(values['tag.note']).toBe('')
  })

  it('read a tag called __proto__, stored or as it was sent, and nothing of prototypes', () => {
    const own = Object.fromEntries([['__proto__', 'own']])
    expect(inBody({ tags: own })['tag.__proto__']).toBe('own')
    expect(inBody({ tags: { [PROTO_KEY]: 'own' } })['tag.__proto__']).toBe('own')
    const bare: Envelope = { ...envelope, data: Object.create(sampleData('call.completed')) }
    expect(Object.keys(macroValues({ envelope: bare, callerHash: HASH }, false))).toEqual([
      'event.name',
      'event.id',
      'event.time',
    ])
  })
})
