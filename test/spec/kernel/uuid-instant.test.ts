import { v4, v7 } from 'uuid'
import { expect, test } from 'vitest'
import { instantOfUuid } from '../../../src/kernel/uuid-instant.ts'

test('a UUIDv7 has the instant at which it was made; no other text has one', () => {
  const now = Date.parse('2026-11-23T10:00:00.123Z')
  expect(instantOfUuid(v7({ msecs: now }))).toBe(now)
  for (const other of [v4(), '', 'all', `x${v7()}`, v7().replaceAll('-', '')]) expect(instantOfUuid(other)).toBeNull()
})
