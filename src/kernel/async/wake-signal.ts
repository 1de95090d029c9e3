import type { Timer } from './timer.ts'

/** A sleep that can be ended early: an auto-reset event for one waiting loop. */
export interface WakeSignal {
  /** Ends the current wait; without one, the next wait resolves at once. */
  readonly notify: () => void
  /** Resolves on `notify`, at the instant (ms since the epoch; null for no instant), or when the abort signal fires. */
  readonly wait: (until: number | null) => Promise<void>
}

/** Creates a wake signal. Only one loop may wait on it at a time. */
export function createWakeSignal(timer: Timer, signal: AbortSignal): WakeSignal {
  let notified = false
  let wake: (() => void) | null = null
  const notify = () => {
    notified = true
    wake?.()
  }
  signal.addEventListener('abort', notify, { once: true })
  return {
    notify,
    wait: (until) =>
      new Promise((resolve) => {
        if (notified || signal.aborted) {
          notified = false
          resolve()
          return
        }
        let cancel = () => {}
        wake = () => {
          wake = null
          notified = false
          cancel()
          resolve()
        }
        if (until !== null) cancel = timer.schedule(until, notify)
      }),
  }
}
