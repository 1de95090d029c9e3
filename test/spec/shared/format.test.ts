import { describe, expect, it } from 'vitest'
import { formatDuration, maskDestination, pluralize } from '../../../src/domain/shared/format.ts'

describe('duration', () => {
  it.each([
    [0, '0 seconds'],
    [1, '1 second'],
    [60, '1 minute'],
    [90, '90 seconds'],
    [7_200, '2 hours'],
    [5_400, '90 minutes'],
    [86_400, '1 day'],
    [604_800, '7 days'],
  ])('says %d seconds as %s', (seconds, words) => {
    expect(formatDuration(seconds)).toBe(words)
  })
})

describe('counted', () => {
  it('is plural for all but one', () => {
    expect([0, 1, 2].map((count) => pluralize(count, 'call'))).toEqual(['0 calls', '1 call', '2 calls'])
  })
})

describe('masked', () => {
  it.each([
    ['+14155554821', '•••4821'],
    ['sip:sales@pbx.example.com', 'sip:•••'],
    ['sip:+14155554821@10.0.0.1:5060;transport=tls', 'sip:•••4821'],
    ['SIPS:desk7@b', 'SIPS:•••7'],
  ])('hides %s as %s', (destination, shown) => {
    expect(maskDestination(destination)).toBe(shown)
  })
})
