import { isRefusal } from '../../kernel/refusal.ts'
import type { CheckpointTracker } from '../projections/checkpoint-tracker.ts'
import type { QueryResponse, QueryRunner } from './query-runner.ts'

/** An answer as it is kept. */
interface CacheEntry<Answer> {
  readonly answer: Answer
  /** What it was made of, as `moves` tells it. */
  readonly version: string
  /** Until when it may be given again (ms). */
  readonly until: number
}

/** Answers that are given again for as long as what they were made of has not moved. */
export interface ResponseCache<Answer> {
  readonly get: (key: string, stamp: string, now: number) => Answer | null
  readonly set: (key: string, stamp: string, now: number, answer: Answer) => void
}

/** Figures by the hour, the day and the month change at quarters of an hour, wherever the zone (ms). */
const QUARTER_MS = 15 * 60_000
/** Figures over the last thirty days may be so late in forgetting a call (ms). */
const LIFE_MS = 5_000

/** Keeps answers of so many bytes at least, and twice as many at most. */
export function createResponseCache<Answer>(bytes: number, sizeOf: (answer: Answer) => number): ResponseCache<Answer> {
  let newer = new Map<string, CacheEntry<Answer>>()
  let older = new Map<string, CacheEntry<Answer>>()
  let held = 0
  return {
    get(key, version, now) {
      const kept = newer.get(key) ?? older.get(key)
      return kept && kept.version === version && now < kept.until ? kept.answer : null
    },
    set(key, version, now, answer) {
      const until = Math.min(now + LIFE_MS, (Math.floor(now / QUARTER_MS) + 1) * QUARTER_MS)
      newer.set(key, { answer, version, until })
      held += sizeOf(answer)
      if (held < bytes) return
      older = newer
      newer = new Map()
      held = 0
    },
  }
}

/** Bytes of answers that are kept at least. */
const CACHE_BYTES = 16 * 1024 * 1024

/**
 * Gives answers of a runner again without asking it, for as long as what they were made of has not moved. `steady` are
 * the queries whose answers hold nothing else, with the projections that they read.
 */
export function withResponseCache(
  runner: QueryRunner,
  options: {
    readonly cacheable: ReadonlyMap<string, readonly string[]>
    readonly positions: Pick<CheckpointTracker, 'lowestOf'>
    readonly cacheVersionOf: (projections: readonly string[], workspaceId: string) => string
  },
): QueryRunner {
  const { cacheable, positions, cacheVersionOf: stampOf } = options
  const kept = createResponseCache<QueryResponse>(CACHE_BYTES, ({ bytes }) => bytes.byteLength)
  return {
    async run(ask) {
      const { minPosition, now, events, ...asked } = ask
      const names = cacheable.get(ask.name)
      const position = names ? positions.lowestOf(names) : null
      if (!names || (minPosition !== null && (position === null || position < minPosition))) return runner.run(ask)
      // Taken before it is asked: what moves from here on makes another stamp.
      const stamp = stampOf(names, ask.tenant.workspaceId)
      const key = JSON.stringify(asked)
      const known = kept.get(key, stamp, Date.parse(now))
      if (known) return { ...known, position }
      const answer = await runner.run(ask)
      if (!isRefusal(answer) && !answer.lag) kept.set(key, stamp, Date.parse(now), answer)
      return answer
    },
  }
}

/**
 * Asks once for all who ask the same in one turn of the event loop: they were all there before the reading begins. What
 * the asker has just done is its own question.
 */
export function withSingleFlight(runner: QueryRunner): QueryRunner {
  const asking = new Map<string, ReturnType<QueryRunner['run']>>()
  return {
    run(ask) {
      if (ask.events?.length) return runner.run(ask)
      const key = JSON.stringify(ask)
      const others = asking.get(key)
      if (others) return others
      if (asking.size === 0) setImmediate(() => asking.clear())
      const answer = runner.run(ask)
      asking.set(key, answer)
      return answer
    },
  }
}

/** A move as one process tells it to another: of a projection, in these workspaces. */
export type ProjectionChange = Parameters<ChangeCounters['recordChange']>

/** What has moved in the documents of each workspace, as far as this process is told. */
export interface ChangeCounters {
  /** Tells that a projection wrote documents of these workspaces; null for any of them, none at all for an empty list. */
  readonly recordChange: (projection: string, workspaces: readonly string[] | null) => void
  /** Grows whenever the projection writes documents of any workspace. */
  readonly countOf: (projection: string) => number
  /** Changes whenever one of the projections writes documents of the workspace. */
  readonly cacheVersionOf: (projections: readonly string[], workspaceId: string) => string
}

/** Counts moves by projection and workspace. */
export function createChangeCounters(): ChangeCounters {
  const all = new Map<string, number>()
  const counts = new Map<string, number>()
  const keyOf = (projection: string, workspaceId: string) => `${projection}\n${workspaceId}`
  const count = (key: string) => counts.set(key, (counts.get(key) ?? 0) + 1)
  return {
    countOf: (projection) => all.get(projection) ?? 0,
    recordChange(projection, workspaces) {
      if (workspaces?.length === 0) return
      all.set(projection, (all.get(projection) ?? 0) + 1)
      if (workspaces === null) count(projection)
      else for (const workspaceId of workspaces) count(keyOf(projection, workspaceId))
    },
    cacheVersionOf: (projections, workspaceId) =>
      projections.map((name) => `${counts.get(name) ?? 0}.${counts.get(keyOf(name, workspaceId)) ?? 0}`).join(),
  }
}
