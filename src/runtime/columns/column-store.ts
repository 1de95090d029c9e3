import { START } from '../../ports/event-log.ts'
import type { Doc, Filter, ReadStore, StoredDocument } from '../../ports/read-store.ts'
import { parseCollectionName } from '../projections/build-names.ts'
import { delegate } from '../projections/delegate-store.ts'
import { type Selection, select, type Term, termsOf } from './column-filter.ts'
import { type Group, sumColumns } from './column-sum.ts'
import { type ColumnKind, createTable, put, rowFor, type Table } from './columns.ts'

/**
 * A collection that is also kept as columns in memory. Its documents belong to one workspace each, have an ordinal of
 * their own in it (1, 2, 3…) and are added or replaced, never removed. `collection` is the plain name; rebuilds of it count.
 */
export interface ColumnSpec {
  readonly collection: string
  /** Path of the ordinal. */
  readonly ordinal: string
  /** Summed paths are `number`; paths that are grouped by or filtered by equality are `code`. */
  readonly columns: Readonly<Record<string, ColumnKind>>
}

/** A read store whose sums and counts come from columns where they can. */
export interface ColumnStore extends ReadStore {
  /** Loads the columns of these collections now instead of in the background of the first question. @throws StoreUnavailable */
  readonly warm: (collections: readonly string[]) => Promise<void>
}

interface TrackedCollection {
  readonly collection: string
  readonly checkpoint: string
  readonly spec: ColumnSpec
  readonly readers: readonly (readonly [path: string, read: (doc: Doc) => unknown])[]
  readonly tables: Map<string, Table>
  /** Every document up to here is in the tables. */
  last: number
  loaded: boolean
  /** Moves of the projection that the tables are known to show; null for none. */
  moves: number | null
  /** A document did not fit: the store's own sums answer from then on. */
  broken: boolean
  /** Settles when no look is under way; `next` is the one that has not begun, which all who ask meanwhile share. */
  looks: Promise<void>
  next: Promise<void> | null
}

const PAGE = 5_000

/** Value at a dotted path; a store that answers only `fields` spells them dotted. */
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

function follow(collection: string, spec: ColumnSpec): TrackedCollection {
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
    looks: Promise.resolve(),
    next: null,
  }
}

function take(followed: TrackedCollection, { doc }: StoredDocument, ordinalOf: (doc: Doc) => unknown): void {
  const { workspaceId } = doc
  if (typeof workspaceId !== 'string') return
  let table = followed.tables.get(workspaceId)
  if (!table) {
    table = createTable(followed.spec.columns)
    followed.tables.set(workspaceId, table)
  }
  const row = rowFor(table, ordinalOf(doc))
  if (row === null) {
    followed.broken = true
    return
  }
  for (const [path, read] of followed.readers) {
    const column = table.columns.get(path)
    if (column && !put(table, column, row, read(doc))) followed.broken = true
  }
}

/** Reads everything folded behind `last` into the tables. */
async function catchUp(store: ReadStore, followed: TrackedCollection): Promise<void> {
  // Where a batch is not atomic, later documents of one may show before earlier ones: only a checkpoint read
  // beforehand says that nothing at or below it is still to come.
  const checkpoint = await store.checkpoint(followed.checkpoint)
  const ordinalOf = reader(followed.spec.ordinal)
  const fields = ['workspaceId', followed.spec.ordinal, ...Object.keys(followed.spec.columns)]
  let after = followed.last
  let limit = PAGE
  for (;;) {
    const filter: Filter = { _position: { $gt: after } }
    const page = await store.find(followed.collection, { filter, sort: { _position: 1 }, limit, fields })
    for (const stored of page) take(followed, stored, ordinalOf)
    if (page.length < limit || followed.broken) break
    // One event may touch several documents: the last position of a page may go on behind it.
    const end = page.at(-1)?.position ?? after
    const whole = page.findLast(({ position }) => position < end)
    if (whole) after = whole.position
    else limit *= 2
  }
  if (checkpoint) followed.last = Math.max(followed.last, checkpoint.position)
  followed.loaded = true
}

/** Brings the tables to what the store has at the moment of asking; looks follow each other, never side by side. */
function refresh(store: ReadStore, followed: TrackedCollection): Promise<void> {
  if (followed.next) return followed.next
  const look = followed.looks.then(() => {
    followed.next = null
    return catchUp(store, followed)
  })
  followed.next = look
  followed.looks = look.catch(() => {})
  return look
}

/** The one workspace that the terms are about, and the terms besides. */
function split(terms: readonly Term[]): { readonly workspaceId: string; readonly others: readonly Term[] } | null {
  const named = terms.filter(({ path, operator }) => path === 'workspaceId' && operator === '$eq')
  const [only] = named
  if (named.length !== 1 || typeof only?.operand !== 'string') return null
  return { workspaceId: only.operand, others: terms.filter((term) => term !== only) }
}

/**
 * Answers `sum` and `count` of declared collections from typed arrays kept beside the store and brought up to it before
 * each answer; where `movesOf` counts the projection's writes, only when that has moved. What they cannot answer (another path, `$or`, `$regex`, more than two groups) the store answers itself.
 */
export function withColumns(
  store: ReadStore,
  specs: readonly ColumnSpec[],
  changeCountOf: (projection: string) => number | null = () => null,
): ColumnStore {
  const followedBy = new Map<string, TrackedCollection | null>()

  const followedOf = (collection: string): TrackedCollection | null => {
    const known = followedBy.get(collection)
    if (known !== undefined) return known
    const spec = specs.find((one) => one.collection === parseCollectionName(collection).base)
    const followed = spec ? follow(collection, spec) : null
    followedBy.set(collection, followed)
    return followed
  }

  /** Answers from the columns, or null where they cannot (yet). */
  async function answer<T>(
    collection: string,
    filter: Filter,
    from: (table: Table, selection: Selection) => T | null,
    none: T,
  ): Promise<T | null> {
    const followed = followedOf(collection)
    if (!followed || followed.broken) return null
    const terms = termsOf(filter)
    const asked = terms && split(terms)
    if (!asked) return null
    if (!followed.loaded) {
      // A first load may take seconds: meanwhile the store answers; if it fails, the next question starts it again.
      refresh(store, followed).catch(() => {})
      return null
    }
    const moves = changeCountOf(parseCollectionName(collection).name)
    if (moves === null || moves !== followed.moves) {
      await refresh(store, followed)
      followed.moves = moves
    }
    if (followed.broken) return null
    const table = followed.tables.get(asked.workspaceId)
    if (!table) return none
    const selection = select(table, asked.others)
    return selection && from(table, selection)
  }

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
      followedBy.delete(collection)
      await store.drop(collection, checkpoint)
    },
    async warm(collections) {
      await Promise.all(
        collections.map(async (collection) => {
          const followed = followedOf(collection)
          if (followed) await refresh(store, followed)
        }),
      )
    },
  }
}
