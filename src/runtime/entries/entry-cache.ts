import type { Clock } from '../../ports/clock.ts'
import type { Entries, Entry, OperationalStore } from '../../ports/operational-store.ts'
import { createRecentEntries } from './recent-entries.ts'
import { createWriteBehind } from './write-behind.ts'

/** Writes after which expired entries are looked for, at least. */
const SWEEP_AFTER = 1_000

/** The entries of a store that other processes use too: a write is stored when it resolves. */
export function sharedEntries(ops: Omit<Entries, 'stored'>): Entries {
  const { get, list, put, putIf, delete: remove } = ops
  return { get, list, put, putIf, delete: remove, stored: async () => undefined }
}

/** The part of a key that its neighbours share: entries are listed by it. */
const groupOf = (key: string) => key.slice(0, key.lastIndexOf(':') + 1)

const isLive = ({ expiresAt }: Entry, now: number) => expiresAt === null || expiresAt > now

/** Entries of a group that are kept in an array; more of them are a map. */
const ARRAY_ENTRIES = 8

/** The entries of a group. Most have few, and 36,000 maps of one entry each are large: those are arrays. */
type Group = readonly Entry[] | Map<string, Entry>

const entryIn = (group: Group | undefined, key: string): Entry | undefined =>
  group instanceof Map ? group.get(key) : group?.find((entry) => entry.key === key)

/** A group with an entry set. */
function withEntry(group: Group | undefined, entry: Entry): Group {
  if (group instanceof Map) return group.set(entry.key, entry)
  const all = [...(group ?? []).filter(({ key }) => key !== entry.key), entry]
  return all.length <= ARRAY_ENTRIES ? all : new Map(all.map((one) => [one.key, one]))
}

/** A group without an entry; null for none left. A map stays one: it would grow again. */
function withoutEntry(group: Group, key: string): Group | null {
  if (group instanceof Map) {
    group.delete(key)
    return group.size > 0 ? group : null
  }
  const rest = group.filter((entry) => entry.key !== key)
  return rest.length > 0 ? rest : null
}

/** Entries by group. */
function createEntryIndex() {
  const groups = new Map<string, Group>()
  let size = 0
  let writes = 0

  function remove(key: string): void {
    const name = groupOf(key)
    const group = groups.get(name)
    if (!group || !entryIn(group, key)) return
    size -= 1
    const rest = withoutEntry(group, key)
    if (rest) groups.set(name, rest)
    else groups.delete(name)
  }

  return {
    get(key: string, now: number): Entry | null {
      const entry = entryIn(groups.get(groupOf(key)), key)
      return entry && isLive(entry, now) ? entry : null
    },
    group: (name: string, now: number): readonly Entry[] =>
      [...(groups.get(name)?.values() ?? [])].filter((entry) => isLive(entry, now)),
    remove,
    set(entry: Entry): void {
      const name = groupOf(entry.key)
      const group = groups.get(name)
      if (!entryIn(group, entry.key)) size += 1
      groups.set(name, withEntry(group, entry))
      writes += 1
    },
    /** Removes what has expired, once there were as many writes as there are entries. */
    sweep(now: number): void {
      if (writes < Math.max(SWEEP_AFTER, size)) return
      writes = 0
      const expired = [...groups.values()].flatMap((group) =>
        [...group.values()].filter((entry) => !isLive(entry, now)),
      )
      for (const { key } of expired) remove(key)
    },
  }
}

/** Entries of these prefixes, of which there may be any number, are kept in memory only while they are used. */
export interface RecentPrefixes {
  readonly prefixes: readonly string[]
  /** How many of them are kept. */
  readonly max: number
}

/**
 * Keeps entries in memory for a process that has the store alone, with a write-behind cache: a read waits for no other thread, and a
 * write is seen at once and stored soon. What must outlive the process waits for `stored`. Keys are grouped up to their last colon, and
 * listed by group; those of `recent` are not listed. @throws StoreUnavailable
 */
export async function openEntryCache(
  { ops, clock }: { readonly ops: OperationalStore; readonly clock: Clock },
  prefixes: readonly string[],
  recent: RecentPrefixes = { prefixes: [], max: 1 },
): Promise<Entries> {
  const index = createEntryIndex()
  const behind = createWriteBehind(ops, clock)
  const used = createRecentEntries(ops, behind, recent.max)
  const isRecent = (key: string) => recent.prefixes.some((prefix) => key.startsWith(prefix))
  for (const prefix of prefixes) for (const entry of await ops.list(prefix, clock.now())) index.set(entry)

  function write(key: string, value: unknown, expiresAt: number | null, version: number): void {
    index.set({ key, value, version, expiresAt })
    behind.write(key, { value, expiresAt })
    index.sweep(clock.now())
  }

  return {
    stored: behind.stored,
    get: async (key, now) => (isRecent(key) ? used.get(key, now) : index.get(key, now)),
    async list(prefix, now, { after = '', limit = Number.POSITIVE_INFINITY } = {}) {
      if (!prefix.endsWith(':')) throw new Error(`Entries are listed by group: ${prefix} ends with no colon.`)
      const found = index.group(prefix, now).filter(({ key }) => key > after)
      return found.sort((one, other) => (one.key < other.key ? -1 : 1)).slice(0, limit)
    },
    async put(key, value, expiresAt) {
      if (isRecent(key)) return used.put(key, value, expiresAt)
      write(key, value, expiresAt, (index.get(key, 0)?.version ?? 0) + 1)
    },
    async putIf(key, version, value, expiresAt, now) {
      if (isRecent(key)) return used.putIf(key, version, value, expiresAt, now)
      const found = index.get(key, now)?.version ?? 0
      if (found !== version) return false
      write(key, value, expiresAt, found + 1)
      return true
    },
    async delete(key) {
      if (isRecent(key)) return used.delete(key)
      index.remove(key)
      behind.write(key, null)
    },
  }
}
