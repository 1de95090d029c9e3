/** Time as a port: real in production, simulated in tests, so that no test sleeps. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number
  /** Calls `wake` once at or after the instant (ms since the epoch). Returns a function that cancels the call. */
  schedule(instant: number, wake: () => void): () => void
}
