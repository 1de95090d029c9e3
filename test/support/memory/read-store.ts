import type {
  Checkpoint,
  Doc,
  DocumentWrite,
  Filter,
  Page,
  ReadStore,
  Scalar,
  StoredDocument,
} from '../../../src/ports/read-store.ts'
import { bySort, matches, valueAt } from './filter.ts'

interface StoredVersion {
  readonly position: number
  /** A frozen copy of the document; null for a removed one, whose position still rejects older writes. */
  readonly doc: Doc | null
}

export interface MemoryReadStore extends ReadStore {
  /** All documents of a collection, by id. */
  all(collection: string): Readonly<Record<string, Doc>>
  readonly commits: number
}

/** The documents of a read store, by collection and id. */
function createCollections() {
  const collections = new Map<string, Map<string, StoredVersion>>()

  const docsOf = (name: string) => {
    const docs = collections.get(name) ?? new Map<string, StoredVersion>()
    collections.set(name, docs)
    return docs
  }
  const stored = (id: string, version: StoredVersion | undefined): StoredDocument | null =>
    version === undefined || version.doc === null ? null : { id, position: version.position, doc: version.doc }
  const matching = (name: string, filter: Filter): readonly StoredDocument[] =>
    [...(collections.get(name) ?? [])].flatMap(([id, version]) => {
      const one = stored(id, version)
      return one && matches(one, filter) ? [one] : []
    })
  const paged = (name: string, { filter, sort = {}, skip = 0, limit }: Page): readonly StoredDocument[] => {
    const found = matching(name, filter).toSorted(bySort(sort))
    return found.slice(skip, limit === undefined ? undefined : skip + limit)
  }
  const write = ({ collection, id, doc, position }: DocumentWrite) => {
    const docs = docsOf(collection)
    if ((docs.get(id)?.position ?? Number.NEGATIVE_INFINITY) >= position) return
    docs.set(id, { position, doc: doc === null ? null : deepFreeze(JSON.parse(JSON.stringify(doc))) })
  }
  const getOne = (name: string, id: string) => stored(id, collections.get(name)?.get(id))
  return { collections, docsOf, getOne, matching, paged, write }
}

const groupOf = (key: readonly Scalar[], rows: readonly StoredDocument[], fields: readonly string[]) => ({
  key,
  count: rows.length,
  sums: fields.map((field) => rows.reduce((sum, row) => sum + numberAt(row, field), 0)),
})

/** A read store in memory. Unless `atomic`, a batch is written even if its checkpoint update fails. */
export function createMemoryReadStore({ atomic = true } = {}): MemoryReadStore {
  const { collections, docsOf, getOne, matching, paged, write } = createCollections()
  const checkpoints = new Map<string, Checkpoint>()
  let commits = 0

  return {
    get commits() {
      return commits
    },
    all: (collection) =>
      Object.fromEntries(
        matching(collection, {})
          .toSorted(bySort({}))
          .map(({ id, doc }) => [id, doc]),
      ),
    atomic,
    async ensure(specs) {
      for (const { name } of specs) docsOf(name)
    },
    get: async (collection, id) => getOne(collection, id),
    getMany: async (collection, ids) =>
      [...new Set(ids)].map((id) => getOne(collection, id)).filter((one) => one !== null),
    find: async (collection, page) => paged(collection, page),
    pluck: async (collection, path, page) => paged(collection, page).map((row) => scalarAt(row, path)),
    count: async (collection, filter) => matching(collection, filter).length,
    async sum(collection, filter, groupBy, fields) {
      const keyOf = (row: StoredDocument) => JSON.stringify(groupBy.map((path) => valueAt(row, path)))
      const groups = Map.groupBy(matching(collection, filter), keyOf)
      return [...groups].map(([key, rows]) => groupOf(JSON.parse(key), rows, fields))
    },
    async commit(writes, { name, expected, next }) {
      const conflict = (checkpoints.get(name)?.position ?? null) !== expected
      if (conflict && atomic) return false
      for (const one of writes) write(one)
      if (conflict) return false
      commits += 1
      checkpoints.set(name, next)
      return true
    },
    checkpoint: async (name) => checkpoints.get(name) ?? null,
    checkpoints: async () => Object.fromEntries(checkpoints),
    async drop(collection, checkpoint) {
      collections.delete(collection)
      if (checkpoint !== undefined) checkpoints.delete(checkpoint)
    },
    collections: async () => [...collections.keys()],
    close: async () => {},
  }
}

/** Freezes a document deeply, so that readers cannot change it. */
function deepFreeze<Value>(value: Value): Value {
  if (typeof value !== 'object' || value === null) return value
  for (const inner of Object.values(value)) deepFreeze(inner)
  return Object.freeze(value)
}

function scalarAt(row: StoredDocument, path: string): Scalar {
  const value = valueAt(row, path)
  return typeof value === 'object' ? null : (value as Scalar)
}

function numberAt(row: StoredDocument, field: string): number {
  const value = valueAt(row, field)
  return typeof value === 'number' ? value : 0
}
