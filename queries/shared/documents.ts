import { collectionOf, type Projection } from '../../src/kernel/projection.ts'
import type { Filter, Page, ReadStore, Sort, StoredDocument } from '../../src/ports/read-store.ts'

/** A document with its id. */
export type WithId<Doc> = Doc & { readonly id: string }

/** The documents of a projection. */
export type DocOf<P> = P extends Projection<infer Doc, infer _S> ? Doc : never

// biome-ignore lint/suspicious/noExplicitAny: which events a projection hears does not matter to its readers.
type ProjectionOf<Doc> = Projection<Doc, any>

const identityCache = new WeakMap<StoredDocument['doc'], object>()

/**
 * A stored document with its id; a document that the store answers again is the same object again, so that what is made
 * of it need not be made anew. It was made by its projection's reducers, so reading does not check it.
 */
function withId<Doc extends object>({ id, doc }: StoredDocument): WithId<Doc> {
  const before = identityCache.get(doc)
  if (before) return before as WithId<Doc>
  const kept = { ...(doc as Doc), id }
  identityCache.set(doc, kept)
  return kept
}

/** A workspace's document by id; null when there is none, or when it is another workspace's. */
export async function readOne<Doc extends { readonly workspaceId: string }>(
  views: Pick<ReadStore, 'get'>,
  projection: ProjectionOf<Doc>,
  workspaceId: string,
  id: string,
): Promise<WithId<Doc> | null> {
  const stored = await views.get(collectionOf(projection), id)
  const found = stored && withId<Doc>(stored)
  return found?.workspaceId === workspaceId ? found : null
}

/** Documents by id, those that exist; ids may repeat or be null. */
export async function readMany<Doc extends object>(
  views: Pick<ReadStore, 'getMany'>,
  projection: ProjectionOf<Doc>,
  ids: readonly (string | null)[],
): Promise<ReadonlyMap<string, WithId<Doc>>> {
  const wanted = [...new Set(ids)].filter((id) => id !== null)
  const stored = wanted.length === 0 ? [] : await views.getMany(collectionOf(projection), wanted)
  return new Map(stored.map((found) => [found.id, withId<Doc>(found)]))
}

/** Documents that a filter names, in order. */
export async function readAll<Doc extends object>(
  views: Pick<ReadStore, 'find'>,
  projection: ProjectionOf<Doc>,
  page: Page,
): Promise<readonly WithId<Doc>[]> {
  const stored = await views.find(collectionOf(projection), page)
  return stored.map((found) => withId<Doc>(found))
}

/** One page of the documents that a filter names, and how many there are. */
export async function readPage<Doc extends object>(
  views: ReadStore,
  projection: ProjectionOf<Doc>,
  filter: Filter,
  page: { readonly sort: Sort; readonly skip: number; readonly limit: number },
): Promise<{ readonly docs: readonly WithId<Doc>[]; readonly total: number }> {
  const [docs, total] = await Promise.all([
    readAll(views, projection, { filter, ...page }),
    views.count(collectionOf(projection), filter),
  ])
  return { docs, total }
}
