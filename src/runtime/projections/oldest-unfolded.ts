import { isWhole } from '../../kernel/partition.ts'
import type { AnyProjection } from '../../kernel/projection.ts'
import type { Clock } from '../../ports/clock.ts'
import type { EventLog } from '../../ports/event-log.ts'
import { type LogFilter, matchesFilter } from '../../ports/log-filter.ts'
import type { BuildLane, BuildProgress } from './projection-progress.ts'

/** Events that are read at once for the builds that are late, and pages that are read at most. */
const PAGE = 200
const MAX_PAGES = 20

interface UnfoldedPorts {
  readonly log: Pick<EventLog, 'readAll'>
  readonly clock: Pick<Clock, 'now'>
}

type Lane = Pick<BuildLane, 'range' | 'position'>

const typesOf = (projections: readonly Pick<AnyProjection, 'events'>[]) =>
  new Set(projections.flatMap(({ events }) => Object.keys(events)))

/** What of the log concerns a lane of a build. */
const filterOf = (types: ReadonlySet<string>, { range }: Lane): LogFilter =>
  isWhole(range) ? { types } : { types, partitions: range }

const ageOf = ({ clock }: UnfoldedPorts, { meta }: { readonly meta: { readonly at: string } }) =>
  Math.max(0, clock.now() - Date.parse(meta.at))

/** Age (ms) of the first event after a position that a filter has; null for none. @throws LogUnavailable */
async function ageAfter(ports: UnfoldedPorts, position: number, filter: LogFilter): Promise<number | null> {
  let after = position
  for (let pages = 0; pages < MAX_PAGES; pages++) {
    const page = await ports.log.readAll(after, 1, filter)
    const [oldest] = page.events
    if (oldest) return ageOf(ports, oldest)
    if (page.end) return null
    after = page.position
  }
  return null
}

/** Age (ms) of the oldest event that a build has not folded yet; null where it has folded all. @throws LogUnavailable */
export async function oldestUnfolded(
  ports: UnfoldedPorts,
  projection: Pick<AnyProjection, 'events'>,
  { lanes }: { readonly lanes: readonly Lane[] },
): Promise<number | null> {
  const types = typesOf([projection])
  const ages = await Promise.all(lanes.map((lane) => ageAfter(ports, lane.position, filterOf(types, lane))))
  const known = ages.filter((age) => age !== null)
  return known.length === 0 ? null : Math.max(...known)
}

/** A projection and the build of it that is read. */
export interface FoldedBuild {
  readonly projection: Pick<AnyProjection, 'name' | 'events'>
  readonly build: Pick<BuildProgress, 'lanes'>
}

/**
 * The builds that have not folded an event older than a limit (ms), by the name of their projection, with the age of the oldest.
 * Reads the log once, from the build that has come least far until events are younger; of a long backlog, its first pages alone.
 * @throws LogUnavailable
 */
export async function lateBuilds(
  ports: UnfoldedPorts,
  builds: readonly FoldedBuild[],
  limitMs: number,
): Promise<ReadonlyMap<string, number>> {
  const late = new Map<string, number>()
  const lanes = builds.flatMap(({ projection, build }) => {
    const types = typesOf([projection])
    return build.lanes.map((lane) => ({ name: projection.name, after: lane.position, filter: filterOf(types, lane) }))
  })
  const types = typesOf(builds.map(({ projection }) => projection))
  let after = Math.min(...lanes.map((lane) => lane.after))
  for (let pages = 0; pages < MAX_PAGES && late.size < builds.length; pages++) {
    const page = await ports.log.readAll(after, PAGE, { types })
    for (const event of page.events) {
      const age = ageOf(ports, event)
      if (age <= limitMs) return late
      for (const lane of lanes)
        if (!late.has(lane.name) && event.position > lane.after && matchesFilter(lane.filter, event))
          late.set(lane.name, age)
    }
    if (page.end) break
    after = page.position
  }
  return late
}
