import { OPERATOR_GUESSES, RATE } from '../domain/shared/limits.ts'
import { sourceOf } from '../kernel/ip-address.ts'
import { type Refusal, refuse } from '../kernel/refusal.ts'
import type { Principal } from '../ports/api.ts'
import type { RateLimiter } from '../ports/rate-limiter.ts'
import { secretHash } from './secret-hash.ts'

/** The platform's staff. */
const OPERATOR: Principal = {
  actor: { type: 'operator', id: null, name: 'Operator' },
  tenant: null,
  credentialId: 'operator',
  ratePerMinute: null,
}

const GUESSES = { limit: OPERATOR_GUESSES.perMinute, windowMs: RATE.windowMs }

/** Checks the operator's token. @throws StoreUnavailable */
export type OperatorCheck = (
  bearer: string | null,
  ip: string,
) => Promise<Principal | Refusal<'unauthorized' | 'rate-limited'>>

/**
 * Creates the check of `token`; null for a platform without an operator. A source with too many wrong tokens in the last
 * minute is refused the right one too, in the order of arrival: otherwise concurrent guesses would not be limited.
 */
export function createOperatorCheck(token: string | null, limiter: RateLimiter): OperatorCheck {
  const expected = token === null ? null : secretHash(token)
  return async (bearer, ip) => {
    if (bearer === null) return refuse('unauthorized')
    const isRight = secretHash(bearer) === expected
    const source = `operator-guess:${sourceOf(ip)}`
    const { allowed, nextMs } = await (isRight ? limiter.peek(source, GUESSES) : limiter.consume(source, GUESSES))
    if (!allowed) return refuse('rate-limited', { retryAfterSeconds: Math.max(1, Math.ceil(nextMs / 1_000)) })
    return isRight ? OPERATOR : refuse('unauthorized')
  }
}
