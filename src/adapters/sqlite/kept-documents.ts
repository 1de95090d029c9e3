import type { Stored } from '../../ports/read-store.ts'

/** Documents read lately, parsed: one that still stands at its position has not changed since. */
export interface KeptDocuments {
  /** The document of a table if it is kept as of this position. */
  readonly of: (table: string, id: string, position: number) => Stored | null
  readonly keep: (table: string, stored: Stored) => void
  readonly forget: () => void
}

/** Keeps so many documents at least, and twice as many at most. */
export function keptDocuments(size: number): KeptDocuments {
  let newer = new Map<string, Stored>()
  let older = new Map<string, Stored>()
  const keyOf = (table: string, id: string) => `${table}\n${id}`
  const keep = (key: string, stored: Stored) => {
    newer.set(key, stored)
    if (newer.size < size) return
    older = newer
    newer = new Map()
  }
  return {
    of(table, id, position) {
      const key = keyOf(table, id)
      const recent = newer.get(key)
      if (recent) return recent.position === position ? recent : null
      const found = older.get(key)
      if (found?.position !== position) return null
      keep(key, found)
      return found
    },
    keep: (table, stored) => keep(keyOf(table, stored.id), stored),
    forget() {
      newer = new Map()
      older = new Map()
    },
  }
}
