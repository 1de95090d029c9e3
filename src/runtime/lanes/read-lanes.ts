import type { Clock } from '../../ports/clock.ts'
import { type LogPage, START } from '../../ports/event-log.ts'
import type { LogReader } from './log-reader.ts'
import type { LaneWork, RunningLane } from './running-lane.ts'

/** Events of a page while lanes are at different positions: laggards read longer pages than leaders, so they converge. */
const CATCH_UP_PAGE = { leading: 1_000, lagging: 4_000 } as const
const FIRST_PAGE = 1_000
const SHORTEST_PAGE = 16
/** Events of a page that are measured for its size. */
const SAMPLES = 8
/**
 * Bounds of the events in a page of background lanes while live events arrive, and the target duration of that page (ms). Live
 * lanes wait for it: in this thread where log and store are files, else at the store. After each page a lane that may pause does
 * so for the duration of the page times `PAUSE_FACTOR`.
 */
export const BACKGROUND_PAGE = { least: 8, most: 64, ms: 8 } as const
const PAUSE_FACTOR = 2
/** Least speed of a background lane as a multiple of the arrival rate; at 1 it would never catch up. */
const GAIN = 2
/** How long after a live event the lanes count as under load (ms). */
const ARRIVING_MS = 2_000

/** How long lanes wait for a slow one (ms): those that keep up share their pages, a slow one is left behind. */
const SLOW_MS = 1_000

/** Sizes of pages. */
export interface PageSizes {
  /** Maximum events in a page while catching up; pages of the live tail have any size. */
  readonly pageSize?: number
  /** Approximate maximum of JSON in one page, in characters. */
  readonly pageCharacters?: number
}

/** Maximum events of the next page, by the measured size of some events of the last one. */
function createPageLimit({ pageSize = 5_000, pageCharacters = 16_000_000 }: PageSizes) {
  let limit = Math.min(FIRST_PAGE, pageSize)
  return {
    current: () => limit,
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

/**
 * Adapts the page size of background lanes: as many events as fit the target duration at the speed of the last page, and at
 * least `GAIN` times as many as have arrived since.
 */
function createBackgroundLimit(clock: Clock) {
  const { least, most, ms } = BACKGROUND_PAGE
  let limit: number = most
  /** Live events since the last background page, and the instants of the last event and of that page. */
  let arrived = 0
  let arrivedAt = Number.NEGATIVE_INFINITY
  let pageAt = Number.NEGATIVE_INFINITY
  const isRecent = (instant: number) => clock.now() - instant < ARRIVING_MS
  const isArriving = () => isRecent(arrivedAt)
  return {
    isArriving,
    /** Counts live events. */
    count(events: number): void {
      arrived = isRecent(pageAt) ? arrived + events : 0
      if (events > 0) arrivedAt = clock.now()
    },
    /** Maximum events of the next page. */
    next(): number {
      const bound = isArriving() ? Math.max(limit, GAIN * arrived) : Number.POSITIVE_INFINITY
      arrived = 0
      pageAt = clock.now()
      return bound
    },
    /** Adapts to the duration of a page (ms). */
    measure({ events }: LogPage, tookMs: number): void {
      if (events.length < least) return
      limit = Math.min(most, Math.max(least, Math.floor((events.length * ms) / Math.max(1, tookMs))))
    },
  }
}

/** Resolves when the work is done, or after a while: the others do not wait longer for it. */
export function doneOrSlow(clock: Clock, steps: readonly (Promise<void> | null)[]): Promise<void> {
  const work = steps.filter((step) => step !== null)
  return new Promise((resolve) => {
    if (work.length === 0) return resolve()
    const cancel = clock.schedule(clock.now() + SLOW_MS, resolve)
    void Promise.all(work).finally(() => {
      cancel()
      resolve()
    })
  })
}

/**
 * Hands the lanes that are behind the log their next pages, each page read once for all lanes at its position, and
 * subscribes to the tail for the others. Background lanes take theirs beside the others, which do not wait for them.
 * Resolves to whether any lane was behind. @throws LogUnavailable
 */
export function createLaneReader<L extends RunningLane>(options: {
  readonly work: LaneWork<L>
  readonly logReader: LogReader
  readonly clock: Clock
  readonly signal: AbortSignal
  /** Runs a step of a lane, which is busy meanwhile. */
  readonly run: (lane: L, step: () => Promise<void>) => Promise<void>
  readonly sizes: PageSizes
}): (lanes: readonly L[]) => Promise<boolean> {
  const { work, logReader, clock, signal, run } = options
  const limit = createPageLimit(options.sizes)
  const backgroundLimit = createBackgroundLimit(clock)
  const isBackground = (lane: L) => work.isBackground?.(lane) ?? false

  /** Takes a page, then pauses while live events arrive, unless the lane has reached the end of the log. */
  async function takeAside(lane: L, page: LogPage, begun: number): Promise<void> {
    await work.take(lane, page)
    const now = clock.now()
    if (work.mayPause?.(lane) && backgroundLimit.isArriving() && !page.end)
      lane.notBefore = Math.max(lane.notBefore, now + PAUSE_FACTOR * (now - begun))
  }

  /** Starts the steps of the lanes with a page whose reading begun at an instant. Resolves when those that others wait for are done. */
  async function takeAll(members: readonly L[], page: LogPage, begun: number): Promise<void> {
    const background = members.filter(isBackground)
    const live = members.filter((lane) => !background.includes(lane))
    if (live.length > 0) backgroundLimit.count(page.events.length)
    const steps = live.map((lane) => run(lane, () => work.take(lane, page)))
    const aside = background.map((lane) => run(lane, () => takeAside(lane, page, begun)))
    if (aside.length > 0) void Promise.all(aside).then(() => backgroundLimit.measure(page, clock.now() - begun))
    await doneOrSlow(clock, steps)
  }

  async function readAll(moving: readonly L[]): Promise<void> {
    let left = moving.toSorted((one, other) => one.read - other.read)
    const isSpread = left.at(-1)?.read !== left[0]?.read
    while (left.length > 0 && !signal.aborted) {
      const after = left[0]?.read ?? START
      const isLagging = after !== left.at(-1)?.read
      const maxEvents = isSpread ? CATCH_UP_PAGE[isLagging ? 'lagging' : 'leading'] : limit.current()
      const isAside = left.every((lane) => lane.read !== after || isBackground(lane))
      const bound = isAside ? backgroundLimit.next() : maxEvents
      const begun = clock.now()
      const page = await logReader.page(after, Math.min(limit.current(), maxEvents, bound))
      const members = left.filter(({ read }) => read === after || read < page.position)
      work.distribute(page, members)
      await takeAll(members, page, begun)
      limit.measure(page)
      left = left.filter((lane) => !members.includes(lane))
    }
  }

  return async (lanes) => {
    const moving = lanes.filter(({ read }) => !logReader.isCaughtUp(read))
    const caughtUp = lanes.filter((lane) => !moving.includes(lane))
    if (caughtUp.length > 0) logReader.subscribe(Math.max(...caughtUp.map(({ read }) => read)))
    if (moving.length > 0) await readAll(moving)
    return moving.length > 0
  }
}
