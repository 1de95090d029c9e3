/** Time as a port: real in production, simulated in tests, so that no test sleeps. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number
  /** Calls back once at or after the instant (ms); the answer cancels it. */
  schedule(instant: number, wake: () => void): () => void
}
