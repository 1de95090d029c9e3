import { START } from '../../ports/event-log.ts'
import type { BuildPorts } from './build-ports.ts'
import { type ProjectionBuild, resetCheckpoint } from './projection-build.ts'

const STANDBY_EVERY_MS = 1_000
/** An owner without progress for this long (ms), although the log went on, counts as dead. */
const TAKE_OVER_MS = 2_000

/** Reads the build's checkpoint from the store. @throws StoreUnavailable */
export async function loadCheckpoint(
  { store, clock, report }: Pick<BuildPorts, 'store' | 'clock' | 'report'>,
  build: ProjectionBuild,
): Promise<void> {
  const checkpoint = await store.checkpoint(build.names.checkpoint)
  build.committed = checkpoint?.position ?? null
  build.position = build.committed ?? START
  build.at = checkpoint?.at ?? null
  build.committedAt = clock.now()
  report(build, [], null)
}

/** Leaves the build to the runner that has moved its checkpoint. */
export function standBy({ clock, report }: Pick<BuildPorts, 'clock' | 'report'>, build: ProjectionBuild): void {
  build.state = 'standby'
  report(build, [], null)
  resetCheckpoint(build)
  build.stillSince = null
  build.notBefore = clock.now() + STANDBY_EVERY_MS
}

/** Checks whether the runner that owns a build makes progress, and takes over when it does not. @throws StoreUnavailable, LogUnavailable */
export async function watchOwner(ports: BuildPorts, build: ProjectionBuild): Promise<void> {
  const now = ports.clock.now()
  const before = build.committed
  await loadCheckpoint(ports, build)
  const isStill = build.committed === before && (await ports.log.head()) > (build.committed ?? START)
  build.stillSince = isStill ? (build.stillSince ?? now) : null
  if (build.stillSince !== null && now - build.stillSince >= TAKE_OVER_MS) {
    build.state = 'running'
    build.stillSince = null
  } else build.notBefore = now + STANDBY_EVERY_MS
}
