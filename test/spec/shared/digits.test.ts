import { describe, expect, test } from 'vitest'
import { digitsOf } from '../../../queries/shared/digits.ts'

describe('digits of a search', () => {
  test.each([
    ['2125', '2125'],
    ['+1 (212) 555-0123', '12125550123'],
    ['212.555/0123', '2125550123'],
    ['Line 7', ''],
    ['212x', ''],
    ['', ''],
  ])('%j looks for %j', (text, digits) => {
    expect(digitsOf(text)).toBe(digits)
  })
})
