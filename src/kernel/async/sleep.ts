import type { Timer } from './timer.ts'

/** Resolves after some milliseconds, or at once when the signal aborts. */
export function sleep(timer: Timer, ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) {
      resolve()
      return
    }
    let cancel = () => {}
    const done = () => {
      cancel()
      signal.removeEventListener('abort', done)
      resolve()
    }
    signal.addEventListener('abort', done, { once: true })
    cancel = timer.schedule(timer.now() + ms, done)
  })
}
