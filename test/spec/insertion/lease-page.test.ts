import { describe, expect, it } from 'vitest'
import { keptParams, leasePageOf } from '../../../src/domain/insertion/lease-page.ts'
import { LEASE, POOL } from '../../../src/domain/shared/limits.ts'
import { PROTO_KEY } from '../../../src/kernel/proto-key.ts'

const exact = (key: string) => ({ key, prefix: false })
const prefix = (key: string) => ({ key, prefix: true })
const json = (text: string): unknown => JSON.parse(text)

describe('parameters of a page', () => {
  it('are kept where the pool lists them, exactly or by prefix, in its order', () => {
    const sent = { other: '1', utm_medium: 'cpc', gclid: 'g', utm_source: 'ads', gclidx: 'no' }
    const kept = keptParams([exact('gclid'), prefix('utm_')], sent)
    expect(Object.entries(kept)).toEqual([
      ['gclid', 'g'],
      ['utm_medium', 'cpc'],
      ['utm_source', 'ads'],
    ])
  })

  it('are known by their keys in lower case; of keys that differ in case alone the first counts', () => {
    expect(keptParams([exact('utm_source')], { UTM_Source: 'first', utm_source: 'second' })).toEqual({
      utm_source: 'first',
    })
  })

  it.each([
    ['a text', 'x', 'x'],
    ['an empty text', '', ''],
    ['a number', 7, '7'],
    ['a boolean', false, 'false'],
    ['a list, by its first value', ['a', 'b'], 'a'],
    ['an object', { a: 1 }, undefined],
    ['a list of objects', [{ a: 1 }], undefined],
    ['an empty list', [], undefined],
    ['null', null, undefined],
  ])('have as value %s', (_what, value, kept) => {
    expect(keptParams([exact('key')], { key: value })).toEqual(kept === undefined ? {} : { key: kept })
  })

  it(`keep ${LEASE.paramValue} characters of a value between its spaces, and no half of a character`, () => {
    const long = 'x'.repeat(LEASE.paramValue)
    expect(keptParams([exact('key')], { key: long }).key).toBe(long)
    expect(keptParams([exact('key')], { key: `${long}y` }).key).toBe(long)
    expect(keptParams([exact('key')], { key: ` ${'x'.repeat(LEASE.paramValue)}\n` }).key).toBe(
      'x'.repeat(LEASE.paramValue),
    )
    const cut = keptParams([exact('key')], { key: `${'x'.repeat(LEASE.paramValue - 1)}😀` }).key ?? ''
    expect([cut.length, cut.isWellFormed()]).toEqual([LEASE.paramValue, true])
  })

  it(`are at most ${POOL.params}`, () => {
    const sent = Object.fromEntries(Array.from({ length: POOL.params + 1 }, (_, n) => [`utm_${n}`, String(n)]))
    expect(Object.keys(keptParams([prefix('utm_')], sent))).toHaveLength(POOL.params)
    const { utm_0: _, ...fewer } = sent
    expect(Object.keys(keptParams([prefix('utm_')], fewer))).toHaveLength(POOL.params)
  })

  it('with names of the language itself are parameters like others, or none', () => {
    const sent = json('{"__proto__":"p","constructor":"c","toString":"t"}')
    expect(keptParams([exact('utm_source')], sent)).toEqual({})
    const kept = keptParams([exact('__proto__'), exact('constructor'), exact('tostring')], sent)
    expect(Object.entries(kept)).toEqual([
      [PROTO_KEY, 'p'],
      ['constructor', 'c'],
      ['tostring', 't'],
    ])
    expect(Object.getPrototypeOf(kept)).toBe(Object.prototype)
  })

  it('that no tag may have by its key are left out', () => {
    expect(keptParams([prefix('utm_')], { utm_ä: '1', [`utm_${'x'.repeat(61)}`]: '2', 'utm_a.b-c': '3' })).toEqual({
      'utm_a.b-c': '3',
    })
  })

  it.each([
    ['a text', 'utm_source=x'],
    ['a list', ['x']],
    ['null', null],
    ['nothing', undefined],
  ])('are none where %s is sent instead', (_what, sent) => {
    expect(keptParams([prefix('')], sent)).toEqual({})
  })
})

describe('the page of a lease', () => {
  it(`has addresses of at most ${LEASE.url} characters`, () => {
    const long = `https://example.com/${'x'.repeat(LEASE.url - 20)}`
    expect(leasePageOf({ url: long, referrer: `${long}y` }, [])).toEqual({ url: long, referrer: long, params: {} })
  })

  it('has no address where something else was sent', () => {
    for (const sent of [undefined, null, 7, '', {}, ['https://example.com']])
      expect(leasePageOf({ url: sent, referrer: sent }, [])).toEqual({ url: null, referrer: null, params: {} })
  })
})
