/** What is under way, by key. */
export interface InFlight<Key extends string | number, Value> {
  readonly size: number
  readonly get: (key: Key) => Value | undefined
  readonly set: (key: Key, value: Value) => void
  readonly delete: (key: Key) => void
  readonly values: () => readonly Value[]
  readonly clear: () => void
}

/**
 * Creates a table of what is under way: its entries come and go all the time. A `Map` or `Set` serves badly there once it is
 * old: V8 links each table that it outgrew to the next one, and what was in them then survives every collection but a full
 * one (measured: of requests of 20 KB, eight under way, four in five). The keys of an object without a prototype are not linked.
 */
export function createInFlight<Key extends string | number, Value>(): InFlight<Key, Value> {
  let entries: Partial<Record<Key, Value>> = Object.create(null)
  let size = 0
  return {
    get size() {
      return size
    },
    get: (key) => entries[key],
    set(key, value) {
      if (!(key in entries)) size += 1
      entries[key] = value
    },
    delete(key) {
      if (!(key in entries)) return
      size -= 1
      delete entries[key]
    },
    values: () => Object.values(entries),
    clear() {
      entries = Object.create(null)
      size = 0
    },
  }
}
