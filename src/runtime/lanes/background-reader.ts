import { concurrently } from '../../kernel/async/concurrently.ts'
import { errorMessage } from '../../kernel/async/errors.ts'
import { yieldToEventLoop } from '../../kernel/async/yield-to-event-loop.ts'
import { type LogPage, START } from '../../ports/event-log.ts'
import { doneOrSlow } from './done-or-slow.ts'
import type { LaneReaderOptions } from './lane-reader-options.ts'
import type { PageLimit } from './page-limit.ts'
import type { BackgroundPace, RunningLane } from './running-lane.ts'

/**
 * The pace where log and store are files, and where they are servers. Over files nothing else happens in this thread while a
 * lane takes a page: some 3 ms. Over servers several steps at once keep the thread folding while a server writes.
 */
export const BACKGROUND_PACE = {
  files: { page: 64, atOnce: 1 },
  servers: { page: 500, atOnce: 6 },
} as const satisfies Readonly<Record<string, BackgroundPace>>

/** For how long after an event events count as arriving (ms). */
const ARRIVING_MS = 2_000
/** For how many times as long as a page took lanes that may rest do so, while events arrive. */
const REST = 1
/** How long background lanes wait for a slow one (ms). A step of one of them may wait for those of all others. */
const SLOW_ASIDE_MS = 10_000
/** When lanes are read for again whose page could not be read (ms). */
const RETRY_MS = 400

/** Reads for background lanes beside the others. */
export interface BackgroundReader<L extends RunningLane> {
  /** Reads for lanes that are behind, unless it does so already. */
  readonly read: (lanes: readonly L[]) => void
  readonly isReading: () => boolean
  /** Has lanes take a page that has been distributed to them. */
  readonly take: (lanes: readonly L[], page: LogPage) => Promise<void>
  /** An event has arrived for lanes that others wait for. */
  readonly noteArrival: () => void
}

/**
 * Creates the reader of background lanes. It reads a page once for all lanes at its position, and the next one when all have
 * taken it: builds that begin together stay together.
 */
export function createBackgroundReader<L extends RunningLane>(
  { work, logReader, wake, clock, signal, run }: LaneReaderOptions<L>,
  limit: PageLimit,
): BackgroundReader<L> {
  const { page: arrivingPage, atOnce } = work.backgroundPace ?? BACKGROUND_PACE.files
  let arrivedAt = Number.NEGATIVE_INFINITY
  let isReading = false
  const isArriving = () => clock.now() - arrivedAt < ARRIVING_MS
  const isIdle = ({ state, busy }: L) => state === 'running' && busy === null

  /** Maximum events of a page; where lanes are spread, those ahead read less, so that those behind come up with them. */
  function maxEvents(isSpread: boolean, isLagging: boolean): number {
    const most = isSpread ? limit.whileSpread(isLagging) : limit.current()
    if (!isArriving()) return most
    return Math.min(most, isSpread && !isLagging ? Math.ceil(arrivingPage / 4) : arrivingPage)
  }

  /** Lanes are busy from when they have events of the page until they have taken it, or are not run any more. */
  async function take(lanes: readonly L[], page: LogPage): Promise<void> {
    const turns = lanes.map((lane) => {
      const turn = Promise.withResolvers<void>()
      const done = run(lane, async () => {
        await turn.promise
        if (lane.state === 'running' && !signal.aborted) await work.take(lane, page)
      })
      return { begin: turn.resolve, done }
    })
    await concurrently(turns, atOnce, async ({ begin, done }) => {
      await yieldToEventLoop()
      begin()
      await done
    })
  }

  /** Has lanes rest for as long as a page took, where events arrive for others; all of them until the same instant. */
  function rest(lanes: readonly L[], begun: number): void {
    if (!isArriving()) return
    const until = clock.now() + REST * (clock.now() - begun)
    for (const lane of lanes) if (work.mayRest?.(lane)) lane.notBefore = Math.max(lane.notBefore, until)
  }

  async function readAll(lanes: readonly L[]): Promise<void> {
    let left = lanes.toSorted((one, other) => one.read - other.read)
    const isSpread = left.at(-1)?.read !== left[0]?.read
    while (left.length > 0) {
      const after = left[0]?.read ?? START
      // Ranges that are owned since the reader was restricted have no events in its pages.
      const covered = left.filter(({ range }) => logReader.covers(range))
      const begun = clock.now()
      const page = await logReader.page(after, maxEvents(isSpread, after !== left.at(-1)?.read))
      if (signal.aborted) return
      const members = covered.filter(
        (lane) => isIdle(lane) && after <= lane.read && (lane.read === after || lane.read < page.position),
      )
      work.distribute(page, members)
      const taken = take(members, page)
      limit.measure(page)
      if (!page.end && !isArriving()) logReader.prefetch(page.position, limit.current())
      await doneOrSlow(clock, [taken], SLOW_ASIDE_MS)
      rest(members, begun)
      left = left.filter(({ read }) => read > after).filter((lane) => !members.includes(lane))
    }
  }

  return {
    isReading: () => isReading,
    read(lanes) {
      if (isReading || lanes.length === 0) return
      isReading = true
      readAll(lanes)
        .catch((error: unknown) => {
          for (const lane of lanes.filter(isIdle)) {
            lane.problem = errorMessage(error)
            lane.notBefore = clock.now() + RETRY_MS
          }
        })
        .finally(() => {
          isReading = false
          wake.notify()
        })
    },
    take,
    noteArrival() {
      arrivedAt = clock.now()
    },
  }
}
