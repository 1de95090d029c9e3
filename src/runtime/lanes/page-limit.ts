import type { LogPage } from '../../ports/event-log.ts'

/** Events of a page while lanes are at different positions: laggards read longer pages than leaders, so they converge. */
const CATCH_UP_PAGE = { leading: 1_000, lagging: 4_000 } as const
const FIRST_PAGE = 1_000
const SHORTEST_PAGE = 16
/** Events of a page that are measured for its size. */
const SAMPLES = 8
/** Sizes of pages. */
export interface PageSizes {
  /** Maximum events in a page while catching up; pages of the live tail have any size. */
  readonly pageSize?: number
  /** Approximate maximum of JSON in one page, in characters. */
  readonly pageCharacters?: number
}

/** The maximum of events of the next page. */
export interface PageLimit {
  readonly current: () => number
  /** Adapts it to the size of the events of a page. */
  readonly measure: (page: LogPage) => void
  /** The maximum for lanes of which some are ahead of others: those behind (`isLagging`) read more. */
  readonly whileSpread: (isLagging: boolean) => number
}

/** Maximum events of the next page, by the measured size of some events of the last one. */
export function createPageLimit({ pageSize = 5_000, pageCharacters = 16_000_000 }: PageSizes): PageLimit {
  let limit = Math.min(FIRST_PAGE, pageSize)
  return {
    current: () => limit,
    whileSpread: (isLagging) => Math.min(limit, CATCH_UP_PAGE[isLagging ? 'lagging' : 'leading']),
    measure({ events }: LogPage): void {
      // The pages of the live tail are short, and are not measured.
      if (events.length < SHORTEST_PAGE) return
      const step = Math.max(1, Math.floor(events.length / SAMPLES))
      const sample = events.filter((_event, index) => index % step === 0)
      if (sample.length === 0) return
      const characters = sample.reduce((sum, { data, meta }) => sum + JSON.stringify([data, meta]).length, 0)
      const average = characters / sample.length
      limit = Math.max(SHORTEST_PAGE, Math.min(pageSize, Math.floor(pageCharacters / average)))
    },
  }
}
