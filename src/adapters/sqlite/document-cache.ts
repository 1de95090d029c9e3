import type { StoredDocument } from '../../ports/read-store.ts'

/** Documents read lately, parsed: one that still stands at its position has not changed since. */
export interface DocumentCache {
  /** The document of a table if it is kept as of this position. */
  readonly get: (table: string, id: string, position: number) => StoredDocument | null
  readonly set: (table: string, stored: StoredDocument) => void
}

type Generation = Map<string, Map<string, StoredDocument>>

/** Keeps so many documents at least, and twice as many at most. */
export function createDocumentCache(size: number): DocumentCache {
  let newer: Generation = new Map()
  let older: Generation = new Map()
  let held = 0
  const keep = (table: string, stored: StoredDocument) => {
    const documents = newer.get(table) ?? new Map<string, StoredDocument>()
    if (!documents.has(stored.id)) held += 1
    newer.set(table, documents.set(stored.id, stored))
    if (held < size) return
    older = newer
    newer = new Map()
    held = 0
  }
  return {
    get(table, id, position) {
      const recent = newer.get(table)?.get(id)
      if (recent) return recent.position === position ? recent : null
      const found = older.get(table)?.get(id)
      if (found?.position !== position) return null
      keep(table, found)
      return found
    },
    set: keep,
  }
}
