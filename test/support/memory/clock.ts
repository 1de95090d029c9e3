import type { Clock } from '../../../src/ports/clock.ts'

/** A clock that tests move by hand. */
export interface ManualClock extends Clock {
  /** Moves time on, running timers in order and letting the consequences of each run first. */
  advance(ms: number): Promise<void>
  /** Moves time on at once, as after a suspended machine: every timer that fell due runs at the end. */
  jump(ms: number): Promise<void>
}

/** Lets everything run that is ready to run, for a number of turns of the event loop. */
export async function flushEventLoop(turns = 20): Promise<void> {
  for (let turn = 0; turn < turns; turn++) await new Promise((resolve) => setImmediate(resolve))
}

/** Creates a manual clock at `start` (ms since the epoch). */
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

/** Moves time on in small steps until a condition holds. @throws Error when it does not hold within `limitMs` */
export async function advanceUntil(clock: ManualClock, condition: () => boolean, limitMs = 60_000): Promise<void> {
  const end = clock.now() + limitMs
  await flushEventLoop()
  while (!condition()) {
    if (clock.now() >= end) throw new Error(`Not so within ${limitMs} ms: ${condition}`)
    await clock.advance(50)
  }
}

/** The clock of a process, whose timers end with it. `skewMs`: how far ahead it is. */
export function processClock(clock: Clock, skewMs = 0): Clock & { readonly die: () => void } {
  let alive = true
  return {
    now: () => clock.now() + skewMs,
    schedule: (instant, wake) =>
      clock.schedule(instant - skewMs, () => {
        if (alive) wake()
      }),
    die: () => {
      alive = false
    },
  }
}

/** A clock that stands still, whose timers wake at once: for what pauses between tries of which no test tells the time. */
export function withPromptWakes(clock: Clock): Clock {
  return {
    now: clock.now,
    schedule(_instant, wake) {
      const pending = setImmediate(wake)
      return () => clearImmediate(pending)
    },
  }
}
