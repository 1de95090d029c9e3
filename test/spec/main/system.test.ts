import { validate, version } from 'uuid'
import { expect, test } from 'vitest'
import { instantOfUuid } from '../../../src/kernel/uuid-instant.ts'
import { systemRandom } from '../../../src/main/system.ts'

test('UUIDs rise, within a millisecond too, and hold the present', () => {
  const before = Date.now()
  const ids = Array.from({ length: 5_000 }, () => systemRandom.uuid())
  const after = Date.now()
  expect(ids.every((id) => validate(id) && version(id) === 7)).toBe(true)
  expect(new Set(ids).size).toBe(ids.length)
  expect(ids).toEqual(ids.toSorted())
  for (const id of ids) {
    expect(instantOfUuid(id)).toBeGreaterThanOrEqual(before)
    expect(instantOfUuid(id)).toBeLessThanOrEqual(after)
  }
})
