/** The part of a clock that waiting needs; `Clock` (ports) has it. */
export interface Timer {
  /** Milliseconds since the epoch. */
  now(): number
  /** Calls back once at or after the instant (ms since the epoch). Returns a function that cancels the call. */
  schedule(instant: number, wake: () => void): () => void
}
