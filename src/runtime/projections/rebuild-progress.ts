import type { ProjectionLane } from './projection-lane.ts'

/** Progress of a rebuild. `total` is estimated by the share of log positions passed; exact where positions are dense. */
export interface RebuildProgress {
  readonly name: string
  /** Events read that concern any projection, and the expected number of them. */
  readonly done: number
  readonly total: number
  readonly perSecond: number
  /** Null before anything has been read. */
  readonly secondsLeft: number | null
}

/** Progress of a build that began at `start` (position, ms since the epoch) towards the head of the log. */
export function rebuildProgress(
  lane: ProjectionLane,
  start: { readonly position: number; readonly at: number },
  head: number,
  now: number,
): RebuildProgress {
  const done = lane.seen
  const passed = lane.read - start.position
  const share = head <= start.position ? 1 : Math.min(1, passed / (head - start.position))
  const perSecond = done / Math.max(0.001, (now - start.at) / 1_000)
  const total = share > 0 ? Math.max(done, Math.round(done / share)) : done
  return {
    name: lane.projection.name,
    done,
    total,
    perSecond,
    secondsLeft: perSecond > 0 && share > 0 ? (total - done) / perSecond : share === 1 ? 0 : null,
  }
}
