import { describe, expect, test } from 'vitest'
import { readHeartbeat } from '../../../src/api/insertion/lease-request.ts'
import { LEASE } from '../../../src/domain/shared/limits.ts'

/** A session's id that numbers are not exact for. */
const SESSION = '123456789012345679'
const read = (json: string) => readHeartbeat(Buffer.from(json))
const heartbeat = (sessionId: string, more = '') => `{"sessionId":${sessionId},"visitorId":"visitor-1"${more}}`

describe('the session of a heartbeat', () => {
  test.each([
    ['as a text', heartbeat(`"${SESSION}"`), SESSION],
    ['as a number that numbers are not exact for', heartbeat(SESSION), SESSION],
    ['as a small number', heartbeat('7'), '7'],
    ['twice, of which the last counts', `{"sessionId":5,${heartbeat(SESSION).slice(1)}`, SESSION],
    ['beside another one in a part behind it', heartbeat(SESSION, ',"more":{"sessionId":5}'), SESSION],
    ['beside another one in a part before it', `{"more":[{"sessionId":5}],${heartbeat(SESSION).slice(1)}`, SESSION],
    ['beside a part without a name', heartbeat(SESSION, ',"":{"sessionId":5}'), SESSION],
  ])('is read %s', (_what, json, sessionId) => {
    expect(read(json)).toEqual({ sessionId, visitorId: 'visitor-1' })
  })

  test.each([
    ['has a digit too many', heartbeat(`${SESSION}0`)],
    ['is larger than any number', heartbeat('1e400')],
    ['is negative', heartbeat(`-${SESSION}`)],
    ['stands in a list', heartbeat(`[${SESSION}]`)],
    [
      'is a number in a body that is nested as deep as one can be',
      heartbeat(SESSION, `,"more":${nested(LEASE.bodyBytes / 2 - 64)}`),
    ],
  ])('is refused that %s', (_what, json) => {
    expect(read(json)).toMatchObject({ refused: 'validation-error', details: { sessionId: expect.any(String) } })
  })

  test('is read from a text, however deep the rest is nested', () => {
    const json = heartbeat(`"${SESSION}"`, `,"more":${nested(LEASE.bodyBytes / 2 - 64)}`)
    expect(read(json)).toEqual({ sessionId: SESSION, visitorId: 'visitor-1' })
  })
})

function nested(depth: number): string {
  return '['.repeat(depth) + ']'.repeat(depth)
}
