/** Resolves in the next turn of the event loop: timers and messages of the thread run between two batches. */
export function yieldToEventLoop(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}
