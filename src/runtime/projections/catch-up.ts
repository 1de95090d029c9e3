import { type LogPage, START } from '../../ports/event-log.ts'
import { advance } from './advance-build.ts'
import type { BuildPorts } from './build-ports.ts'
import type { BuildSet } from './build-set.ts'
import type { LogReader } from './log-reader.ts'
import { type ProjectionBuild, positionOf } from './projection-build.ts'

/** Events of a page while builds are at different positions: laggards read longer pages than leaders, so they converge. */
const CATCH_UP_PAGE = { leading: 1_000, lagging: 4_000 } as const
const FIRST_PAGE = 1_000
const SHORTEST_PAGE = 16
/** Events of a page that are measured for its size. */
const SAMPLES = 8

/**
 * Advances the builds that are behind the log, each page read once for all builds at its position, and subscribes to
 * the tail for the others. Resolves to whether any build was behind. @throws LogUnavailable
 */
export function createCatchUp(options: {
  readonly builds: BuildSet
  readonly ports: BuildPorts
  readonly logReader: LogReader
  readonly signal: AbortSignal
  readonly pageSize?: number
  readonly pageCharacters?: number
}): (running: readonly ProjectionBuild[]) => Promise<boolean> {
  const { builds, ports, logReader, signal, pageSize = 5_000, pageCharacters = 16_000_000 } = options
  let limit = Math.min(FIRST_PAGE, pageSize)

  /** Maximum events of the next page, by the measured size of some events of this one. */
  function limitAfter({ events }: LogPage): number {
    const step = Math.max(1, Math.floor(events.length / SAMPLES))
    const sample = events.filter((_event, index) => index % step === 0)
    if (sample.length === 0) return limit
    const average = sample.reduce((sum, { data, meta }) => sum + JSON.stringify([data, meta]).length, 0) / sample.length
    return Math.max(SHORTEST_PAGE, Math.min(pageSize, Math.floor(pageCharacters / average)))
  }

  async function advanceAll(moving: readonly ProjectionBuild[]): Promise<void> {
    let left = moving.toSorted((a, b) => positionOf(a) - positionOf(b))
    const isSpread = left.at(-1)?.position !== left[0]?.position
    while (left.length > 0 && !signal.aborted) {
      const after = left[0]?.position ?? START
      const isLagging = after !== left.at(-1)?.position
      const maxEvents = isSpread ? CATCH_UP_PAGE[isLagging ? 'lagging' : 'leading'] : limit
      const page = await logReader.page(after, Math.min(limit, maxEvents))
      const members = left.filter((build) => positionOf(build) === after || positionOf(build) < page.position)
      builds.distribute(page, members)
      await Promise.all(members.map((build) => advance(ports, build, page)))
      limit = limitAfter(page)
      left = left.filter((build) => !members.includes(build))
    }
  }

  return async (running) => {
    const moving = running.filter((build) => !logReader.isCaughtUp(positionOf(build)))
    const caughtUp = running.filter((build) => !moving.includes(build))
    if (caughtUp.length > 0) logReader.subscribe(Math.max(...caughtUp.map(positionOf)))
    if (moving.length > 0) await advanceAll(moving)
    return moving.length > 0
  }
}
