import type { Clock } from '../../../src/ports/clock.ts'

/** What lies ahead: things that happen at instants (ms since the epoch), each once. */
export interface Agenda {
  readonly now: () => number
  /** Puts something on the agenda; the answer takes it off. `wake` marks what only looks whether there is something to do. */
  readonly at: (instant: number, run: () => void, wake?: boolean) => () => void
  /** The first instant at which something is due; of what is no mere wake alone, if `eventful`. Null for none. */
  readonly next: (eventful?: boolean) => number | null
  /** Moves time on to an instant, and does all that is due by then in its order, late as it may be. */
  readonly moveTo: (instant: number) => void
}

interface Item {
  readonly instant: number
  readonly run: () => void
  readonly wake: boolean
}

/** An agenda that stands at `start`. */
export function createAgenda(start: number): Agenda {
  let time = start
  let items: Item[] = []
  return {
    now: () => time,
    at(instant, run, wake = false) {
      // The time is told in whole milliseconds, as a machine's is.
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

/** The clock of a process: what it has set itself is gone with it. `skewMs` is how far it goes wrong. */
export function processClock(agenda: Agenda, alive: () => boolean, skewMs = 0): Clock {
  return {
    now: () => agenda.now() + skewMs,
    schedule: (instant, wake) =>
      agenda.at(
        instant - skewMs,
        () => {
          if (alive()) wake()
        },
        true,
      ),
  }
}
