import { yieldToEventLoop } from '../../../kernel/async/yield-to-event-loop.ts'

/** Work between two turns of the event loop, in units of about a microsecond. */
const SLICE = 1_000

/** Cuts long work in slices, so that it never holds up what else the thread does. */
export interface Pace {
  /** Adds units of work that was done; resolves in another turn of the event loop when a slice is full, else at once. */
  readonly spend: (units: number) => Promise<void> | undefined
}

/** Creates the pace of one piece of work. */
export function createPace(): Pace {
  let spent = 0
  return {
    spend(units) {
      spent += units
      if (spent < SLICE) return undefined
      spent = 0
      return yieldToEventLoop()
    },
  }
}
