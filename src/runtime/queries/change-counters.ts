/** A change as one thread reports it to another: of a projection, in these workspaces. */
export type ProjectionChange = Parameters<ChangeCounters['recordChange']>

/** Counts the writes of projections per workspace, as far as this thread knows them. Caches use them for invalidation. */
export interface ChangeCounters {
  /** Records that a projection wrote documents of these workspaces; null for any workspace, an empty list for none. */
  readonly recordChange: (projection: string, workspaces: readonly string[] | null) => void
  /** Version of what the projections hold of a workspace: changes with each change that can concern it. */
  readonly cacheVersionOf: (projections: readonly string[], workspaceId: string) => string
}

/** Creates change counters, all zero. */
export function createChangeCounters(): ChangeCounters {
  const counts = new Map<string, number>()
  const keyOf = (projection: string, workspaceId: string) => `${projection}\n${workspaceId}`
  const count = (key: string) => counts.set(key, (counts.get(key) ?? 0) + 1)
  return {
    recordChange(projection, workspaces) {
      if (workspaces?.length === 0) return
      if (workspaces === null) count(projection)
      else for (const workspaceId of workspaces) count(keyOf(projection, workspaceId))
    },
    cacheVersionOf: (projections, workspaceId) =>
      projections.map((name) => `${counts.get(name) ?? 0}.${counts.get(keyOf(name, workspaceId)) ?? 0}`).join(),
  }
}
