import { Unavailable } from '../kernel/async/errors.ts'
/** A document as the store keeps it: plain JSON; `id` is beside it, not in it. */
export type Doc = Readonly<Record<string, unknown>>

export type Scalar = string | number | boolean | null

/** Conditions on one field, a strict subset of MongoDB's. `$regex` takes only what `contains`, `startsWith` or `endsWith` build. */
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
 * Which documents. Keys are dotted paths; a missing field equals null; equality on a list means "has this element".
 * The reserved path `_position` addresses the position a document was folded to, in filters, sorts and indexes alike.
 * `$and` and `$or` nest.
 */
export interface Filter {
  readonly $and?: readonly Filter[]
  readonly $or?: readonly Filter[]
  readonly [path: string]: Scalar | Conditions | readonly Filter[] | undefined
}

/** Order, by field; ties are always broken by the document's id, ascending. Null sorts before any value. */
export type Sort = Readonly<Record<string, 1 | -1>>

export interface Page {
  readonly filter: Filter
  readonly sort?: Sort
  readonly skip?: number
  readonly limit?: number
  /** Only these paths are wanted. A store may answer them alone, spelt dotted in `doc` (`{ 'buyer.id': … }`), or the whole documents. */
  readonly fields?: readonly string[]
}

/** What the store must know of a collection before it is used. */
export interface CollectionSpec {
  readonly name: string
  /**
   * Each an ordered list of paths with directions; ties lie in the order of the ids. What stands behind `_id`, which is
   * reserved for this, is no part of the order: it is carried along, to be read from the index alone.
   */
  readonly indexes: readonly Readonly<Record<string, 1 | -1 | undefined>>[]
  /** Paths (numbers, strings or booleans, or null) that get a real column where the store has columns. Index paths do by themselves. */
  readonly columns: readonly string[]
}

export interface StoredDocument {
  readonly id: string
  /** Position of the event it was last folded to. */
  readonly position: number
  readonly doc: Doc
}

/** A document to put (or, with doc null, to remove), folded to `position`. A stored one folded as far or further stays. */
export interface DocumentWrite {
  readonly collection: string
  readonly id: string
  readonly doc: Doc | null
  readonly position: number
}

/** How far a projection has read: the log position, and the recorded time of the last event seen (ISO; null before the first). */
export interface Checkpoint {
  readonly position: number
  readonly at: string | null
}

/** The store cannot be reached. */
export class StoreUnavailable extends Unavailable {
  override readonly name = 'StoreUnavailable'
}

/** Documents of the read models, and how far each model has read. */
export interface ReadStore {
  /** Whether a commit that another runner forestalled leaves nothing behind: what begins and ends within a batch is then never told of. */
  readonly atomic: boolean
  /** Makes collections and their indexes where they are missing; changes nothing that is there. */
  ensure(specs: readonly CollectionSpec[]): Promise<void>
  get(collection: string, id: string): Promise<StoredDocument | null>
  /** Those of the ids that exist, in no order. */
  getMany(collection: string, ids: readonly string[]): Promise<readonly StoredDocument[]>
  find(collection: string, page: Page): Promise<readonly StoredDocument[]>
  /** The values at a path of a page's documents, in its order; what is missing, and lists and objects, are null. `_position` is one. */
  pluck(collection: string, path: string, page: Omit<Page, 'fields'>): Promise<readonly Scalar[]>
  count(collection: string, filter: Filter): Promise<number>
  /** Sums of fields (missing or null counts 0) by group; `groupBy` empty gives at most one group with key []. `count` is the number of documents. */
  sum(
    collection: string,
    filter: Filter,
    groupBy: readonly string[],
    fields: readonly string[],
  ): Promise<readonly { readonly key: readonly Scalar[]; readonly count: number; readonly sums: readonly number[] }[]>
  /**
   * Writes the batch, then moves the checkpoint from `expected` to `next` by compare-and-set (expected null: there is none yet).
   * Answers false, when another runner moved it meanwhile. A batch repeated after a crash changes nothing.
   */
  commit(
    writes: readonly DocumentWrite[],
    checkpoint: { readonly name: string; readonly expected: number | null; readonly next: Checkpoint },
  ): Promise<boolean>
  checkpoint(name: string): Promise<Checkpoint | null>
  checkpoints(): Promise<Readonly<Record<string, Checkpoint>>>
  /** Removes a collection with all it holds, and the checkpoint of that name if given. */
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
