import type { FastifyReply } from 'fastify'
import { RATE } from '../../domain/shared/limits.ts'
import { type Refusal, refuse } from '../../kernel/refusal.ts'
import type { ApiClient } from '../../ports/api.ts'
import type { RateLimiter } from '../../ports/rate-limiter.ts'

const seconds = (ms: number) => Math.ceil(ms / 1_000)

/**
 * Creates the check that counts a request against its client's rate and sets the rate headers (Supplement §1.8). A request
 * that is already refused gets the headers but is not counted.
 */
export function createRateCheck(limiter: RateLimiter) {
  return async (
    reply: FastifyReply,
    { credentialId, ratePerMinute }: ApiClient,
    refused: boolean,
  ): Promise<Refusal<'rate-limited'> | null> => {
    if (ratePerMinute === null) return null
    const rate = { limit: ratePerMinute, windowMs: RATE.windowMs }
    const standing = await (refused ? limiter.peek(credentialId, rate) : limiter.consume(credentialId, rate))
    reply.header('ratelimit-policy', `"default";q=${rate.limit};w=${seconds(rate.windowMs)}`)
    reply.header('ratelimit', `"default";r=${standing.remaining};t=${seconds(standing.nextMs)}`)
    if (refused || standing.allowed) return null
    reply.header('retry-after', String(Math.max(1, seconds(standing.nextMs))))
    return refuse('rate-limited')
  }
}
