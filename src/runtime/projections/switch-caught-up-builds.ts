import { flush } from './advance-build.ts'
import { switchBuild } from './build-lifecycle.ts'
import type { BuildPorts } from './build-ports.ts'
import { type ProjectionBuild, positionOf } from './projection-build.ts'
import { type RebuildProgress, rebuildProgress } from './rebuild-progress.ts'

/** Reports the progress of rebuilds, and switches those that have caught up. */
export function createRebuildSwitch(
  ports: BuildPorts,
  isCaughtUp: (build: ProjectionBuild) => boolean,
  onRebuild: ((progress: RebuildProgress) => void) | undefined,
) {
  const { log, store, clock } = ports
  const starts = new Map<ProjectionBuild, { readonly position: number; readonly at: number }>()
  return {
    /** Remembers where and when a rebuild began in this process. */
    track(build: ProjectionBuild, now: number): void {
      if (build.building && !starts.has(build)) starts.set(build, { position: positionOf(build), at: now })
    },
    /** Resolves to whether a build was switched. @throws LogUnavailable, StoreUnavailable */
    async switchFinished(builds: readonly ProjectionBuild[]): Promise<boolean> {
      const building = builds.filter((build) => build.building && build.position !== null && build.state === 'running')
      if (building.length === 0) return false
      const head = await log.head()
      let isSwitched = false
      for (const build of building) {
        const start = starts.get(build)
        if (start) onRebuild?.(rebuildProgress(build, start, head, clock.now()))
        if (!isCaughtUp(build) || build.failures > 0) continue
        if (!(await flush(ports, build, true))) continue
        await switchBuild(store, build, clock.now())
        isSwitched = true
      }
      return isSwitched
    },
  }
}
