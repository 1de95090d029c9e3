import { type LogPage, START } from '../../ports/event-log.ts'
import { createBackgroundReader } from './background-reader.ts'
import { doneOrSlow } from './done-or-slow.ts'
import type { LaneReaderOptions } from './lane-reader-options.ts'
import { createPageLimit } from './page-limit.ts'
import type { RunningLane } from './running-lane.ts'

/**
 * Hands the lanes that are behind the log their next pages, each page read once for all lanes at its position, and
 * subscribes to the tail for the others. Background lanes that stand where others do take their pages too; those elsewhere
 * are read for aside. Nobody waits for them. Resolves to whether any other lane was behind. @throws LogUnavailable
 */
export function createLaneReader<L extends RunningLane>(
  options: LaneReaderOptions<L>,
): (lanes: readonly L[]) => Promise<boolean> {
  const { work, logReader, clock, signal, run } = options
  const limit = createPageLimit(options.sizes)
  const background = createBackgroundReader(options, limit)
  const isBackground = (lane: L) => work.isBackground?.(lane) ?? false

  /** Starts the steps of the lanes with a page. Resolves when those of the live ones are done. */
  async function takeAll(live: readonly L[], aside: readonly L[], page: LogPage): Promise<void> {
    if (page.events.length > 0) background.noteArrival()
    work.distribute(page, [...live, ...aside])
    const steps = live.map((lane) => run(lane, () => work.take(lane, page)))
    void background.take(aside, page)
    await doneOrSlow(clock, steps)
  }

  async function readAll(moving: readonly L[], behind: readonly L[]): Promise<void> {
    let left = moving.toSorted((one, other) => one.read - other.read)
    const isSpread = left.at(-1)?.read !== left[0]?.read
    while (left.length > 0 && !signal.aborted) {
      const after = left[0]?.read ?? START
      const maxEvents = isSpread ? limit.whileSpread(after !== left.at(-1)?.read) : limit.current()
      const page = await logReader.page(after, maxEvents)
      const isMember = ({ read }: L) => read === after || (after < read && read < page.position)
      const members = left.filter(isMember)
      await takeAll(
        members,
        behind.filter((lane) => lane.busy === null && isMember(lane)),
        page,
      )
      limit.measure(page)
      left = left.filter((lane) => !members.includes(lane))
    }
  }

  return async (lanes) => {
    const moving = lanes.filter(({ read }) => !logReader.isCaughtUp(read))
    const caughtUp = lanes.filter((lane) => !moving.includes(lane))
    if (caughtUp.length > 0) logReader.subscribe(Math.max(...caughtUp.map(({ read }) => read)))
    const live = moving.filter((lane) => !isBackground(lane))
    const behind = moving.filter(isBackground)
    if (live.length > 0) await readAll(live, background.isReading() ? [] : behind)
    background.read(behind)
    return live.length > 0
  }
}
