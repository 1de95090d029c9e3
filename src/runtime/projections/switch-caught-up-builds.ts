import { flush } from './advance-lane.ts'
import { buildsOf, readAlias } from './build-alias.ts'
import { isBuildComplete } from './build-completeness.ts'
import { switchBuild } from './build-lifecycle.ts'
import type { BuildPorts } from './build-ports.ts'
import type { ProjectionLane } from './projection-lane.ts'
import { type RebuildProgress, rebuildProgress } from './rebuild-progress.ts'

/** How often builds are compared with the active ones (ms). */
const CHECK_EVERY_MS = 250

/** The lanes of one build in this process. */
type Build = readonly [ProjectionLane, ...ProjectionLane[]]

/** The builds beside the active ones, each by its lanes. */
function buildingOf(lanes: readonly ProjectionLane[]): readonly Build[] {
  const byBuild = Map.groupBy(
    lanes.filter(({ building }) => building),
    ({ group }) => group,
  )
  return [...byBuild.values()].flatMap(([first, ...others]): Build[] => (first ? [[first, ...others]] : []))
}

/** Whether whoever asked for a build switches it. */
async function isHeldBy(store: BuildPorts['store'], { names, projection }: ProjectionLane): Promise<boolean> {
  const alias = await readAlias(store, projection.name)
  return alias !== null && (buildsOf(alias, names.version).held ?? false)
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

  return {
    /** When a build is compared next (ms since the epoch); null when there is none. */
    checkAt: (lanes: readonly ProjectionLane[]) => (lanes.some(({ building }) => building) ? checkAt : null),
    /** Resolves to whether a build was switched. @throws LogUnavailable, StoreUnavailable */
    async switchFinished(lanes: readonly ProjectionLane[]): Promise<boolean> {
      const running = lanes.filter(({ state }) => state === 'running')
      const now = clock.now()
      for (const build of buildingOf(running)) {
        if (!starts.has(build[0].group)) starts.set(build[0].group, { position: leastFar(build).read, at: now })
      }
      if (buildingOf(running).length === 0 || now < checkAt) return false
      const headBefore = head
      head = await log.head()
      checkAt = now + CHECK_EVERY_MS
      let isSwitched = false
      for (const build of buildingOf(running)) {
        const start = starts.get(build[0].group)
        if (start) onRebuild?.(rebuildProgress(leastFar(build), start, head, now))
        if (headBefore === null || !build.every((lane) => isCaughtUp(lane) && lane.failures === 0)) continue
        const flushed = await Promise.all(build.filter(({ busy }) => busy === null).map((lane) => flush(ports, lane)))
        if (flushed.includes(false) || (await isHeldBy(store, build[0]))) continue
        if (!(await isBuildComplete(ports, build[0], headBefore))) continue
        await switchBuild(store, build[0])
        isSwitched = true
      }
      return isSwitched
    },
  }
}
