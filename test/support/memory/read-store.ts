import {
  type Checkpoint,
  type Doc,
  type DocumentWrite,
  deriveFrom,
  type Filter,
  type Page,
  type ReadStore,
  type Scalar,
  type StoredDocument,
} from '../../../src/ports/read-store.ts'
import { bySort, matches, valueAt } from './filter.ts'

interface StoredVersion {
  readonly position: number
  /** A frozen copy of the document; null for a removed one, whose position still rejects older writes. */
  readonly doc: Doc | null
  /** When it expires (ms); null: never. */
  readonly expiresAt: number | null
}

export interface MemoryReadStore extends ReadStore {
  /** All documents of a collection, by id. */
  all(collection: string): Readonly<Record<string, Doc>>
  readonly commits: number
}

const hasExpired = ({ expiresAt }: StoredVersion, now: number | undefined) =>
  expiresAt !== null && now !== undefined && expiresAt <= now

/** The documents of a read store, by collection and id. */
function createCollections() {
  const collections = new Map<string, Map<string, StoredVersion>>()

  const docsOf = (name: string) => {
    const docs = collections.get(name) ?? new Map<string, StoredVersion>()
    collections.set(name, docs)
    return docs
  }
  const stored = (id: string, version: StoredVersion | undefined, now?: number): StoredDocument | null => {
    if (version === undefined || version.doc === null || hasExpired(version, now)) return null
    return { id, position: version.position, doc: version.doc }
  }
  const matching = (name: string, filter: Filter, now?: number): readonly StoredDocument[] =>
    [...(collections.get(name) ?? [])].flatMap(([id, version]) => {
      const one = stored(id, version, now)
      return one && matches(one, filter) ? [one] : []
    })
  const paged = (name: string, { filter, now, sort = {}, skip = 0, limit }: Page): readonly StoredDocument[] => {
    const found = matching(name, filter, now).toSorted(bySort(sort))
    return found.slice(skip, limit === undefined ? undefined : skip + limit)
  }
  const write = ({ collection, id, doc, position, expiresAt = null }: DocumentWrite) => {
    const docs = docsOf(collection)
    if ((docs.get(id)?.position ?? Number.NEGATIVE_INFINITY) >= position) return
    docs.set(id, { position, doc: doc === null ? null : deepFreeze(JSON.parse(JSON.stringify(doc))), expiresAt })
  }
  const getOne = (name: string, id: string, now?: number) => stored(id, collections.get(name)?.get(id), now)
  const deleteExpired = (name: string, now: number) => {
    const docs = docsOf(name)
    const expired = [...docs].filter(([, version]) => hasExpired(version, now))
    for (const [id] of expired) docs.delete(id)
    return expired.length
  }
  return { deleteExpired, collections, docsOf, getOne, matching, paged, write }
}

const groupOf = (key: readonly Scalar[], rows: readonly StoredDocument[], fields: readonly string[]) => ({
  key,
  count: rows.length,
  sums: fields.map((field) => rows.reduce((sum, row) => sum + numberAt(row, field), 0)),
})

/** A read store in memory. Unless `atomic`, a batch is written even if its checkpoint update fails. */
export function createMemoryReadStore({ atomic = true } = {}): MemoryReadStore {
  const { collections, deleteExpired, docsOf, getOne, matching, paged, write } = createCollections()
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
    missingIndexes: async (specs) => specs.map(({ name }) => name).filter((name) => !collections.has(name)),
    async ensure(specs) {
      for (const { name } of specs) docsOf(name)
    },
    get: async (collection, id, now) => getOne(collection, id, now),
    getMany: async (collection, ids, now) =>
      [...new Set(ids)].map((id) => getOne(collection, id, now)).filter((one) => one !== null),
    find: async (collection, page) => paged(collection, page),
    findDerived: async (collection, page, derivation) => deriveFrom(paged(collection, page), derivation),
    pluck: async (collection, path, page) => paged(collection, page).map((row) => scalarAt(row, path)),
    select: async (collection, paths, page) =>
      paged(collection, page).map((row) => paths.map((path) => selectedAt(row, path))),
    count: async (collection, filter, now) => matching(collection, filter, now).length,
    async sum(collection, filter, groupBy, fields, now) {
      const keyOf = (row: StoredDocument) => JSON.stringify(groupBy.map((path) => valueAt(row, path)))
      const groups = Map.groupBy(matching(collection, filter, now), keyOf)
      return [...groups].map(([key, rows]) => groupOf(JSON.parse(key), rows, fields))
    },
    sumRows: async () => null,
    async commit(writes, { name, expected, next }) {
      const current = checkpoints.get(name)
      const conflict = (current?.position ?? null) !== expected || (current?.epoch ?? 0) > (next.epoch ?? 0)
      if (conflict && atomic) return false
      for (const one of writes) write(one)
      if (conflict) return false
      commits += 1
      checkpoints.set(name, next)
      return true
    },
    deleteExpired: async (collection, now) => deleteExpired(collection, now),
    checkpoint: async (name) => checkpoints.get(name) ?? null,
    checkpoints: async (prefix = '') =>
      Object.fromEntries([...checkpoints].filter(([name]) => name.startsWith(prefix))),
    async drop(collection, checkpoint) {
      collections.delete(collection)
      if (checkpoint === undefined) return
      for (const name of [...checkpoints.keys()])
        if (name === checkpoint || name.startsWith(`${checkpoint}/`)) checkpoints.delete(name)
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

/** The scalar at a path: null for a missing one, undefined for lists and objects. */
function selectedAt(row: StoredDocument, path: string): Scalar | undefined {
  const value = valueAt(row, path)
  return typeof value === 'object' && value !== null ? undefined : (value as Scalar)
}

function numberAt(row: StoredDocument, field: string): number {
  const value = valueAt(row, field)
  return typeof value === 'number' ? value : 0
}
