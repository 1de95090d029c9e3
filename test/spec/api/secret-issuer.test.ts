import { describe, expect, test } from 'vitest'
import { secretHash } from '../../../src/api/secret-hash.ts'
import { issueSecret, storedSecret } from '../../../src/api/secret-issuer.ts'
import { createSecrets } from '../../../src/main/secrets.ts'
import { createManualClock } from '../../support/memory/clock.ts'
import { createMemoryOperationalStore } from '../../support/memory/operational-store.ts'
import { createSeededRandom } from '../../support/memory/random.ts'

function world() {
  const random = createSeededRandom()
  const [clock, ops] = [createManualClock(), createMemoryOperationalStore()]
  const tools = { random, clock, ops, secrets: createSecrets(Buffer.alloc(32, 1), random) }
  const issue = (idempotencyKey: string | null, credentialId = 'user:1', purpose = 'create-api-key') =>
    issueSecret({ idempotencyKey, principal: { credentialId }, tools }, purpose, 'svc_live_')
  return { clock, ops, issue }
}

describe('an issued secret', () => {
  test('has its form, and is fresh each time', async () => {
    const { issue } = world()
    const [one, other] = [await issue(null), await issue(null)]
    expect(one).toMatch(/^svc_live_[A-Za-z0-9_-]{43}$/)
    expect(other).not.toBe(one)
    expect(storedSecret(one)).toEqual({ prefix: one.slice(0, 12), hash: secretHash(one) })
  })

  test('is the same for a request that comes again within a day, for that request alone', async () => {
    const { clock, issue } = world()
    const first = await issue('k')
    await clock.advance(24 * 3_600_000 - 1)
    expect(await issue('k')).toBe(first)
    const others = [await issue('other'), await issue('k', 'user:2'), await issue('k', 'user:1', 'rotate')]
    expect(new Set([first, ...others]).size).toBe(4)
    await clock.advance(1)
    expect(await issue('k')).not.toBe(first)
  })

  test('does not open in the place of another', async () => {
    const { clock, ops, issue } = world()
    await issue('k')
    const [first] = await ops.list('', clock.now())
    await issue('l')
    for (const { key } of await ops.list('', clock.now())) await ops.put(key, first?.value, clock.now() + 3_600_000)
    await expect(issue('k')).resolves.toMatch(/^svc_live_/)
    await expect(issue('l')).rejects.toThrow()
  })

  test('requested concurrently is one, and is never stored in plain text', async () => {
    const { clock, ops, issue } = world()
    const many = await Promise.all(Array.from({ length: 20 }, () => issue('k')))
    expect(new Set(many).size).toBe(1)
    expect(JSON.stringify(await ops.list('', clock.now()))).not.toContain(many[0]?.slice(9))
  })
})
