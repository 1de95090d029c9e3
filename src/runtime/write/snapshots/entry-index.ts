/** Finds packed entries by the hash of their key. */
export interface EntryIndex {
  /** Adds an entry by its number; numbers grow. */
  readonly add: (hash: number, entry: number) => void
  /** The entry with the highest number below `below` that has the hash and matches; -1 for none. */
  readonly newest: (hash: number, below: number, matches: (entry: number) => boolean) => number
  /** Bytes that the index takes. */
  readonly bytes: () => number
}

/** Tables by the first eight bits of the hash: each grows alone, so that growing never takes long. */
const TABLES = 256
const FIRST_SLOTS = 8
const WORD = 4

/** Hash tables with linear probing; a slot is a hash and the number of an entry plus one, 0 for a free slot. */
interface Table {
  slots: Uint32Array
  used: number
}

function insert(slots: Uint32Array, hash: number, entry: number): void {
  const mask = slots.length / 2 - 1
  let slot = hash & mask
  while (slots[2 * slot + 1] !== 0) slot = (slot + 1) & mask
  slots[2 * slot] = hash
  slots[2 * slot + 1] = entry + 1
}

function grow(table: Table): void {
  const { slots } = table
  table.slots = new Uint32Array(slots.length * 2)
  for (let n = 0; n < slots.length; n += 2) {
    const entry = slots[n + 1] ?? 0
    if (entry > 0) insert(table.slots, slots[n] ?? 0, entry - 1)
  }
}

/** Slots of a new table in an index for so many entries: a power of two. */
function firstSlots(expected: number): number {
  let slots = FIRST_SLOTS
  while (slots * 0.7 * TABLES < expected) slots *= 2
  return slots
}

/** Creates an index without entries. `expected` is their number in the end, where it is known. */
export function createEntryIndex(expected = 0): EntryIndex {
  const tables: (Table | undefined)[] = Array.from({ length: TABLES })
  const slots = firstSlots(expected)
  return {
    add(hash, entry) {
      const place = hash >>> 24
      const table = tables[place] ?? { slots: new Uint32Array(2 * slots), used: 0 }
      tables[place] = table
      // At most three quarters are used, so that probing stays short.
      if (table.used * 8 >= table.slots.length * 3) grow(table)
      insert(table.slots, hash, entry)
      table.used += 1
    },
    newest(hash, below, matches) {
      const { slots } = tables[hash >>> 24] ?? { slots: null }
      if (!slots) return -1
      const mask = slots.length / 2 - 1
      let found = -1
      for (let slot = hash & mask; slots[2 * slot + 1] !== 0; slot = (slot + 1) & mask) {
        const entry = (slots[2 * slot + 1] ?? 0) - 1
        if (slots[2 * slot] === hash && entry < below && entry > found && matches(entry)) found = entry
      }
      return found
    },
    bytes: () => tables.reduce((sum, table) => sum + (table?.slots.length ?? 0) * WORD, TABLES * WORD),
  }
}
