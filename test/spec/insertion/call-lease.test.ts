import { expect, test } from 'vitest'
import { isMatchedBy, latestMatch } from '../../../src/domain/routing/call-lease.ts'
import { LEASE } from '../../../src/domain/shared/limits.ts'

const lease = { takenAt: 1_000_000, until: 2_000_000 }
const after = lease.until + LEASE.matchSeconds * 1_000

test.each([
  ['before it was taken', lease.takenAt - 1, false],
  ['the instant it was taken', lease.takenAt, true],
  ['while it is live', lease.until - 1, true],
  ['as it ends', lease.until, true],
  ['less than ten minutes after its end', after - 1, true],
  ['ten minutes after its end', after, false],
])('a call matches a lease %s: %s → %s', (_when, at, isMatched) => {
  expect(isMatchedBy(lease, at)).toBe(isMatched)
})

test('of several leases the most recent counts, whether it is live or has ended', () => {
  const earlier = { takenAt: 900_000, until: 9_000_000 }
  expect(latestMatch([earlier, lease], lease.until + 1)).toBe(lease)
  expect(latestMatch([earlier, lease], after)).toBe(earlier)
  expect(latestMatch([earlier, lease], 950_000)).toBe(earlier)
  expect(latestMatch([earlier, lease], 100)).toBeNull()
  expect(latestMatch([], 100)).toBeNull()
})
