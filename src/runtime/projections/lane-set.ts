import type { AnyProjection } from '../../kernel/projection.ts'
import type { Clock } from '../../ports/clock.ts'
import type { LogPage } from '../../ports/event-log.ts'
import type { ReadStore } from '../../ports/read-store.ts'
import { ARRIVING_MS, createPause } from '../lanes/pause-work.ts'
import { isNewTo, type PauseWork } from '../lanes/running-lane.ts'
import type { LaneGroup } from '../ownership/lane.ts'
import type { StoredAlias } from './build-alias.ts'
import { syncAliases } from './build-lifecycle.ts'
import { collectionSpec, groupOf, lanesFor, type ProjectionLane } from './projection-lane.ts'
import { createBuildCleaner, type VersionsRead } from './unread-builds.ts'

const REFRESH_EVERY_MS = 1_000

/** The lanes of the builds that a runner folds, as the aliases name them. */
export interface LaneSet {
  readonly all: () => readonly ProjectionLane[]
  readonly groups: () => readonly LaneGroup[]
  /** Reads the aliases when that is due: adds and removes builds, drops those that nobody reads. @throws StoreUnavailable */
  readonly refresh: (now: number) => Promise<void>
  /** Makes the next `refresh` due. */
  readonly expire: () => void
  /** When the next `refresh` is due (ms since the epoch; 0 when it has expired). */
  readonly refreshAt: () => number
  /** Puts each event of a page into the inbox of every member that it concerns and that is behind it. */
  readonly distribute: (page: LogPage, members: readonly ProjectionLane[]) => void
}

/** Creates the set of lanes of projections; empty until the first `refresh`. */
export function createLaneSet(options: {
  readonly store: ReadStore
  readonly clock: Clock
  readonly signal: AbortSignal
  readonly projections: readonly AnyProjection[]
  /** Into how many ranges the partitions are cut. */
  readonly shards: number
  /** Names of projections whose builds get an index on the documents' positions. */
  readonly indexedByPosition: ReadonlySet<string>
  /** Called with the lanes of each refresh. @throws StoreUnavailable */
  readonly onRefresh: (lanes: readonly ProjectionLane[]) => Promise<void>
  /** The versions that living processes read; null where it is not known. @throws StoreUnavailable */
  readonly versionsRead: () => Promise<VersionsRead | null>
  /** Called with the name of the checkpoints of a build that was dropped. @throws StoreUnavailable */
  readonly onDrop: (checkpoint: string) => Promise<void>
  /** Called when a refresh has become due. */
  readonly onExpiry: () => void
}): LaneSet {
  const { store, clock, signal, projections, shards, indexedByPosition, onRefresh, onDrop, onExpiry } = options
  const cleanBuilds = createBuildCleaner(store, options.versionsRead)
  let lanes: readonly ProjectionLane[] = []
  let groups: readonly LaneGroup[] = []
  let byEventType: ReadonlyMap<string, readonly ProjectionLane[]> = new Map()
  let refreshAt = 0
  let cleaning: Promise<void> | null = null
  /** Collections of builds that exist, with their indexes. */
  const ensured = new Set<string>()
  let ensuring: Promise<void> | null = null

  /** Drops builds beside the lanes' work, since it may take long. What fails is tried again at the next refresh. */
  function clean(aliases: readonly StoredAlias[], now: number): void {
    const drop = async () => {
      for (const { checkpoint } of await cleanBuilds(aliases, now)) await onDrop(checkpoint)
    }
    if (cleaning) return
    cleaning = drop()
      .catch(() => undefined)
      .finally(() => {
        cleaning = null
      })
  }

  function expire(): void {
    refreshAt = 0
    onExpiry()
  }

  /** Creates the collections of builds, with their indexes: all at once, or one after the other with pauses. @throws StoreUnavailable */
  async function ensure(some: readonly ProjectionLane[], pause: PauseWork | null = null): Promise<void> {
    const builds = new Map(some.map((lane) => [lane.names.collection, lane]))
    const specs = [...builds.values()].map((lane) => collectionSpec(lane, indexedByPosition.has(lane.projection.name)))
    for (const turn of pause ? specs.map((spec) => [spec]) : [specs]) {
      if (turn.length > 0) await store.ensure(turn)
      for (const { name } of turn) ensured.add(name)
      await pause?.()
    }
  }

  /** Whether an event that was recorded lately has been read. */
  const isArriving = () =>
    lanes.some(({ building, at }) => !building && at !== null && clock.now() - Date.parse(at) < ARRIVING_MS)

  /** The same beside the lanes' work, with pauses while live events arrive. What fails is tried again at the next refresh. */
  function ensureAside(some: readonly ProjectionLane[]): void {
    if (ensuring) return
    const pause = isArriving() ? createPause(clock, signal, () => 1) : null
    ensuring = ensure(some, pause)
      .then(expire, () => undefined)
      .finally(() => {
        ensuring = null
      })
  }

  /** The new ones of some lanes that can begin. Builds beside others are created beside their work, and begin later. */
  async function prepare(fresh: readonly ProjectionLane[]): Promise<readonly ProjectionLane[]> {
    const isWaiting = ({ replaces, names }: ProjectionLane) => replaces && !ensured.has(names.collection)
    const waiting = fresh.filter(isWaiting)
    if (waiting.length > 0) ensureAside(waiting)
    const ready = fresh.filter((lane) => !isWaiting(lane))
    await ensure(ready.filter(({ replaces }) => !replaces))
    return ready
  }

  async function refreshLanes(now: number): Promise<void> {
    const aliases = new Map((await syncAliases(store, projections)).map((alias) => [alias.name, alias]))
    const needed = projections.flatMap((projection) => {
      const alias = aliases.get(projection.name)
      return alias ? lanesFor(projection, alias, lanes, shards) : []
    })
    const known = needed.filter((lane) => lanes.includes(lane))
    const fresh = await prepare(needed.filter((lane) => !known.includes(lane)))
    const next = needed.filter((lane) => known.includes(lane) || fresh.includes(lane))
    if (fresh.length > 0 || next.length !== lanes.length) {
      byEventType = lanesByEventType(next)
      groups = groupsOf(next, shards)
    }
    lanes = next
    await onRefresh(lanes)
    clean([...aliases.values()], now)
  }

  return {
    all: () => lanes,
    groups: () => groups,
    refreshAt: () => refreshAt,
    expire,
    async refresh(now) {
      if (now < refreshAt) return
      // What expires during this refresh stays due.
      refreshAt = now + REFRESH_EVERY_MS
      try {
        await refreshLanes(now)
      } catch (error) {
        refreshAt = 0
        throw error
      }
    },
    distribute(page, members) {
      const taking = new Set(members)
      const takesAll = taking.size === lanes.length
      for (const event of page.events) {
        const concerned = byEventType.get(event.type)
        if (!concerned) continue
        for (const lane of concerned) {
          if ((takesAll || taking.has(lane)) && isNewTo(lane, event)) lane.inbox.push(event)
        }
      }
    },
  }
}

/** What some lanes are lanes of. */
function groupsOf(lanes: readonly ProjectionLane[], shards: number): readonly LaneGroup[] {
  const byName = new Map(lanes.map((lane) => [lane.names.checkpoint, lane]))
  return [...byName.values()].map(({ projection, names }) => groupOf(projection, names, shards))
}

function lanesByEventType(lanes: readonly ProjectionLane[]): ReadonlyMap<string, readonly ProjectionLane[]> {
  const byType = new Map<string, ProjectionLane[]>()
  for (const lane of lanes) {
    for (const type of Object.keys(lane.projection.events)) {
      const others = byType.get(type)
      if (others) others.push(lane)
      else byType.set(type, [lane])
    }
  }
  return byType
}
