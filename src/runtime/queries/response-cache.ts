import { isRefusal } from '../../kernel/refusal.ts'
import type { Positions } from '../projections/checkpoint-tracker.ts'
import type { Answered, QueryRunner } from './query-runner.ts'

/** An answer as it is kept. */
interface Kept<Answer> {
  readonly answer: Answer
  /** What it was made of, as `moves` tells it. */
  readonly stamp: string
  /** Until when it may be given again (ms). */
  readonly until: number
}

/** Answers that are given again for as long as what they were made of has not moved. */
export interface KeptAnswers<Answer> {
  readonly of: (key: string, stamp: string, now: number) => Answer | null
  readonly keep: (key: string, stamp: string, now: number, answer: Answer) => void
}

/** Figures by the hour, the day and the month change at quarters of an hour, wherever the zone (ms). */
const QUARTER_MS = 15 * 60_000
/** Figures over the last thirty days may be so late in forgetting a call (ms). */
const LIFE_MS = 5_000

/** Keeps answers of so many bytes at least, and twice as many at most. */
export function keptAnswers<Answer>(bytes: number, sizeOf: (answer: Answer) => number): KeptAnswers<Answer> {
  let newer = new Map<string, Kept<Answer>>()
  let older = new Map<string, Kept<Answer>>()
  let held = 0
  return {
    of(key, stamp, now) {
      const kept = newer.get(key) ?? older.get(key)
      return kept && kept.stamp === stamp && now < kept.until ? kept.answer : null
    },
    keep(key, stamp, now, answer) {
      const until = Math.min(now + LIFE_MS, (Math.floor(now / QUARTER_MS) + 1) * QUARTER_MS)
      newer.set(key, { answer, stamp, until })
      held += sizeOf(answer)
      if (held < bytes) return
      older = newer
      newer = new Map()
      held = 0
    },
  }
}

/** Bytes of answers that are kept at least. */
const KEPT_BYTES = 16 * 1024 * 1024

/**
 * Gives answers of a runner again without asking it, for as long as what they were made of has not moved. `steady` are
 * the queries whose answers hold nothing else, with the projections that they read.
 */
export function keeping(
  runner: QueryRunner,
  options: {
    readonly steady: ReadonlyMap<string, readonly string[]>
    readonly positions: Pick<Positions, 'least'>
    readonly stampOf: (projections: readonly string[], workspaceId: string) => string
  },
): QueryRunner {
  const { steady, positions, stampOf } = options
  const kept = keptAnswers<Answered>(KEPT_BYTES, ({ bytes }) => bytes.byteLength)
  return {
    async ask(ask) {
      const { minPosition, now, events, ...asked } = ask
      const names = steady.get(ask.name)
      const position = names ? positions.least(names) : null
      if (!names || (minPosition !== null && (position === null || position < minPosition))) return runner.ask(ask)
      // Taken before it is asked: what moves from here on makes another stamp.
      const stamp = stampOf(names, ask.tenant.workspaceId)
      const key = JSON.stringify(asked)
      const known = kept.of(key, stamp, Date.parse(now))
      if (known) return { ...known, position }
      const answer = await runner.ask(ask)
      if (!isRefusal(answer) && !answer.lag) kept.keep(key, stamp, Date.parse(now), answer)
      return answer
    },
  }
}

/**
 * Asks once for all who ask the same in one turn of the event loop: they were all there before the reading begins. What
 * the asker has just done is its own question.
 */
export function together(runner: QueryRunner): QueryRunner {
  const asking = new Map<string, ReturnType<QueryRunner['ask']>>()
  return {
    ask(ask) {
      if (ask.events?.length) return runner.ask(ask)
      const key = JSON.stringify(ask)
      const others = asking.get(key)
      if (others) return others
      if (asking.size === 0) setImmediate(() => asking.clear())
      const answer = runner.ask(ask)
      asking.set(key, answer)
      return answer
    },
  }
}

/** A move as one process tells it to another: of a projection, in these workspaces. */
export type Move = Parameters<Moves['moved']>

/** What has moved in the documents of each workspace, as far as this process is told. */
export interface Moves {
  /** Tells that a projection wrote documents of these workspaces; null for any of them, none at all for an empty list. */
  readonly moved: (projection: string, workspaces: readonly string[] | null) => void
  /** Grows whenever the projection writes documents of any workspace. */
  readonly of: (projection: string) => number
  /** Changes whenever one of the projections writes documents of the workspace. */
  readonly stampOf: (projections: readonly string[], workspaceId: string) => string
}

/** Counts moves by projection and workspace. */
export function createMoves(): Moves {
  const all = new Map<string, number>()
  const counts = new Map<string, number>()
  const keyOf = (projection: string, workspaceId: string) => `${projection}\n${workspaceId}`
  const count = (key: string) => counts.set(key, (counts.get(key) ?? 0) + 1)
  return {
    of: (projection) => all.get(projection) ?? 0,
    moved(projection, workspaces) {
      if (workspaces?.length === 0) return
      all.set(projection, (all.get(projection) ?? 0) + 1)
      if (workspaces === null) count(projection)
      else for (const workspaceId of workspaces) count(keyOf(projection, workspaceId))
    },
    stampOf: (projections, workspaceId) =>
      projections.map((name) => `${counts.get(name) ?? 0}.${counts.get(keyOf(name, workspaceId)) ?? 0}`).join(),
  }
}
