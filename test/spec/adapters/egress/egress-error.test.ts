import { expect, test } from 'vitest'
import { EgressError } from '../../../../src/adapters/egress/egress-error.ts'

test('a failed request has no stack, and errors after it have theirs', () => {
  const limit = Error.stackTraceLimit
  expect(new EgressError('timeout', 'The request timed out.').stack).not.toContain('\n')
  expect(Error.stackTraceLimit).toBe(limit)
  expect(new Error('Another.').stack).toContain('\n')
})
