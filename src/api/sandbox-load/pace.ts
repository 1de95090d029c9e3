import type { Clock } from '../../ports/clock.ts'

/** Waits until an instant (ms); an abort ends the wait. */
function waitUntil(clock: Clock, instantMs: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted || clock.now() >= instantMs) return resolve()
    const stop = () => {
      cancel()
      resolve()
    }
    const cancel = clock.schedule(instantMs, () => {
      signal.removeEventListener('abort', stop)
      resolve()
    })
    signal.addEventListener('abort', stop, { once: true })
  })
}

/**
 * Starts tasks at a steady pace, with a limit on concurrent tasks: at the limit the next one starts late. Resolves when the
 * last has ended. An abort lets no more begin. `work` never rejects.
 */
export async function paceWorks(
  {
    count,
    perSecond,
    underWay,
    clock,
    signal,
  }: {
    readonly count: number
    readonly perSecond: number
    readonly underWay: number
    readonly clock: Clock
    readonly signal: AbortSignal
  },
  work: (n: number) => Promise<void>,
): Promise<void> {
  const startMs = clock.now()
  const open = new Set<Promise<void>>()
  for (let n = 0; n < count; n += 1) {
    await waitUntil(clock, startMs + (n * 1_000) / perSecond, signal)
    if (open.size >= underWay) await Promise.race(open)
    if (signal.aborted) break
    const one = work(n).finally(() => open.delete(one))
    open.add(one)
  }
  await Promise.all(open)
}
