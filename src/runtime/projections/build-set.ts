import type { AnyProjection } from '../../kernel/projection.ts'
import type { LogPage } from '../../ports/event-log.ts'
import type { ReadStore } from '../../ports/read-store.ts'
import { ensureAliases } from './build-alias.ts'
import { dropRetiredBuilds, syncAliases } from './build-lifecycle.ts'
import { buildsFor, collectionSpec, type ProjectionBuild, positionOf } from './projection-build.ts'

const REFRESH_EVERY_MS = 1_000

/** The builds that a runner folds, as the aliases name them. */
export interface BuildSet {
  readonly all: () => readonly ProjectionBuild[]
  /** Reads the aliases when that is due: adds and removes builds, drops retired ones. @throws StoreUnavailable */
  readonly refresh: (now: number) => Promise<void>
  /** Makes the next `refresh` due. */
  readonly expire: () => void
  /** When the next `refresh` is due (ms since the epoch; 0 when it has expired). */
  readonly refreshAt: () => number
  /** Puts each event of a page into the inbox of every member that it concerns and that is behind it. */
  readonly distribute: (page: LogPage, members: readonly ProjectionBuild[]) => void
}

/** Creates the set of builds of projections; empty until the first `refresh`. */
export function createBuildSet(options: {
  readonly store: ReadStore
  readonly projections: readonly AnyProjection[]
  /** Names of projections whose builds get an index on the documents' positions. */
  readonly indexedByPosition: ReadonlySet<string>
  /** Called with the builds of each refresh. */
  readonly onRefresh: (builds: readonly ProjectionBuild[]) => void
}): BuildSet {
  const { store, projections, indexedByPosition, onRefresh } = options
  let builds: readonly ProjectionBuild[] = []
  let byEventType: ReadonlyMap<string, readonly ProjectionBuild[]> = new Map()
  let refreshAt = 0

  return {
    all: () => builds,
    refreshAt: () => refreshAt,
    expire() {
      refreshAt = 0
    },
    async refresh(now) {
      if (now < refreshAt) return
      await ensureAliases(store)
      const aliases = new Map((await syncAliases(store, projections, now)).map((alias) => [alias.name, alias]))
      const next = projections.flatMap((projection) => {
        const alias = aliases.get(projection.name)
        return alias ? buildsFor(projection, alias, builds) : []
      })
      const fresh = next.filter((build) => !builds.includes(build))
      if (fresh.length > 0) {
        await store.ensure(fresh.map((build) => collectionSpec(build, indexedByPosition.has(build.projection.name))))
      }
      if (fresh.length > 0 || next.length !== builds.length) byEventType = buildsByEventType(next)
      builds = next
      onRefresh(builds)
      for (const alias of aliases.values()) await dropRetiredBuilds(store, alias, now)
      refreshAt = now + REFRESH_EVERY_MS
    },
    distribute(page, members) {
      const taking = new Set(members)
      const takesAll = taking.size === builds.length
      for (const event of page.events) {
        const concerned = byEventType.get(event.type)
        if (!concerned) continue
        for (const build of concerned) {
          if ((takesAll || taking.has(build)) && event.position > positionOf(build)) build.inbox.push(event)
        }
      }
    },
  }
}

function buildsByEventType(builds: readonly ProjectionBuild[]): ReadonlyMap<string, readonly ProjectionBuild[]> {
  const byType = new Map<string, ProjectionBuild[]>()
  for (const build of builds) {
    for (const type of Object.keys(build.projection.events)) {
      const others = byType.get(type)
      if (others) others.push(build)
      else byType.set(type, [build])
    }
  }
  return byType
}
