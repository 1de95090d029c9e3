import { Unavailable } from '../kernel/async/errors.ts'

/** A document as stored: plain JSON, without its id. Its field `workspaceId`, a text, says to which workspace it belongs. */
export type Doc = Readonly<Record<string, unknown>>

/** The workspace of a document; empty for none. It never changes: stores are partitioned by it. */
export function workspaceOf({ workspaceId }: Doc): string {
  return typeof workspaceId === 'string' ? workspaceId : ''
}

/** A value that filters, sorts and groups can use. */
export type Scalar = string | number | boolean | null

/** Conditions on one field, a strict subset of MongoDB's. `$regex` only as built by `contains`, `startsWith` and `endsWith`. */
export interface Conditions {
  readonly $eq?: Scalar
  readonly $ne?: Scalar
  readonly $in?: readonly Scalar[]
  readonly $nin?: readonly Scalar[]
  readonly $gt?: string | number
  readonly $gte?: string | number
  readonly $lt?: string | number
  readonly $lte?: string | number
  readonly $regex?: string
  readonly $options?: 'i'
}

/**
 * A filter of documents. Keys are dotted paths; a missing field equals null; equality on a list means "has this element".
 * The reserved path `_position` addresses the position a document was folded to, in filters, sorts and indexes alike;
 * `workspaceId` its workspace, empty for none; `_id` its id.
 * `$and` and `$or` nest.
 */
export interface Filter {
  readonly $and?: readonly Filter[]
  readonly $or?: readonly Filter[]
  readonly [path: string]: Scalar | Conditions | readonly Filter[] | undefined
}

/** Order, by field; ties are always broken by the document's id, ascending. Null sorts before any value. */
export type Sort = Readonly<Record<string, 1 | -1>>

/** A query of a collection: a filter, an order and a range. */
export interface Page {
  readonly filter: Filter
  readonly sort?: Sort
  readonly skip?: number
  readonly limit?: number
  /** Leaves out what has expired by then (ms since the epoch); without it, nothing is left out. */
  readonly now?: number
  /** The needed paths. A store may return only these, as dotted keys of `doc` (`{ 'buyer.id': … }`), or whole documents. */
  readonly fields?: readonly string[]
}

/** A path to group rows by: by its values, or by what a function makes of them. */
export interface RowGrouping {
  readonly path: string
  readonly as?: (value: Scalar) => Scalar
}

/** A question about the rows that documents hold. */
export interface RowQuestion {
  readonly filter: Filter
  /** At most two; none gives at most one group with key []. */
  readonly groupBy: readonly RowGrouping[]
  readonly fields: readonly string[]
  /** Path of a positive number, whose largest value among the rows of a group is told. */
  readonly newest?: string
}

/** Sums of a group of rows. */
export interface RowGroup {
  readonly key: readonly Scalar[]
  readonly sums: readonly number[]
  /** Null where the question names no path. */
  readonly newest: number | null
}

/** The specification of a collection, ensured before it is used. */
export interface CollectionSpec {
  readonly name: string
  /**
   * Each an ordered list of paths with directions; ties are ordered by id. Paths after the reserved `_id` are not part
   * of the order: the index only covers them, so that queries can be answered from it.
   */
  readonly indexes: readonly Readonly<Record<string, 1 | -1 | undefined>>[]
  /** Paths (of numbers, strings, booleans or null) that get a column where the store has columns. Index paths always do. */
  readonly columns: readonly string[]
  /** Paths with columns whose values many documents share, so that a store may keep them in a form that is read faster. None by default. */
  readonly shared?: readonly string[]
}

/** A document of a collection. */
export interface StoredDocument {
  readonly id: string
  /** Position of the event it was last folded to. */
  readonly position: number
  readonly doc: Doc
}

/**
 * What is made of a document and of nothing else, so that a store may cache it instead of the document. The cache knows a derivation
 * by its identity: it is defined once, not at each read.
 */
export interface Derivation<Value> {
  readonly of: (stored: StoredDocument) => Value
  /** Bytes of a value, roughly, without those of the objects that hold it. */
  readonly bytesOf: (value: Value) => number
}

/** What was made of a document at a position. */
export interface DerivedValue<Value> extends Pick<StoredDocument, 'id' | 'position'> {
  /** Empty for none. */
  readonly workspaceId: string
  readonly value: Value
}

/** What a derivation makes of documents. Pure. */
export function deriveFrom<Value>(
  found: readonly StoredDocument[],
  { of }: Derivation<Value>,
): readonly DerivedValue<Value>[] {
  return found.map((stored) => ({
    id: stored.id,
    position: stored.position,
    workspaceId: workspaceOf(stored.doc),
    value: of(stored),
  }))
}

/** A document to put (null: to remove), folded to `position`. A stored document at that position or later is not overwritten. */
export type DocumentWrite = {
  readonly collection: string
  readonly id: string
  readonly position: number
  /** Whether the writer has found the document in the store. It only makes the write faster. */
  readonly isStored?: boolean
  /** Whether it is stored before those of its batch that are not: where commits are not atomic, a crash may then leave it alone. */
  readonly isFirst?: boolean
} & (DocumentPut | DocumentRemoval)

interface DocumentPut {
  readonly doc: Doc
  /** When it expires (ms since the epoch); null or left out: never. */
  readonly expiresAt?: number | null
}

interface DocumentRemoval {
  readonly doc: null
  /** The workspace of the removed document; empty for none. */
  readonly workspaceId: string
  /**
   * Until when (ms since the epoch) a guard is kept: the position of the removed document, which refuses older writes. A write
   * of a lost owner may land late.
   */
  readonly expiresAt: number
}

/** Checkpoint of a projection: the log position, and the recorded time of the last event seen (ISO; null before the first). */
export interface Checkpoint {
  readonly position: number
  readonly at: string | null
  /** Epoch of the lease under which it was written; none for a checkpoint that needs no lease. */
  readonly epoch?: number
}

/** The store is unreachable. A retry may succeed. */
export class StoreUnavailable extends Unavailable {
  override readonly name = 'StoreUnavailable'
}

/**
 * Documents of the read models, and their checkpoints. Readers that give `now` (ms since the epoch) find no document that has
 * expired by then; the fold of a projection reads without it, since a later event may prolong a document. Every method except
 * `close` throws StoreUnavailable.
 */
export interface ReadStore {
  /** Whether a commit that lost the race for its checkpoint writes nothing. A document created and removed in one batch is then not written. */
  readonly atomic: boolean
  /** Creates missing collections and indexes; existing ones stay unchanged. */
  ensure(specs: readonly CollectionSpec[]): Promise<void>
  /** Names of the collections that are missing or, where a server's operator can drop one, lack an index of their specification. */
  missingIndexes(specs: readonly CollectionSpec[]): Promise<readonly string[]>
  get(collection: string, id: string, now?: number): Promise<StoredDocument | null>
  /** The existing documents of the ids, in no order. */
  getMany(collection: string, ids: readonly string[], now?: number): Promise<readonly StoredDocument[]>
  find(collection: string, page: Page): Promise<readonly StoredDocument[]>
  /** What a derivation makes of the documents of a page, in its order. */
  findDerived<Value>(
    collection: string,
    page: Omit<Page, 'fields'>,
    derivation: Derivation<Value>,
  ): Promise<readonly DerivedValue<Value>[]>
  /** The values at a path (also `_position`) of a page's documents, in its order; null for missing values, lists and objects. */
  pluck(collection: string, path: string, page: Omit<Page, 'fields'>): Promise<readonly Scalar[]>
  /**
   * The values at several paths (also `_id`, `_position`) of a page's documents, row by row in its order: null for missing
   * values, undefined for lists and objects. Reads as little more as the store allows.
   */
  select(
    collection: string,
    paths: readonly string[],
    page: Omit<Page, 'fields'>,
  ): Promise<readonly (readonly (Scalar | undefined)[])[]>
  count(collection: string, filter: Filter, now?: number): Promise<number>
  /** Sums of fields (missing or null counts 0) by group; `groupBy` empty gives at most one group with key []. `count` is the number of documents. */
  sum(
    collection: string,
    filter: Filter,
    groupBy: readonly string[],
    fields: readonly string[],
    now?: number,
  ): Promise<readonly { readonly key: readonly Scalar[]; readonly count: number; readonly sums: readonly number[] }[]>
  /**
   * Sums over the rows that documents hold, of a collection that has them as columns. Null where there are none: then the
   * documents say what their rows are.
   */
  sumRows(collection: string, question: RowQuestion): Promise<readonly RowGroup[] | null>
  /**
   * Writes the batch, then moves the checkpoint from `expected` to `next` by compare-and-set (expected null: none yet).
   * Resolves to false when another runner has moved it, or has written a later epoch than that of `next` (none counts as
   * 0): then the lease under which the batch was made is over. A batch repeated after a crash changes nothing.
   */
  commit(
    writes: readonly DocumentWrite[],
    checkpoint: { readonly name: string; readonly expected: number | null; readonly next: Checkpoint },
  ): Promise<boolean>
  /** Deletes what has expired by an instant (ms since the epoch), documents and guards. Resolves to their number. */
  deleteExpired(collection: string, now: number): Promise<number>
  checkpoint(name: string): Promise<Checkpoint | null>
  /** Checkpoints by name, of those names that begin with the prefix (default: all). */
  checkpoints(prefix?: string): Promise<Readonly<Record<string, Checkpoint>>>
  /** Drops a collection and, if given, the checkpoint of that name with those of its ranges (`<name>/<range>`). */
  drop(collection: string, checkpoint?: string): Promise<void>
  collections(): Promise<readonly string[]>
  close(): Promise<void>
}

function escapePattern(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&')
}

/** Case-insensitive "contains this text". */
export function contains(text: string): Conditions {
  return { $regex: escapePattern(text), $options: 'i' }
}

/** Case-insensitive "ends with this text". */
export function endsWith(text: string): Conditions {
  return { $regex: `${escapePattern(text)}$`, $options: 'i' }
}

/** Case-insensitive "starts with this text". */
export function startsWith(text: string): Conditions {
  return { $regex: `^${escapePattern(text)}`, $options: 'i' }
}
