import fc from 'fast-check'
import { describe, expect, it, test } from 'vitest'
import { callerMacros, createCallerMask } from '../../../src/domain/shared/caller-macros.ts'
import { escaperFor, percentEncode, verbatim } from '../../../src/domain/shared/escaping.ts'
import { headerName, headerProblem, headerText, headerValue } from '../../../src/domain/shared/http-headers.ts'
import { createExpander, expandMacros, unknownTokens } from '../../../src/domain/shared/macros.ts'

const isKnown = (name: string) => name === 'a.b' || name.startsWith('tag.')
const HASH = 'c'.repeat(32)

describe('unknown tokens of a template', () => {
  test.each([
    ['', []],
    ['no token', []],
    ['{{a.b}} {{ a.b }} {{\ta.b\n}}', []],
    ['{{tag.anything}}', []],
    ['{{a.c}}', ['{{a.c}}']],
    ['{{ a.c }}{{a.c}}', ['{{a.c}}']],
    ['{{x}}-{{y}}', ['{{x}}', '{{y}}']],
    ['{{call ref}}', ['{{call ref}}']],
    ['{{}}', ['{{}}']],
    ['{{ }}', ['{{}}']],
    ['{{a{b}}', ['{{a{b}}']],
    ['{{a}b}}', ['{{a}b}}']],
    ['{{"a":1}}', ['{{"a":1}}']],
    ['{{__proto__}}{{constructor}}', ['{{__proto__}}', '{{constructor}}']],
    ['{{{a.c}}', []],
    ['{{{{a.c}}', []],
    ['{{{{{a.c}}', ['{{a.c}}']],
    ['{{a.c', []],
    ['a.c}}', []],
    ['{{x {{a.b}}', []],
    ['{{x {{a.c}}', ['{{a.c}}']],
    ['{{x {{{a.c}}', []],
    ['{"a":{"b":"{{a.b}}"}}', []],
  ])('of %j are %j', (template, tokens) => {
    expect(unknownTokens(template, isKnown)).toEqual(tokens)
  })

  it('are none of those that an expansion replaces', () => {
    const parts = fc.constantFrom('{', '}', '{{', '}}', '{{{', 'a.b', 'tag.x', ' ', 'x', '"')
    fc.assert(
      fc.property(fc.array(parts, { maxLength: 20 }), (template) => {
        const text = template.join('')
        // Of a template whose tokens are all known, no token is left: each is known by its name, so each has a value.
        fc.pre(unknownTokens(text, isKnown).length === 0)
        const seen: string[] = []
        const values = new Proxy({}, { getOwnPropertyDescriptor: (_, name) => void seen.push(String(name)) })
        expandMacros(text, values, verbatim)
        expect(seen.filter((name) => !isKnown(name))).toEqual([])
      }),
    )
  })
})

describe('a hostile template', () => {
  const shapes: Readonly<Record<string, (size: number) => string>> = {
    'of opening braces': (size) => '{'.repeat(size),
    'of closing braces': (size) => '}'.repeat(size),
    'of pairs of braces with blanks': (size) => '{{ '.repeat(size / 3),
    'of blanks in a token': (size) => `{{${' '.repeat(size)}`,
    'of a name without an end': (size) => `{{${'a'.repeat(size)}`,
    'of a name and blanks without an end': (size) => `{{${'a'.repeat(size / 2)}${' '.repeat(size / 2)}`,
    'of tokens without an end': (size) => '{{a'.repeat(size / 3),
    'of tokens with one closing brace': (size) => '{{a.b}'.repeat(size / 6),
    'of tokens': (size) => '{{a.b}}'.repeat(size / 7),
    'of unknown tokens': (size) => Array.from({ length: size / 10 }, (_, n) => `{{x${n}}}`).join(''),
    'of literal braces': (size) => '{{{'.repeat(size / 3),
  }
  const cases = Object.entries(shapes).flatMap(([name, make]) =>
    [10_000, 100_000, 1_000_000].map((size) => [name, size, make] as const),
  )

  // Quadratic time would take minutes at the largest size.
  test.each(cases)('%s, of %d characters, is read in linear time', { timeout: 20_000 }, (_name, size, make) => {
    const template = make(size)
    expect(expandMacros(template, { 'a.b': '' }, percentEncode).length).toBeLessThanOrEqual(template.length)
    expect(unknownTokens(template, isKnown).length).toBeLessThanOrEqual(template.length)
  })
})

describe('an expander', () => {
  it('makes its values once, and only for a template with a token', () => {
    let made = 0
    const expand = createExpander(() => {
      made += 1
      return { 'a.b': 'x' }
    })
    expect([expand('plain', verbatim), made]).toEqual(['plain', 0])
    expect([expand('{{a.b}}', verbatim), expand('{{a.b}}{{{', verbatim), made]).toEqual(['x', 'x{{', 1])
  })
})

describe('the escaping of a body', () => {
  test.each([
    ['application/json', 'a\\nb\\" &/ü'],
    ['application/json; charset=utf-8', 'a\\nb\\" &/ü'],
    ['application/vnd.api+json', 'a\\nb\\" &/ü'],
    ['application/x-www-form-urlencoded', 'a%0Ab%22%20%26%2F%C3%BC'],
    ['Application/X-WWW-Form-UrlEncoded; charset=utf-8', 'a%0Ab%22%20%26%2F%C3%BC'],
    ['text/plain', 'a\nb" &/ü'],
    ['application/xml', 'a\nb" &/ü'],
  ])('follows the content type %s', (contentType, escaped) => {
    expect(escaperFor(contentType)('a\nb" &/ü')).toBe(escaped)
  })

  it('does not throw at half a surrogate pair', () => {
    expect(percentEncode('a\ud800')).toBe('a%EF%BF%BD')
    expect(escaperFor('application/json')('a\ud800')).toBe('a\\ud800')
  })
})

describe('a caller in macros', () => {
  test.each([
    ['+13105550100', '310-555-0100', HASH],
    ['+13105550100', '+1 (310) 555 0100 ext. 2', HASH],
    ['+13105550100', '310555010', '310555010'],
    ['+442071838750', '2071838750', HASH],
    ['+3726123456', '3726123456', HASH],
    ['+46123456', '46123456', '46123456'],
    [null, '3105550100', '3105550100'],
  ])('who is %s hides in the text %s as %s', (e164, text, shown) => {
    expect(createCallerMask({ e164, hash: HASH })(text)).toBe(shown)
  })

  it('has a hash in place of the number, unless it is shown', () => {
    const caller = { e164: '+13105550100', hash: HASH }
    const always = { 'caller.hash': HASH, 'caller.area': '310' }
    expect(callerMacros(caller, true)).toEqual({
      ...{ 'caller.e164': '+13105550100', 'caller.digits': '13105550100' },
      ...{ 'caller.nanp': '3105550100', 'caller.suffix': '0100' },
      ...always,
    })
    expect(callerMacros(caller, false)).toEqual({
      ...{ 'caller.e164': HASH, 'caller.digits': HASH, 'caller.nanp': HASH, 'caller.suffix': HASH },
      ...always,
    })
    expect(callerMacros({ e164: null, hash: HASH }, true)).toEqual({})
  })
})

describe('a header', () => {
  test.each([
    'connection',
    'Keep-Alive',
    'proxy-authenticate',
    'Proxy-Authorization',
    'TE',
    'Trailer',
    'Transfer-Encoding',
    'Upgrade',
    'host',
    'Content-Length',
    'svc-event',
    'SVC-anything',
  ])('%s is not for clients to set', (name) => {
    expect(headerProblem(name)).toMatch(/platform/)
  })

  test.each(['x-svc-a', 'authorization', 'content-type', 'svc'])('%s is for clients to set', (name) => {
    expect(headerProblem(name)).toBeNull()
  })

  test.each([
    ['a\r\nb: c', 'ab: c'],
    ['tab\tand ü', 'tab\tand ü'],
    ['\u0000\u007f\u2028🙂', ''],
  ])('holds of %j only %j', (text, cleaned) => {
    expect(headerText(text)).toBe(cleaned)
    expect(headerValue(100).safeParse(cleaned).success).toBe(true)
  })

  test.each([
    ['x-a', true],
    ['x_a!', true],
    ['', false],
    ['x a', false],
    ['x:', false],
    ['ü', false],
  ])('may have the name %j: %s', (name, isValid) => {
    expect(headerName.safeParse(name).success).toBe(isValid)
  })
})
