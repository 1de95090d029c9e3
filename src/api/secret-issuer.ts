import { SECRET } from '../domain/shared/limits.ts'
import type { Principal } from '../ports/api.ts'
import { secretHash } from './access.ts'
import { digest, RETENTION_MS } from './idempotency.ts'
import type { WriteTools } from './writes/write-context.ts'

/** What is kept of an issued secret: its first characters, and its hash. */
export function storedSecret(
  secret: string,
  shown: number = SECRET.shown,
): { readonly prefix: string; readonly hash: string } {
  return { prefix: secret.slice(0, shown), hash: secretHash(secret) }
}

/** What of a request the issuing of a secret goes by. */
interface SecretRequest {
  readonly idempotencyKey: string | null
  readonly principal: Pick<Principal, 'credentialId'>
  readonly tools: Pick<WriteTools, 'random' | 'secrets' | 'ops' | 'clock'>
}

/**
 * A fresh secret of 256 bits behind the prefix of its kind. For a request with an `Idempotency-Key` it is the same when
 * the request comes again: what was done of it is then not done again, and must not be answered with another secret.
 */
export async function issueSecret(
  { idempotencyKey, principal, tools }: SecretRequest,
  purpose: string,
  prefix: string,
): Promise<string> {
  const { random, secrets, ops, clock } = tools
  const fresh = `${prefix}${Buffer.from(random.bytes(32)).toString('base64url')}`
  if (idempotencyKey === null) return fresh
  const key = `issued:${digest(purpose, principal.credentialId, idempotencyKey)}`
  const now = clock.now()
  if (await ops.putIf(key, 0, secrets.seal(fresh), now + RETENTION_MS, now)) return fresh
  const first = await ops.get(key, now)
  return typeof first?.value === 'string' ? secrets.unseal(first.value) : fresh
}
