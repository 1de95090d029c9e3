import { LRUCache } from 'lru-cache'
import type { Derivation, DerivedValue, StoredDocument } from '../../ports/read-store.ts'

/** Bytes of the cached values of a derivation, and of the objects that hold one. */
const CACHED_VALUES = { bytes: 24 * 1024 * 1024, overhead: 600 } as const

/** A document at a position, or what is made of it. */
type Version = Pick<StoredDocument, 'id' | 'position'>

/** Parsed documents of recent reads, or what was made of them. A document at an unchanged position has not changed. */
export interface DocumentCache<Cached extends Version> {
  /** What is cached of a table's document; null unless it is of this position. */
  readonly get: (table: string, id: string, position: number) => Cached | null
  readonly set: (table: string, cached: Cached) => void
}

/** Creates a cache of the documents of all tables together: of at most `max`, or of what comes to `maxSize` bytes. */
export function createDocumentCache<Cached extends Version>(
  limits: { readonly max: number } | { readonly maxSize: number; readonly sizeCalculation: (cached: Cached) => number },
): DocumentCache<Cached> {
  const cache = new LRUCache<string, Cached>(limits)
  return {
    get(table, id, position) {
      const cached = cache.get(`${table} ${id}`)
      return cached?.position === position ? cached : null
    },
    set(table, cached) {
      cache.set(`${table} ${cached.id}`, cached)
    },
  }
}

/** Creates the caches of what derivations make, one for each of these. */
export function createValueCaches() {
  const caches = new Map<unknown, unknown>()
  return <Value>(derivation: Derivation<Value>): DocumentCache<DerivedValue<Value>> => {
    const found = caches.get(derivation)
    // What a derivation made is in its own cache alone.
    if (found) return found as DocumentCache<DerivedValue<Value>>
    const sizeCalculation = ({ value }: DerivedValue<Value>) => CACHED_VALUES.overhead + derivation.bytesOf(value)
    const cache = createDocumentCache<DerivedValue<Value>>({ maxSize: CACHED_VALUES.bytes, sizeCalculation })
    caches.set(derivation, cache)
    return cache
  }
}
