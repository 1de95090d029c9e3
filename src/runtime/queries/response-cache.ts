import { LRUCache } from 'lru-cache'
import { partitionOf } from '../../kernel/partition.ts'
import { isRefusal } from '../../kernel/refusal.ts'
import type { CheckpointTracker } from '../projections/checkpoint-tracker.ts'
import type { QueryResponse, QueryRunner } from './query-runner.ts'

/** A cached response, the version of the documents that it was made from, and when it expires (ms since the epoch). */
interface CacheEntry<Response> {
  readonly response: Response
  readonly version: string
  readonly expiresAt: number
}

/** Responses by key and version. Instants are ms since the epoch. */
export interface ResponseCache<Response> {
  readonly get: (key: string, version: string, now: number) => Response | null
  readonly set: (key: string, version: string, now: number, response: Response) => void
}

/** Figures by hour, day and month change at quarters of an hour, in any time zone (ms). */
const QUARTER_MS = 15 * 60_000
/** Maximum age of a response (ms): figures over the last thirty days drop a call at most this late. */
const TTL_MS = 5_000

/** Creates a cache that holds at most `maxBytes`, evicting the least recently used response first. */
export function createResponseCache<Response>(
  maxBytes: number,
  sizeOf: (response: Response) => number,
): ResponseCache<Response> {
  const entries = new LRUCache<string, CacheEntry<Response>>({
    maxSize: maxBytes,
    sizeCalculation: ({ response }) => Math.max(1, sizeOf(response)),
  })
  return {
    get(key, version, now) {
      const entry = entries.get(key)
      return entry && entry.version === version && now < entry.expiresAt ? entry.response : null
    },
    set(key, version, now, response) {
      const expiresAt = Math.min(now + TTL_MS, (Math.floor(now / QUARTER_MS) + 1) * QUARTER_MS)
      entries.set(key, { response, version, expiresAt })
    },
  }
}

/** Version of what projections hold of a workspace, where another process writes them: how far its partition has come. */
export function positionsVersionOf(
  positions: Pick<CheckpointTracker, 'positionOf'>,
  projections: readonly string[],
  workspaceId: string,
): string {
  const partition = partitionOf(workspaceId)
  return projections.map((name) => positions.positionOf(name, partition)).join()
}

const MAX_BYTES = 32 * 1024 * 1024

/**
 * Query-runner decorator: returns the cached response of an identical query while the documents that it was made from
 * have not changed. `cacheable` has the queries whose responses depend on nothing else, with the projections that they
 * read; `cacheVersionOf` changes when those projections change in the workspace, and is null while nobody knows.
 */
export function withResponseCache(
  runner: QueryRunner,
  options: {
    readonly cacheable: ReadonlyMap<string, readonly string[]>
    readonly positions: Pick<CheckpointTracker, 'lowestOf'>
    readonly cacheVersionOf: (projections: readonly string[], workspaceId: string) => string | null
  },
): QueryRunner {
  const { cacheable, positions, cacheVersionOf } = options
  const cache = createResponseCache<QueryResponse>(MAX_BYTES, ({ bytes }) => bytes.byteLength)
  return {
    async run(request) {
      const { minPosition, now, events, ...identity } = request
      const projections = cacheable.get(request.name)
      const position = projections ? positions.lowestOf(projections) : null
      if (!projections || (minPosition !== null && (position === null || position < minPosition))) {
        return runner.run(request)
      }
      // Read before the query runs: a change during the run makes the stored version outdated.
      const version = cacheVersionOf(projections, request.tenant.workspaceId)
      if (version === null) return runner.run(request)
      const key = JSON.stringify(identity)
      const cached = cache.get(key, version, Date.parse(now))
      if (cached) return { ...cached, position }
      const response = await runner.run(request)
      if (!isRefusal(response) && !response.lag) cache.set(key, version, Date.parse(now), response)
      return response
    },
  }
}
