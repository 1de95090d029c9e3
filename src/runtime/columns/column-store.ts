import { createNextFlight } from '../../kernel/async/single-flight.ts'
import { START } from '../../ports/event-log.ts'
import type { Doc, Filter, ReadStore, StoredDocument } from '../../ports/read-store.ts'
import { parseCollectionName } from '../projections/build-names.ts'
import { delegate } from '../projections/delegate-store.ts'
import { type Selection, select, type Term, termsOf } from './column-filter.ts'
import { type Group, sumColumns } from './column-sum.ts'
import { type ColumnKind, createTable, put, rowFor, type Table } from './columns.ts'

/**
 * A collection with columns in memory. Each document belongs to one workspace, has its own ordinal there (1, 2, 3…) and
 * is added or replaced, never removed. `collection` is the plain name; its rebuilds are included.
 */
export interface ColumnSpec {
  readonly collection: string
  /** Path of the ordinal. */
  readonly ordinal: string
  /** Summed paths are `number`; paths that are grouped by or filtered by equality are `code`. */
  readonly columns: Readonly<Record<string, ColumnKind>>
}

/** A read store that answers sums and counts from columns where possible. */
export interface ColumnStore extends ReadStore {
  /** Loads the columns of these collections now, instead of in the background after the first query. @throws StoreUnavailable */
  readonly warm: (collections: readonly string[]) => Promise<void>
}

interface TrackedCollection {
  readonly collection: string
  readonly checkpoint: string
  readonly spec: ColumnSpec
  readonly readers: readonly (readonly [path: string, read: (doc: Doc) => unknown])[]
  readonly tables: Map<string, Table>
  /** Every document folded up to this position is in the tables. */
  last: number
  loaded: boolean
  /** Change count of the projection that the tables reflect; null when unknown. */
  moves: number | null
  /** Whether a document did not fit the columns: if so, the store answers every query. */
  broken: boolean
}

const PAGE = 5_000

/** Reads the value at a dotted path; a store that returns only `fields` has dotted keys. */
function reader(path: string): (doc: Doc) => unknown {
  const steps = path.split('.')
  if (steps.length === 1) return (doc) => doc[path]
  return (doc) => {
    if (path in doc) return doc[path]
    let value: unknown = doc
    for (const step of steps) {
      if (typeof value !== 'object' || value === null) return null
      value = Reflect.get(value, step)
    }
    return value
  }
}

function track(collection: string, spec: ColumnSpec): TrackedCollection {
  const readers = Object.keys(spec.columns).map((path) => [path, reader(path)] as const)
  const { checkpoint } = parseCollectionName(collection)
  return {
    collection,
    checkpoint,
    spec,
    readers,
    tables: new Map(),
    last: START,
    loaded: false,
    moves: null,
    broken: false,
  }
}

function take(tracked: TrackedCollection, { doc }: StoredDocument, ordinalOf: (doc: Doc) => unknown): void {
  const { workspaceId } = doc
  if (typeof workspaceId !== 'string') return
  let table = tracked.tables.get(workspaceId)
  if (!table) {
    table = createTable(tracked.spec.columns)
    tracked.tables.set(workspaceId, table)
  }
  const row = rowFor(table, ordinalOf(doc))
  if (row === null) {
    tracked.broken = true
    return
  }
  for (const [path, read] of tracked.readers) {
    const column = table.columns.get(path)
    if (column && !put(table, column, row, read(doc))) tracked.broken = true
  }
}

/** Reads every document folded after `last` into the tables. @throws StoreUnavailable */
async function catchUp(store: ReadStore, tracked: TrackedCollection): Promise<void> {
  // When batches are not atomic, later documents of one may be visible before earlier ones. Only a checkpoint read
  // before the documents guarantees that every document at or below it is visible.
  const checkpoint = await store.checkpoint(tracked.checkpoint)
  const ordinalOf = reader(tracked.spec.ordinal)
  const fields = ['workspaceId', tracked.spec.ordinal, ...Object.keys(tracked.spec.columns)]
  let after = tracked.last
  let limit = PAGE
  for (;;) {
    const filter: Filter = { _position: { $gt: after } }
    const page = await store.find(tracked.collection, { filter, sort: { _position: 1 }, limit, fields })
    for (const stored of page) take(tracked, stored, ordinalOf)
    if (page.length < limit || tracked.broken) break
    // One event may touch several documents: the next page may continue the last position of this one.
    const end = page.at(-1)?.position ?? after
    const whole = page.findLast(({ position }) => position < end)
    if (whole) after = whole.position
    else limit *= 2
  }
  if (checkpoint) tracked.last = Math.max(tracked.last, checkpoint.position)
  tracked.loaded = true
}

/** The single workspace of the terms, and the other terms; null when there is not exactly one. */
function split(terms: readonly Term[]): { readonly workspaceId: string; readonly others: readonly Term[] } | null {
  const named = terms.filter(({ path, operator }) => path === 'workspaceId' && operator === '$eq')
  const [only] = named
  if (named.length !== 1 || typeof only?.operand !== 'string') return null
  return { workspaceId: only.operand, others: terms.filter((term) => term !== only) }
}

/** The collections that have columns, found by name. */
interface Tracking {
  /** A collection's tables; null when it has no columns. */
  readonly of: (collection: string) => TrackedCollection | null
  /** Loads what the store has at the time of the call; concurrent calls share the next read. @throws StoreUnavailable */
  readonly refresh: (tracked: TrackedCollection) => Promise<void>
  readonly forget: (collection: string) => void
}

function createTracking(store: ReadStore, specs: readonly ColumnSpec[]): Tracking {
  const trackedBy = new Map<string, TrackedCollection | null>()
  const flight = createNextFlight<void>()
  return {
    of(collection) {
      const known = trackedBy.get(collection)
      if (known !== undefined) return known
      const spec = specs.find((one) => one.collection === parseCollectionName(collection).base)
      const tracked = spec ? track(collection, spec) : null
      trackedBy.set(collection, tracked)
      return tracked
    },
    refresh: (tracked) => flight(tracked.collection, () => catchUp(store, tracked)),
    forget: (collection) => void trackedBy.delete(collection),
  }
}

/** Computes results from the columns: `none` for a workspace without documents, null when the store must answer. */
function createAnswer(tracking: Tracking, changeCountOf: (projection: string) => number | null) {
  return async function answer<T>(
    collection: string,
    filter: Filter,
    from: (table: Table, selection: Selection) => T | null,
    none: T,
  ): Promise<T | null> {
    const tracked = tracking.of(collection)
    if (!tracked || tracked.broken) return null
    const terms = termsOf(filter)
    const conditions = terms && split(terms)
    if (!conditions) return null
    if (!tracked.loaded) {
      // The first load may take seconds: meanwhile the store answers. If it fails, the next query starts it again.
      tracking.refresh(tracked).catch(() => {})
      return null
    }
    const moves = changeCountOf(parseCollectionName(collection).name)
    if (moves === null || moves !== tracked.moves) {
      await tracking.refresh(tracked)
      tracked.moves = moves
    }
    if (tracked.broken) return null
    const table = tracked.tables.get(conditions.workspaceId)
    if (!table) return none
    const selection = select(table, conditions.others)
    return selection && from(table, selection)
  }
}

/**
 * Read-store decorator: answers `sum` and `count` of declared collections from typed arrays. The arrays load new
 * documents from the store before each answer or, with `changeCountOf`, only after the projection's change count has
 * grown. The store answers everything else (another path, `$or`, `$regex`, more than two groups).
 */
export function withColumns(
  store: ReadStore,
  specs: readonly ColumnSpec[],
  changeCountOf: (projection: string) => number | null = () => null,
): ColumnStore {
  const tracking = createTracking(store, specs)
  const answer = createAnswer(tracking, changeCountOf)

  return {
    ...delegate(store),
    async sum(collection, filter, groupBy, fields) {
      const groups = await answer<readonly Group[]>(
        collection,
        filter,
        (table, selection) => sumColumns(table, selection, groupBy, fields),
        [],
      )
      return groups ?? store.sum(collection, filter, groupBy, fields)
    },
    async count(collection, filter) {
      const count = await answer(collection, filter, (_table, selection) => selection.count, 0)
      return count ?? store.count(collection, filter)
    },
    async drop(collection, checkpoint) {
      tracking.forget(collection)
      await store.drop(collection, checkpoint)
    },
    async warm(collections) {
      await Promise.all(
        collections.map(async (collection) => {
          const tracked = tracking.of(collection)
          if (tracked) await tracking.refresh(tracked)
        }),
      )
    },
  }
}
