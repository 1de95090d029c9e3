import { LRUCache } from 'lru-cache'
import { partitionOf } from '../../kernel/partition.ts'
import { START } from '../../ports/event-log.ts'
import type { CheckpointTracker } from '../projections/checkpoint-tracker.ts'
import type { QueryRunner } from './query-runner.ts'

/** Positions of the writes that were answered before the projections had folded them. */
export interface AcknowledgedWrites {
  /** Records that a write of a workspace is answered, with the position of its last event. */
  readonly add: (workspaceId: string, position: number) => void
  /** The position that a read of a workspace (empty: of any) must reflect; null for none. */
  readonly awaited: (workspaceId: string) => number | null
}

/** Workspaces whose writes are remembered. A write is folded within milliseconds, so at any moment there are a few. */
const MAX_WORKSPACES = 10_000

/**
 * Creates the acknowledged writes of a process; one that all of these projections have folded is forgotten. `head`: the position
 * of the log's newest event at the start, since a process that was killed may have answered all up to there.
 */
export function createAcknowledgedWrites(
  positions: Pick<CheckpointTracker, 'lowestOf'>,
  projections: readonly string[],
  head: number,
): AcknowledgedWrites {
  const byWorkspace = new LRUCache<string, number>({ max: MAX_WORKSPACES })
  let highest = head
  let startPosition: number | null = head
  const isFolded = (position: number, partition: number | null) =>
    (positions.lowestOf(projections, partition) ?? position) >= position

  /** The acknowledged position of a workspace alone; null for none. */
  function ownPosition(workspaceId: string): number | null {
    const position = byWorkspace.peek(workspaceId)
    if (position === undefined) return null
    if (!isFolded(position, partitionOf(workspaceId))) return position
    byWorkspace.delete(workspaceId)
    return null
  }

  return {
    add(workspaceId, position) {
      byWorkspace.set(workspaceId, Math.max(position, byWorkspace.peek(workspaceId) ?? position))
      highest = Math.max(highest, position)
    },
    awaited(workspaceId) {
      if (startPosition !== null && isFolded(startPosition, null)) startPosition = null
      if (workspaceId !== '') return ownPosition(workspaceId) ?? startPosition
      return byWorkspace.size > 0 ? highest : startPosition
    },
  }
}

/**
 * Query-runner decorator: every query of a workspace reflects the acknowledged writes of it. A query about what its requester has
 * just written may be answered before the projections have folded that, where `isAllowed`: where all that reads what events of
 * these types change waits for acknowledged writes.
 */
export function withAcknowledgedWrites(
  runner: QueryRunner,
  { awaited }: Pick<AcknowledgedWrites, 'awaited'>,
  isAllowed: (types: readonly string[]) => boolean,
): QueryRunner {
  return {
    async run(request) {
      const { minPosition, events = [] } = request
      const { workspaceId } = request.tenant
      const position = awaited(workspaceId) ?? START
      if (position > (minPosition ?? START)) return runner.run({ ...request, minPosition: position })
      const isOwn = workspaceId !== '' && events.every(({ meta }) => meta.workspaceId === workspaceId)
      const mayBeAhead = events.length > 0 && isOwn && isAllowed(events.map(({ type }) => type))
      return runner.run(mayBeAhead ? { ...request, mayBeAhead } : request)
    },
  }
}
