import type { Clock } from '../../ports/clock.ts'

/** How long lanes wait for a slow one (ms): those that keep up share their pages, a slow one is left behind. */
const SLOW_MS = 1_000

/** Resolves when the work is done, or after a while (ms): the others do not wait longer for it. */
export function doneOrSlow(
  clock: Clock,
  steps: readonly (Promise<unknown> | null)[],
  slowMs: number = SLOW_MS,
): Promise<void> {
  const work = steps.filter((step) => step !== null)
  return new Promise((resolve) => {
    if (work.length === 0) return resolve()
    const cancel = clock.schedule(clock.now() + slowMs, resolve)
    void Promise.all(work).finally(() => {
      cancel()
      resolve()
    })
  })
}
