/** A maximum of requests per sliding window. */
export interface Rate {
  readonly limit: number
  readonly windowMs: number
}

/** State of a rate after a request. */
export interface RateLimitResult {
  /** Whether the request is within the rate; for `peek`, whether one more would be. */
  readonly allowed: boolean
  /** Requests that are allowed at once. */
  readonly remaining: number
  /** Milliseconds until one more request is allowed than now; 0 when none is counted. */
  readonly nextMs: number
}

/**
 * Exact sliding-window rate limits: no window of that length ever holds more requests than the limit, at any
 * concurrency. An id has one rate; its limit may change, its window may not.
 */
export interface RateLimiter {
  /** Counts a request unless it exceeds the rate. @throws StoreUnavailable */
  consume(id: string, rate: Rate): Promise<RateLimitResult>
  /** The state of the rate, without counting. @throws StoreUnavailable */
  peek(id: string, rate: Rate): Promise<RateLimitResult>
}
