import { LRUCache } from 'lru-cache'
import { createSingleFlight } from '../../kernel/async/single-flight.ts'
import type { Entries, Entry, OperationalStore } from '../../ports/operational-store.ts'
import type { WriteBehind } from './write-behind.ts'

/** An entry as this process knows it; null for none. */
type Known = Entry | null

const isLive = (entry: Known, now: number): entry is Entry =>
  entry !== null && (entry.expiresAt === null || entry.expiresAt > now)

/**
 * Entries of a process that has the store alone, of which it keeps the most recently used in memory and reads the others: there may be
 * any number of them. They are not listed. Their versions are numbers of this process: none is given twice, so a compare-and-set on an
 * entry that was read anew never takes it for the one before.
 */
export function createRecentEntries(
  ops: Pick<OperationalStore, 'get'>,
  behind: WriteBehind,
  max: number,
): Omit<Entries, 'list' | 'stored'> {
  // A wrapper, since a cache holds no null.
  const known = new LRUCache<string, { readonly entry: Known }>({ max })
  const flight = createSingleFlight<Known>()
  let versions = 0

  function keep(key: string, value: Omit<Entry, 'key' | 'version'> | null): Known {
    versions += 1
    const entry = value && { key, value: value.value, version: versions, expiresAt: value.expiresAt }
    known.set(key, { entry })
    return entry
  }

  async function load(key: string, now: number): Promise<Known> {
    // What is not stored yet is newer than the store.
    const unstored = behind.unstored(key)
    if (unstored !== undefined) return keep(key, unstored)
    const stored = await ops.get(key, now)
    const meanwhile = known.get(key)
    return meanwhile ? meanwhile.entry : keep(key, stored)
  }

  async function read(key: string, now: number): Promise<Known> {
    const held = known.get(key)
    const entry = held ? held.entry : await flight(key, () => load(key, now))
    return isLive(entry, now) ? entry : null
  }

  function write(key: string, value: unknown, expiresAt: number | null): void {
    keep(key, { value, expiresAt })
    behind.write(key, { value, expiresAt })
  }

  return {
    get: read,
    async put(key, value, expiresAt) {
      write(key, value, expiresAt)
    },
    async putIf(key, version, value, expiresAt, now) {
      const entry = await read(key, now)
      // Somebody may have written while it was read.
      const latest = known.has(key) ? (known.get(key)?.entry ?? null) : entry
      if ((isLive(latest, now) ? latest.version : 0) !== version) return false
      write(key, value, expiresAt)
      return true
    },
    async delete(key) {
      keep(key, null)
      behind.write(key, null)
    },
  }
}
