import type { Clock } from '../../ports/clock.ts'

/** Milliseconds after which a failed step is retried. */
const RETRY_MS = 250

/** The steps that one call has ahead of it, on the carrier's own clock. */
export interface Agenda {
  /** Runs a step at an instant (ISO), at once for an instant call; retries it until it succeeds. */
  readonly plan: (instant: string, step: () => Promise<void>) => void
  /** Cancels all steps, and those planned later. */
  readonly cancel: () => void
}

/** Creates the agenda of a call. `isInstant`: no time passes between its steps. */
export function createAgenda(clock: Clock, isInstant: boolean): Agenda {
  let cancels: (() => void)[] = []
  let cancelled = false
  return {
    plan(instant, step) {
      if (cancelled) return
      const attempt = () => {
        if (cancelled) return
        step().catch(() => {
          if (!cancelled) cancels.push(clock.schedule(clock.now() + RETRY_MS, attempt))
        })
      }
      if (isInstant) queueMicrotask(attempt)
      else cancels.push(clock.schedule(Date.parse(instant), attempt))
    },
    cancel() {
      cancelled = true
      for (const cancel of cancels) cancel()
      cancels = []
    },
  }
}
