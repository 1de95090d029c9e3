import { expect, test } from 'vitest'
import { EgressError, withoutStacks } from '../../../../src/adapters/egress/egress-error.ts'

test('a failed request has no stack, and errors after it have theirs', () => {
  const limit = Error.stackTraceLimit
  expect(new EgressError('timeout', 'The request timed out.').stack).not.toContain('\n')
  expect(Error.stackTraceLimit).toBe(limit)
  expect(new Error('Another.').stack).toContain('\n')
})

test('errors of work without stacks have none, and errors after it have theirs, even where the work throws', () => {
  const made: Error[] = []
  const work = () => {
    made.push(new Error('Closed.'))
    throw new Error('Failed.')
  }
  expect(() => withoutStacks(work)).toThrow('Failed.')
  made.push(new Error('Another.'))
  expect(made.map(({ stack }) => stack?.includes('\n'))).toEqual([false, true])
})
