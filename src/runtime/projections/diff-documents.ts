import { isDeepStrictEqual } from 'node:util'
import type { ReadStore, StoredDocument } from '../../ports/read-store.ts'

/** Documents that are compared at once. */
const BATCH = 500

/** A collection of a store. */
export interface DocumentSource {
  readonly store: Pick<ReadStore, 'find' | 'getMany' | 'pluck'>
  readonly collection: string
}

/** A document that is not the same on both sides; null on the side that has none. */
export interface DocumentPair {
  readonly id: string
  readonly left: StoredDocument | null
  readonly right: StoredDocument | null
}

/** Whether two documents hold the same, in whatever order their fields stand. Positions may differ: they follow from the batches. */
export function sameDocument(left: StoredDocument | null, right: StoredDocument | null): boolean {
  if (left === null || right === null) return left === right
  return JSON.stringify(left.doc) === JSON.stringify(right.doc) || isDeepStrictEqual(left.doc, right.doc)
}

/** A document whose stored form cannot be read. */
export class UnreadableDocument extends Error {
  override readonly name = 'UnreadableDocument'
  readonly id: string
  constructor(id: string, options: ErrorOptions) {
    super(`The document ${id} cannot be read.`, options)
    this.id = id
  }
}

/** The documents of the ids; unreadable ones apart. @throws StoreUnavailable */
export async function readDocuments(
  { store, collection }: DocumentSource,
  ids: readonly string[],
): Promise<{ readonly documents: ReadonlyMap<string, StoredDocument>; readonly unreadable: readonly string[] }> {
  const byId = (stored: readonly StoredDocument[]) => new Map(stored.map((one) => [one.id, one]))
  try {
    return { documents: byId(await store.getMany(collection, ids)), unreadable: [] }
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    if (ids.length === 1) return { documents: new Map(), unreadable: ids }
    const halves = [ids.slice(0, ids.length / 2), ids.slice(ids.length / 2)]
    const read = await Promise.all(halves.map((half) => readDocuments({ store, collection }, half)))
    return {
      documents: new Map(read.flatMap(({ documents }) => [...documents])),
      unreadable: read.flatMap(({ unreadable }) => unreadable),
    }
  }
}

/** The ids of a collection, in batches and in order. @throws StoreUnavailable */
export async function* idBatches({ store, collection }: DocumentSource): AsyncGenerator<readonly string[]> {
  for (let last: string | null = null; ; ) {
    const filter = last === null ? {} : { _id: { $gt: last } }
    const ids: readonly string[] = (
      await store.pluck(collection, '_id', { filter, sort: { _id: 1 }, limit: BATCH })
    ).map(String)
    if (ids.length > 0) yield ids
    last = ids.at(-1) ?? last
    if (ids.length < BATCH) return
  }
}
