import type { Clock } from '../../../src/ports/clock.ts'

/** A clock that moves by hand. */
export interface ManualClock extends Clock {
  /** Moves time on, waking what is due in order and letting each wake have its consequences first. */
  advance(ms: number): Promise<void>
  /** Moves time on in one leap, as a machine does that was asleep: all that fell due meanwhile wakes at its end. */
  jump(ms: number): Promise<void>
}

/** Lets everything that is ready to run run, for so many turns of the event loop. */
export async function flushEventLoop(turns = 20): Promise<void> {
  for (let turn = 0; turn < turns; turn++) await new Promise((resolve) => setImmediate(resolve))
}

/** A manual clock, standing at `start` (ms since the epoch). */
export function createManualClock(start = Date.UTC(2026, 0, 1)): ManualClock {
  let time = start
  let wakes: { readonly instant: number; readonly wake: () => void }[] = []
  return {
    now: () => time,
    schedule(instant, wake) {
      const entry = { instant, wake }
      wakes.push(entry)
      return () => {
        wakes = wakes.filter((one) => one !== entry)
      }
    },
    async jump(ms) {
      time += ms
      const due = wakes.filter(({ instant }) => instant <= time)
      wakes = wakes.filter(({ instant }) => instant > time)
      for (const { wake } of due) wake()
      await flushEventLoop()
    },
    async advance(ms) {
      const until = time + ms
      await flushEventLoop()
      for (;;) {
        const [next] = wakes.filter(({ instant }) => instant <= until).toSorted((a, b) => a.instant - b.instant)
        if (!next) break
        wakes = wakes.filter((one) => one !== next)
        time = Math.max(time, next.instant)
        next.wake()
        await flushEventLoop()
      }
      time = until
      await flushEventLoop()
    },
  }
}

/** Moves time on in small steps until the condition holds; throws when it does not within `limitMs` of that time. */
export async function advanceUntil(clock: ManualClock, condition: () => boolean, limitMs = 60_000): Promise<void> {
  const end = clock.now() + limitMs
  await flushEventLoop()
  while (!condition()) {
    if (clock.now() >= end) throw new Error(`Not so within ${limitMs} ms: ${condition}`)
    await clock.advance(50)
  }
}
