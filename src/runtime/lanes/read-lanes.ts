import type { RecordedEvent } from '../../kernel/event.ts'
import type { Clock } from '../../ports/clock.ts'
import { type LogPage, START } from '../../ports/event-log.ts'
import { BACKGROUND_PAGE, createBackgroundPages } from './background-pages.ts'
import type { LogReader } from './log-reader.ts'
import type { LaneWork, PauseWork, RunningLane } from './running-lane.ts'

/** Events of a page while lanes are at different positions: laggards read longer pages than leaders, so they converge. */
const CATCH_UP_PAGE = { leading: 1_000, lagging: 4_000 } as const
const FIRST_PAGE = 1_000
const SHORTEST_PAGE = 16
/** Events of a page that are measured for its size. */
const SAMPLES = 8
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
    measure({ events, end }: LogPage): void {
      // The pages of the live tail have any size, and are not measured.
      if (end || events.length < SHORTEST_PAGE) return
      const step = Math.max(1, Math.floor(events.length / SAMPLES))
      const sample = events.filter((_event, index) => index % step === 0)
      if (sample.length === 0) return
      const characters = sample.reduce((sum, { data, meta }) => sum + JSON.stringify([data, meta]).length, 0)
      const average = characters / sample.length
      limit = Math.max(SHORTEST_PAGE, Math.min(pageSize, Math.floor(pageCharacters / average)))
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
  const background = createBackgroundPages(clock, signal)
  const isBackground = (lane: L) => work.isBackground?.(lane) ?? false
  const isCaughtUp = ({ read }: L) => logReader.isCaughtUp(read)

  /** Starts the steps of the lanes with a page. Resolves when those that others wait for are done. */
  async function takeAll(members: readonly L[], page: LogPage): Promise<void> {
    const isLive = members.some((lane) => !isBackground(lane))
    if (isLive) background.count(page)
    const steps = members.map((lane) => {
      if (work.skip?.(lane, page)) return null
      const done = run(lane, () => work.take(lane, page, null))
      return isBackground(lane) ? null : done
    })
    await doneOrSlow(clock, steps)
  }

  /** Reads a page in parts, with a pause after each. @throws LogUnavailable */
  async function readInParts(after: number, maxEvents: number, pause: PauseWork): Promise<LogPage> {
    const events: RecordedEvent[] = []
    const part = Math.ceil(maxEvents / BACKGROUND_PAGE.parts)
    for (let from = after; ; ) {
      const page = await logReader.page(from, part)
      // A page of the tail may begin before.
      for (const event of page.events) if (event.position > from) events.push(event)
      await pause()
      if (page.end || events.length >= maxEvents || signal.aborted) return { ...page, events }
      from = page.position
    }
  }

  /** Has lanes take a page one after the other, with pauses: builds of many projections at once would fill each other's pauses. */
  async function takeInTurn(lanes: readonly L[], page: LogPage, pause: PauseWork): Promise<void> {
    for (const lane of lanes) {
      if (lane.state === 'running' && !signal.aborted) await work.take(lane, page, pause)
      await pause()
    }
  }

  /**
   * Hands background lanes a page beside the others' work: from the position of the first one, to those that it concerns. Their steps
   * end together, but for one that is slow, so that they read the next page together.
   */
  function readAside(lanes: readonly [L, ...L[]], most: number): void {
    const after = lanes[0].read
    const { maxEvents, pause } = background.begin(lanes.every((lane) => work.mayPause?.(lane)))
    const bound = Math.min(most, maxEvents)
    const reading = pause ? readInParts(after, bound, pause) : logReader.page(after, bound)
    const taking = reading.then(
      (page) => {
        const members = lanes.filter(
          ({ read, state }) => state === 'running' && (read === after || read < page.position),
        )
        work.distribute(page, members)
        limit.measure(page)
        const inTurn = background.isLast(page) ? null : pause
        const takes = new Map(inTurn ? [] : members.map((lane) => [lane, work.take(lane, page, null)]))
        const taken = inTurn ? takeInTurn(members, page, inTurn) : doneOrSlow(clock, [...takes.values()])
        return { takes, together: taken.finally(() => background.end(page.events.length)) }
      },
      (error: unknown) => {
        background.end(0)
        throw error
      },
    )
    for (const lane of lanes) {
      void run(lane, async () => {
        const { takes, together } = await taking
        await Promise.all([takes.get(lane), together])
      })
    }
  }

  async function readAll(moving: readonly L[]): Promise<void> {
    let left = moving.toSorted((one, other) => one.read - other.read)
    const isSpread = left.at(-1)?.read !== left[0]?.read
    while (left.length > 0 && !signal.aborted) {
      const after = left[0]?.read ?? START
      const isLagging = after !== left.at(-1)?.read
      const catchUp = isSpread ? CATCH_UP_PAGE[isLagging ? 'lagging' : 'leading'] : Number.POSITIVE_INFINITY
      const maxEvents = Math.min(limit.current(), catchUp)
      const [first, ...others] = left.filter(isBackground)
      if (first && left.every((lane) => lane.read !== after || isBackground(lane))) {
        if (!background.isUnderWay()) readAside([first, ...others], maxEvents)
        left = left.filter((lane) => !isBackground(lane))
        continue
      }
      const page = await logReader.page(after, maxEvents)
      const members = left.filter(({ read }) => read === after || read < page.position)
      work.distribute(page, members)
      await takeAll(members, page)
      limit.measure(page)
      left = left.filter((lane) => !members.includes(lane))
    }
  }

  return async (lanes) => {
    const [caughtUp, behind] = [lanes.filter(isCaughtUp), lanes.filter((lane) => !isCaughtUp(lane))]
    const moving = behind.filter((lane) => !isBackground(lane) || !background.isUnderWay())
    if (caughtUp.length > 0) logReader.subscribe(Math.max(...caughtUp.map(({ read }) => read)))
    if (moving.length > 0) await readAll(moving)
    return moving.length > 0
  }
}
