import type { Clock } from '../../../src/ports/clock.ts'

/** Simulated time: things that happen once at an instant (ms since the epoch). */
export interface Agenda {
  readonly now: () => number
  /** Schedules something; the result cancels it. `wake` marks timers that only check for work. */
  readonly at: (instant: number, run: () => void, wake?: boolean) => () => void
  /**
   * The next instant at which something is scheduled; with `eventful`, timers that only check for work do not count.
   * Null for none.
   */
  readonly next: (eventful?: boolean) => number | null
  /** Moves time on to an instant and runs everything due by then, in order. */
  readonly moveTo: (instant: number) => void
}

interface Item {
  readonly instant: number
  readonly run: () => void
  readonly wake: boolean
}

/** Creates an agenda whose time is `start`. */
export function createAgenda(start: number): Agenda {
  let time = start
  let items: Item[] = []
  return {
    now: () => time,
    at(instant, run, wake = false) {
      // Time has whole milliseconds, as on a real machine.
      const item = { instant: Math.ceil(instant), run, wake }
      items.push(item)
      return () => {
        items = items.filter((one) => one !== item)
      }
    },
    next(eventful = false) {
      const ahead = eventful ? items.filter(({ wake }) => !wake) : items
      return ahead.length === 0 ? null : Math.min(...ahead.map(({ instant }) => instant))
    },
    moveTo(instant) {
      time = Math.max(time, instant)
      const due = items.filter((item) => item.instant <= time).toSorted((one, other) => one.instant - other.instant)
      items = items.filter((item) => item.instant > time)
      for (const { run } of due) run()
    },
  }
}

/** The clock of a process. Its timers die with it, and wait while it stands still. `skewMs` is its error. */
export function processClock(
  agenda: Agenda,
  { alive, stillUntil = () => 0 }: { readonly alive: () => boolean; readonly stillUntil?: () => number },
  skewMs = 0,
): Clock {
  const wakeAt = (instant: number, wake: () => void): (() => void) => {
    let cancel = agenda.at(
      instant,
      () => {
        if (!alive()) return
        if (stillUntil() > agenda.now()) cancel = wakeAt(stillUntil(), wake)
        else wake()
      },
      true,
    )
    return () => cancel()
  }
  return {
    now: () => agenda.now() + skewMs,
    schedule: (instant, wake) => wakeAt(instant - skewMs, wake),
  }
}
