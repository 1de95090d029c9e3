import { capCounters } from '../../projections/routing/cap-counters.ts'
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
