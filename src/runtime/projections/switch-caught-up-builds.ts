import { flush } from './advance-lane.ts'
import { buildsOf } from './build-alias.ts'
import { isBuildComplete, readStoredBuilds, type StoredBuilds } from './build-completeness.ts'
import { switchBuild } from './build-lifecycle.ts'
import type { BuildPorts } from './build-ports.ts'
import type { ProjectionLane } from './projection-lane.ts'
import { type RebuildProgress, rebuildProgress } from './rebuild-progress.ts'

/** How often builds are compared with the active ones (ms). */
const CHECK_EVERY_MS = 250

/** The lanes of one build in this process. */
type Build = readonly [ProjectionLane, ...ProjectionLane[]]

/** The builds beside the active ones that this process works on, each by its running lanes. */
function buildingOf(lanes: readonly ProjectionLane[]): readonly Build[] {
  const byBuild = Map.groupBy(
    lanes.filter(({ building, state }) => building && state === 'running'),
    ({ group }) => group,
  )
  return [...byBuild.values()].flatMap(([first, ...others]): Build[] => (first ? [[first, ...others]] : []))
}

/** Whether whoever asked for a build switches it. */
function isHeld({ aliases }: StoredBuilds, { names, projection }: ProjectionLane): boolean {
  const alias = aliases.get(projection.name)?.alias
  return alias !== undefined && (buildsOf(alias, names.version).held ?? false)
}

const leastFar = (build: Build) => build.reduce((least, lane) => (lane.read < least.read ? lane : least))

/** Reports the progress of rebuilds, and switches those that have caught up, in whichever processes they are built. */
export function createRebuildSwitch(
  ports: BuildPorts,
  isCaughtUp: (lane: ProjectionLane) => boolean,
  onRebuild: ((progress: RebuildProgress) => void) | undefined,
) {
  const { log, store, clock } = ports
  const starts = new Map<string, { readonly position: number; readonly at: number }>()
  let checkAt = 0
  let head: number | null = null
  let isReading = false

  /** Reads the head of the log for the next check, beside the lanes' work. What fails is tried again then. */
  function readHead(): void {
    if (isReading) return
    isReading = true
    log
      .head()
      .then((position) => {
        head = position
      })
      .catch(() => undefined)
      .finally(() => {
        isReading = false
      })
  }

  /** Writes the checkpoints of a build's lanes. Resolves to whether all are stored. */
  async function flushAll(build: Build): Promise<boolean> {
    const flushed = await Promise.all(build.filter(({ busy }) => busy === null).map((lane) => flush(ports, lane)))
    return !flushed.includes(false)
  }

  /** Switches the builds that are complete up to a position. Resolves to whether any was. */
  async function switchComplete(builds: readonly Build[], position: number): Promise<boolean> {
    const caughtUp = builds.filter((build) => build.every((lane) => isCaughtUp(lane) && lane.failures === 0))
    if (caughtUp.length === 0) return false
    const flushed = await Promise.all(caughtUp.map(flushAll))
    const stored = await readStoredBuilds(store)
    const switched = caughtUp.map(async ([lane], index) => {
      if (!flushed[index] || isHeld(stored, lane)) return false
      if (!(await isBuildComplete(log, stored, lane, position))) return false
      await switchBuild(store, lane)
      return true
    })
    return (await Promise.all(switched)).includes(true)
  }

  return {
    /** When a build is compared next (ms since the epoch); null when this process works on none. */
    checkAt: (lanes: readonly ProjectionLane[]) => (buildingOf(lanes).length > 0 ? checkAt : null),
    /** Resolves to whether a build was switched. @throws LogUnavailable, StoreUnavailable */
    async switchFinished(lanes: readonly ProjectionLane[]): Promise<boolean> {
      const builds = buildingOf(lanes)
      const now = clock.now()
      for (const build of builds) {
        if (!starts.has(build[0].group)) starts.set(build[0].group, { position: leastFar(build).read, at: now })
      }
      // The next build is not measured against what was the head during this one.
      if (builds.length === 0) head = null
      if (builds.length === 0 || now < checkAt) return false
      checkAt = now + CHECK_EVERY_MS
      const headBefore = head
      readHead()
      if (headBefore === null) return false
      for (const build of builds) {
        const start = starts.get(build[0].group)
        if (start) onRebuild?.(rebuildProgress(leastFar(build), start, headBefore, now))
      }
      return switchComplete(builds, headBefore)
    },
  }
}
