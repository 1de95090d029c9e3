import { describe, expect, it, test } from 'vitest'
import { isOriginAllowed } from '../../../src/domain/insertion/origin-rule.ts'

const DOMAINS = ['example.com', '*.shop.example']
const by = (origin?: string, referer?: string) => isOriginAllowed(DOMAINS, { origin, referer })

test('a pool without domains takes pages of any, and requests that name none', () => {
  for (const origin of [undefined, 'null', 'https://anywhere.test'])
    expect(isOriginAllowed([], { origin, referer: undefined })).toBe(true)
})

describe('a pool with domains takes', () => {
  it.each([
    ['its host', 'https://example.com', true],
    ['its host on another port, without TLS', 'http://example.com:8080', true],
    ['its host in capitals', 'https://EXAMPLE.com', true],
    ['a sub-domain of a host that stands for itself', 'https://www.example.com', false],
    ['a host that ends alike', 'https://notexample.com', false],
    ['a host that goes on', 'https://example.com.evil.test', false],
    ['a sub-domain by its wildcard', 'https://a.shop.example', true],
    ['a sub-domain of a sub-domain', 'https://a.b.shop.example', true],
    ['the host of a wildcard itself', 'https://shop.example', false],
    ['a host that ends like a wildcard', 'https://ashop.example', false],
    ['an opaque origin', 'null', false],
    ['a page of the file system', 'file:///example.com', false],
    ['an extension', 'chrome-extension://example.com', false],
    ['a host in the place of a name', 'https://example.com@evil.test', false],
    ['nonsense', 'example.com', false],
    ['an empty origin', '', false],
  ])('%s: %s → %s', (_what, origin, isAllowed) => {
    expect(by(origin)).toBe(isAllowed)
  })

  it('the page that a request names in Referer, where it has no Origin', () => {
    expect(by(undefined, 'https://example.com/landing?a=b#c')).toBe(true)
    expect(by(undefined, 'https://evil.test/?https://example.com')).toBe(false)
    expect(by('https://evil.test', 'https://example.com/')).toBe(false)
    expect(by('null', 'https://example.com/')).toBe(false)
    expect(by('https://example.com', 'https://evil.test/')).toBe(true)
  })

  it('no request that names no page', () => {
    expect(by()).toBe(false)
  })
})
