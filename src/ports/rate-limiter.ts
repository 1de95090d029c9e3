/** So many requests in so many milliseconds, in a window that slides. */
export interface Rate {
  readonly limit: number
  readonly windowMs: number
}

/** How something stands against its rate. */
export interface RateLimitResult {
  /** Whether the request that was asked about is within the rate; a look is while one more would be. */
  readonly allowed: boolean
  /** Requests that may follow at once. */
  readonly remaining: number
  /** Milliseconds until one more may follow than now; 0 when nothing is counted. */
  readonly nextMs: number
}

/**
 * Counts requests against rates, exactly: whatever the number of requests at once, no window of that length ever holds
 * more than the limit. What one id is asked about is one rate; its limit may change, its window does not.
 */
export interface RateLimiter {
  /** Counts a request, unless it is over the rate: a refused one is not counted. @throws StoreUnavailable */
  consume(id: string, rate: Rate): Promise<RateLimitResult>
  /** How it stands, counting nothing. @throws StoreUnavailable */
  peek(id: string, rate: Rate): Promise<RateLimitResult>
}
