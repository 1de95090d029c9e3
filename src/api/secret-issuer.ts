import { SECRET } from '../domain/shared/limits.ts'
import type { Principal } from '../ports/api.ts'
import { issuedSecretPlace } from '../ports/sealed-places.ts'
import { digest, RETENTION_MS } from './idempotency.ts'
import { secretHash } from './secret-hash.ts'
import type { WriteTools } from './writes/write-tools.ts'

/** Random bytes of a secret: 256 bits. */
const SECRET_BYTES = 32
/** Characters of a secret behind its prefix: its bytes in base64url. */
export const SECRET_CHARACTERS = Math.ceil((SECRET_BYTES * 4) / 3)

/** The stored form of a secret: its first characters, and its hash. */
export function storedSecret(
  secret: string,
  shown: number = SECRET.shown,
): { readonly prefix: string; readonly hash: string } {
  return { prefix: secret.slice(0, shown), hash: secretHash(secret) }
}

/** Request fields needed to issue a secret. */
interface SecretRequest {
  readonly idempotencyKey: string | null
  readonly principal: Pick<Principal, 'credentialId'>
  readonly tools: Pick<WriteTools, 'random' | 'secrets' | 'ops' | 'clock'>
}

/**
 * Issues a secret: the prefix of its kind and 256 random bits. A retry with the same `Idempotency-Key` gets the same
 * secret, because the commands of the first attempt are not executed again and have stored that secret's hash.
 * @throws StoreUnavailable
 */
export async function issueSecret(
  { idempotencyKey, principal, tools }: SecretRequest,
  purpose: string,
  prefix: string,
): Promise<string> {
  const { random, secrets, ops, clock } = tools
  const fresh = `${prefix}${Buffer.from(random.bytes(SECRET_BYTES)).toString('base64url')}`
  if (idempotencyKey === null) return fresh
  const key = `issued:${digest(purpose, principal.credentialId, idempotencyKey)}`
  const now = clock.now()
  if (await ops.putIf(key, 0, secrets.seal(fresh, issuedSecretPlace(key)), now + RETENTION_MS, now)) return fresh
  const first = await ops.get(key, now)
  return typeof first?.value === 'string' ? secrets.unseal(first.value, issuedSecretPlace(key)) : fresh
}
