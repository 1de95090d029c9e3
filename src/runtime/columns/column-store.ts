import { createMutex } from '../../kernel/async/mutex.ts'
import type { Clock } from '../../ports/clock.ts'
import { type Files, FilesUnavailable } from '../../ports/files.ts'
import type { Random } from '../../ports/random.ts'
import type { Filter, ReadStore } from '../../ports/read-store.ts'
import { delegate } from '../projections/delegate-store.ts'
import { createSegmentBuilder, type SegmentBuilder } from './build-part.ts'
import { type Collections, createCollections } from './column-collections.ts'
import { createColumnMemory } from './column-memory.ts'
import { COLUMN_LIMITS, type ColumnLimits, type ColumnSpec } from './column-spec.ts'
import type { Group } from './column-sum.ts'
import { splitWorkspace, termsOf } from './column-terms.ts'
import { type Question, type QuestionPaths, questionOf } from './question.ts'
import { createSegmentReader, DamagedSegment } from './segment.ts'
import { createStoreIdentity } from './store-identity.ts'
import { sumWorkspace } from './sum-segments.ts'
import { bytesOfWorkspace, type WorkspaceColumns } from './workspace-columns.ts'

/** A read store that answers sums and counts from columns where possible. */
export interface ColumnStore extends ReadStore {
  /** Bytes that the columns hold in memory. */
  readonly columnBytes: () => number
  /** Resolves when no segments are being written. */
  readonly settled: () => Promise<void>
}

/** What the columns are kept with. */
export interface ColumnParts {
  readonly specs: readonly ColumnSpec[]
  readonly files: Files
  readonly clock: Pick<Clock, 'now'>
  readonly random: Pick<Random, 'seed'>
  /** Change count of a projection in a workspace; null when unknown (default): then the store is read before each answer. */
  readonly changesOf?: (projection: string, workspaceId: string) => number | string | null
  readonly limits?: ColumnLimits
  /** Builds segments from nothing; in the calling thread by default. */
  readonly builder?: SegmentBuilder
}

/** Answers of damaged segments until the store is asked: each makes the columns anew. */
const ATTEMPTS = 3
/** How long the store answers when files cannot be read or written (ms). */
const FILES_RETRY_MS = 60_000

type Sum = (state: WorkspaceColumns, question: Question) => Promise<readonly Group[]>

/**
 * The filter of what has not expired by an instant (`now`; none: expired documents are wanted too); null where the columns
 * cannot tell what the store still has.
 */
function aliveFilter({ time, retentionMs }: ColumnSpec, filter: Filter, now: number | undefined): Filter | null {
  if (retentionMs === undefined) return now === undefined ? filter : null
  return now === undefined ? null : { $and: [filter, { [time]: { $gt: now - retentionMs } }] }
}

/** Answers questions from the columns; null where the store must answer. */
function createAnswers(collections: Collections, clock: ColumnParts['clock'], sum: Sum) {
  let notBefore = Number.NEGATIVE_INFINITY
  return async (
    collection: string,
    { filter, now, ...paths }: QuestionPaths & { readonly filter: Filter; readonly now?: number | undefined },
  ): Promise<readonly Group[] | null> => {
    const tracked = collections.of(collection)
    const alive = tracked && aliveFilter(tracked.layout.spec, filter, now)
    const terms = alive && termsOf(alive)
    const wanted = terms && splitWorkspace(terms)
    const question = wanted && questionOf(tracked.layout, wanted.others, paths)
    if (!question || clock.now() < notBefore) return null
    for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
      try {
        const state = await collections.current(tracked, wanted.workspaceId)
        return state && (await sum(state, question))
      } catch (error) {
        if (error instanceof DamagedSegment) await collections.forget(tracked, wanted.workspaceId, error.segment)
        else if (error instanceof FilesUnavailable) {
          notBefore = clock.now() + FILES_RETRY_MS
          return null
        } else throw error
      }
    }
    return null
  }
}

/**
 * Read-store decorator: answers `sum` and `count` of declared collections for one workspace from columns. Before each answer
 * they include what was written since or, with `changesOf`, only after the projection's change count has grown. The store
 * answers everything else (another path, `$or`, `$regex`, more than two groups, what expires otherwise than by `retentionMs`).
 */
export function withColumns(store: ReadStore, parts: ColumnParts): ColumnStore {
  const { specs, files, clock, random, changesOf = () => null, limits = COLUMN_LIMITS } = parts
  const { builder = createSegmentBuilder(store, files) } = parts
  const memory = createColumnMemory(limits.memoryBytes, bytesOfWorkspace)
  const reader = createSegmentReader(files, memory)
  const identity = createStoreIdentity(store, random)
  const collections = createCollections({
    store,
    specs,
    files,
    limits,
    builder,
    identity,
    memory,
    reader,
    clock,
    changesOf,
  })
  const gate = createMutex()
  const answer = createAnswers(collections, clock, (state, question) => sumWorkspace(state, question, reader, gate))

  /** Whether the columns are of rows within documents: sums and counts of the documents themselves are the store's. */
  const holdsRows = (collection: string) => (collections.of(collection)?.layout.rows ?? null) !== null

  return {
    ...delegate(store),
    async sum(collection, filter, groupBy, fields, now) {
      const groups = holdsRows(collection) ? null : await answer(collection, { filter, groupBy, fields, now })
      if (!groups) return store.sum(collection, filter, groupBy, fields, now)
      return groups.map(({ key, count, sums }) => ({ key, count, sums }))
    },
    async count(collection, filter, now) {
      const groups = holdsRows(collection) ? null : await answer(collection, { filter, groupBy: [], fields: [], now })
      return groups ? (groups[0]?.count ?? 0) : store.count(collection, filter, now)
    },
    async sumRows(collection, question) {
      const groups = holdsRows(collection) ? await answer(collection, question) : null
      return groups?.map(({ key, sums, newest }) => ({ key, sums, newest })) ?? null
    },
    async drop(collection, checkpoint) {
      await store.drop(collection, checkpoint)
      await collections.drop(collection)
    },
    columnBytes: memory.bytes,
    settled: collections.settled,
  }
}
