import { laneOf } from '../../runtime/ownership/lane.ts'
import type { ProjectionAdvance } from './projection-advance.ts'

/** Whether another process writes projections, as far as this process's own tell. */
export interface Standby {
  readonly isRemotelyProjected: () => boolean
  readonly update: (advances: readonly Pick<ProjectionAdvance, 'names' | 'range' | 'standby'>[]) => void
}

/** Tracks whether another process writes projections: it does when this one runs none, or any of their lanes is on standby. */
export function trackStandby(projects: boolean): Standby {
  const standby = new Set<string>()
  return {
    isRemotelyProjected: () => !projects || standby.size > 0,
    update(advances) {
      for (const { names, range, standby: isStandby } of advances) {
        if (!isStandby && standby.size === 0) continue
        const lanes = names.map((name) => laneOf(name, range).key)
        for (const lane of lanes) {
          if (isStandby) standby.add(lane)
          else standby.delete(lane)
        }
      }
    },
  }
}
