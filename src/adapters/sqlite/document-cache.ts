import { LRUCache } from 'lru-cache'
import type { StoredDocument } from '../../ports/read-store.ts'

/** Parsed documents of recent reads. A document at an unchanged position has not changed. */
export interface DocumentCache {
  /** The cached document of a table; null unless it is cached at this position. */
  readonly get: (table: string, id: string, position: number) => StoredDocument | null
  readonly set: (table: string, stored: StoredDocument) => void
}

/** Creates a cache of at most `max` documents, of all tables together. */
export function createDocumentCache(max: number): DocumentCache {
  const cache = new LRUCache<string, StoredDocument>({ max })
  return {
    get(table, id, position) {
      const stored = cache.get(`${table} ${id}`)
      return stored?.position === position ? stored : null
    },
    set(table, stored) {
      cache.set(`${table} ${stored.id}`, stored)
    },
  }
}
