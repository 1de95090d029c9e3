import { expect, test } from 'vitest'
import { createAuthenticator } from '../../../src/api/access.ts'
import { secretHash } from '../../../src/api/secret-hash.ts'
import { createManualClock } from '../../support/memory/clock.ts'

test.each([127, 128, 129])('a credential of %i characters is looked up by its hash each time', async (length) => {
  const lookedUp: string[] = []
  const store = {
    credential: async (_kind: 'key' | 'session', hash: string) => {
      lookedUp.push(hash)
      return null
    },
    workspace: async () => null,
  }
  const authenticate = createAuthenticator(store, createManualClock())
  const route = { surface: 'rest', scope: 'calls:read', write: false, ownerOnly: false } as const
  const bearers = [1, 2, 1].map((last) => `svc_test_${last}`.padEnd(length, 'x'))
  for (const bearer of bearers)
    await authenticate(route, { bearer, agencyId: null, publisherId: null, ip: '127.0.0.1' })
  expect(lookedUp).toEqual(bearers.map(secretHash))
})
