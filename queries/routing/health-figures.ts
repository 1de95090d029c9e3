import { capCounters } from '../../projections/routing/cap-counters.ts'
import { OVERVIEW } from '../../src/domain/shared/limits.ts'
import type { Filter, ReadStore } from '../../src/ports/read-store.ts'
import { readAll } from '../shared/documents.ts'

const KIND = 'target:'

/** Filter for targets of a health; a target without a finished dial is `unknown`. */
export async function healthFilter(views: ReadStore, workspaceId: string, health: string): Promise<Filter> {
  const unknown = health === 'unknown'
  const known = unknown ? { $nin: [null, health] } : health
  const counted = await readAll(views, capCounters, { filter: { workspaceId, 'health.health': known } })
  const ids = counted.filter(({ id }) => id.startsWith(KIND)).map(({ id }) => id.slice(KIND.length))
  return { targetId: unknown ? { $nin: ids } : { $in: ids } }
}

/** How targets stand after failed dials. */
export interface FailingTarget {
  readonly health: 'degraded' | 'down'
  /** Whether calls pass it over at the moment. */
  readonly suppressed: boolean
}

/** The targets of a workspace whose last dials failed, by id: at most `OVERVIEW.records` of each health. */
export async function failingTargets(
  views: Pick<ReadStore, 'find'>,
  workspaceId: string,
  now: string,
): Promise<ReadonlyMap<string, FailingTarget>> {
  const found = await Promise.all(
    (['down', 'degraded'] as const).map(async (health) => {
      const filter = { workspaceId, 'health.health': health }
      const counted = await readAll(views, capCounters, { filter, limit: OVERVIEW.records })
      return counted.map(({ id, health: stored }): readonly [string, FailingTarget] => {
        const until = stored?.suppressedUntil ?? null
        return [id.slice(KIND.length), { health, suppressed: until !== null && until > now }]
      })
    }),
  )
  return new Map(found.flat())
}
