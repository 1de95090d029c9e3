import { entityTagOf } from '../domain/configuration/entity-tags.ts'
import type { AnyProjection } from '../kernel/projection.ts'
import type { ApiResponse } from '../ports/api.ts'
import { headerNames } from '../ports/api-headers.ts'
import type { CheckpointTracker } from '../runtime/projections/checkpoint-tracker.ts'
import { READ_WAIT_MS } from '../runtime/projections/checkpoint-tracker.ts'

/** Response header of a response that the read side has not caught up with. */
export const READ_LAG_HEADER = { [headerNames.readLag]: 'true' } as const

/** The `ETag` header of a record's revision: strong, and unchanged by usage and today's figures (Supplement 1.17). */
export function etagOf(revision: number | null): Readonly<Record<string, string>> {
  return revision === null ? {} : { etag: entityTagOf(revision) }
}

/** Log position of a write, and the headers that say whether reads show it yet. */
export type ReadYourWrites = Required<Pick<ApiResponse, 'headers' | 'position'>>

/**
 * Waits until the projections that handle events of `types` have reached `position` in a partition (null: in all), for
 * READ_WAIT_MS at most; answers the `svc-read-lag` header where they have not.
 */
export async function awaitProjections(
  positions: CheckpointTracker,
  projections: readonly AnyProjection[],
  types: readonly string[],
  position: number,
  partition: number | null = null,
): Promise<ReadYourWrites> {
  const names = projections.filter(({ events }) => types.some((type) => type in events)).map(({ name }) => name)
  const isReached = await positions.waitFor(names, position, READ_WAIT_MS, partition)
  return { headers: isReached ? {} : READ_LAG_HEADER, position }
}
