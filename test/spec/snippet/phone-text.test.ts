import fc from 'fast-check'
import { describe, expect, it, test } from 'vitest'
import { replaceNumbers } from '../../../src/snippet/phone-text.ts'

const NEW = '<new>'
const replaced = (...texts: readonly string[]) => replaceNumbers(texts.map((text) => ({ text, number: NEW })))

describe('a telephone number in a text', () => {
  test.each([
    '8005550100',
    '800-555-0100',
    '800.555.0100',
    '800 555 0100',
    '800\u00a0555\u00a00100',
    '800\u2011555\u20110100',
    '(800) 555-0100',
    '1 (800) 555-0100',
    '1-800-555-0100',
    '+1 800 555 0100',
    '+18005550100',
    '+44 20 7946 0958',
    '+44 (0)20 7946 0958',
    '1-800-FLOWERS',
    '800-GET-HELP',
    '(800) CONTACTS',
  ])('%s is found among words', (number) => {
    expect(replaced(number)).toEqual([NEW])
    expect(replaced(`Call ${number} now, 24/7, from $99.00!`)).toEqual([`Call ${NEW} now, 24/7, from $99.00!`])
    expect(replaced(`(${number})`)).toEqual([`(${NEW})`])
    expect(replaced(`Tel:${number}.`)).toEqual([`Tel:${NEW}.`])
  })

  test.each(['020 7946 0958', '01 23 45 67 89', '(030) 1234 5678', '030/123 456 78'])(
    '%s is found where no surer one is',
    (number) => {
      expect(replaced(`Call ${number} now`)).toEqual([`Call ${NEW} now`])
    },
  )

  test.each(['555-0100', '(5) 550-1000', ' 12 34 56 78 '])('%s is one with nothing beside it', (number) => {
    expect(replaced(number)).toEqual([number.replace(/\S.*\S/, NEW)])
    expect(replaced(`Room ${number.trim()}`)).toEqual([`Room ${number.trim()}`])
  })

  test.each([
    '',
    'Call us',
    'Open 24/7',
    '$8005550100',
    '#8005550100',
    'A8005550100',
    '2024-01-15 10:30',
    '4111 1111 1111 1111',
    '41111111111111111111',
    '1,299.00',
    '90210-1234 CA',
    '800-flowers',
    '8:00 - 17:30, 10:00 - 14:00',
  ])('%j has none', (text) => {
    expect(replaced(text)).toEqual([text])
  })

  it('is found beside prices and hours', () => {
    expect(replaced('99.00 800-555-0100')).toEqual([`99.00 ${NEW}`])
    expect(replaced('+1 800 555 0100 24/7')).toEqual([`${NEW} 24/7`])
    expect(replaced('+44 20 7946 0958 24/7')).toEqual([`${NEW} 24/7`])
  })

  it('is replaced each time', () => {
    expect(replaced('800-555-0100 or 877-555-0100')).toEqual([`${NEW} or ${NEW}`])
    expect(replaced('800-555-0100', 'or', '877-555-0100')).toEqual([NEW, 'or', NEW])
  })

  it('may be spread over texts: the first of them gets it', () => {
    expect(replaced('Call (800) ', '555', '-0100', ' now')).toEqual([`Call ${NEW}`, '', '', ' now'])
    expect(replaced('1-800-', 'FLOW', 'ERS')).toEqual([NEW, '', ''])
    expect(replaced('Call ', '8005550100', ' now')).toEqual(['Call ', NEW, ' now'])
  })

  it('is spelled as its own text wants', () => {
    const texts = ['800-555-0100', ' 800-555-0100'].map((text, index) => ({ text, number: `n${index}` }))
    expect(replaceNumbers(texts)).toEqual(['n0', ' n1'])
  })
})

test('a text of any length and content takes time in proportion', () => {
  for (const piece of ['1', '1 ', '(', '800-', '+1 ', '800-A', '800 555 010', '-.-1', 'A-']) {
    const started = performance.now()
    replaced(piece.repeat(20_000))
    expect(performance.now() - started).toBeLessThan(1_000)
  }
})

test('what is replaced is replaced again by the same', () => {
  const texts = fc.array(fc.stringMatching(/^[a-z0-9 ().+-]{0,24}$/), { minLength: 1, maxLength: 4 })
  const number = '(888) 555-0101'
  const twice = (all: readonly string[]) => replaceNumbers(all.map((text) => ({ text, number })))
  fc.assert(
    fc.property(texts, (all) => {
      expect(
        replaced(...all)
          .join('')
          .replaceAll(NEW, '').length,
      ).toBeLessThanOrEqual(all.join('').length)
      expect(twice(all).length).toBe(all.length)
    }),
  )
})
