import type { Clock } from '../../../src/ports/clock.ts'

/** A clock that moves by hand. */
export interface ManualClock extends Clock {
  /** Moves time on, waking what is due in order and letting each wake have its consequences first. */
  advance(ms: number): Promise<void>
  /** Moves time on in one leap, as a machine does that was asleep: all that fell due meanwhile wakes at its end. */
  leap(ms: number): Promise<void>
}

/** Lets everything that is ready to run run, for so many turns of the event loop. */
export async function settle(turns = 20): Promise<void> {
  for (let turn = 0; turn < turns; turn++) await new Promise((resolve) => setImmediate(resolve))
}

/** A manual clock, standing at `start` (ms since the epoch). */
export function createManualClock(start = Date.UTC(2026, 0, 1)): ManualClock {
  let time = start
  let wakes: { readonly instant: number; readonly wake: () => void }[] = []
  return {
    now: () => time,
    at(instant, wake) {
      const entry = { instant, wake }
      wakes.push(entry)
      return () => {
        wakes = wakes.filter((one) => one !== entry)
      }
    },
    async leap(ms) {
      time += ms
      const due = wakes.filter(({ instant }) => instant <= time)
      wakes = wakes.filter(({ instant }) => instant > time)
      for (const { wake } of due) wake()
      await settle()
    },
    async advance(ms) {
      const until = time + ms
      await settle()
      for (;;) {
        const [next] = wakes.filter(({ instant }) => instant <= until).toSorted((a, b) => a.instant - b.instant)
        if (!next) break
        wakes = wakes.filter((one) => one !== next)
        time = Math.max(time, next.instant)
        next.wake()
        await settle()
      }
      time = until
      await settle()
    },
  }
}

/** Moves time on in small steps until the condition holds; throws when it does not within `limitMs` of that time. */
export async function until(clock: ManualClock, condition: () => boolean, limitMs = 60_000): Promise<void> {
  const end = clock.now() + limitMs
  await settle()
  while (!condition()) {
    if (clock.now() >= end) throw new Error(`Not so within ${limitMs} ms: ${condition}`)
    await clock.advance(50)
  }
}
