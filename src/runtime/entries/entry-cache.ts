import { createNextFlight } from '../../kernel/async/single-flight.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Entries, Entry, OperationalStore } from '../../ports/operational-store.ts'

type Write = Pick<Entry, 'value' | 'expiresAt'> | null

/** How long after a group of writes the next one is stored (ms), at the earliest. */
const GROUP_EVERY_MS = 10
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

/** Entries by group. A group has few: it is an array, since 36,000 maps of one entry each are large. */
function createEntryIndex() {
  const groups = new Map<string, Entry[]>()
  let size = 0
  let writes = 0

  function remove(key: string): void {
    const name = groupOf(key)
    const group = groups.get(name) ?? []
    const rest = group.filter((entry) => entry.key !== key)
    size += rest.length - group.length
    if (rest.length > 0) groups.set(name, rest)
    else groups.delete(name)
  }

  return {
    get: (key: string, now: number): Entry | null =>
      groups.get(groupOf(key))?.find((entry) => entry.key === key && isLive(entry, now)) ?? null,
    group: (name: string, now: number): readonly Entry[] =>
      (groups.get(name) ?? []).filter((entry) => isLive(entry, now)),
    remove,
    set(entry: Entry): void {
      remove(entry.key)
      const name = groupOf(entry.key)
      groups.set(name, groups.get(name)?.concat(entry) ?? [entry])
      size += 1
      writes += 1
    },
    /** Removes what has expired, once there were as many writes as there are entries. */
    sweep(now: number): void {
      if (writes < Math.max(SWEEP_AFTER, size)) return
      writes = 0
      for (const { key } of [...groups.values()].flat().filter((entry) => !isLive(entry, now))) remove(key)
    },
  }
}

/** Stores writes behind those who wrote them: together, one group after the other, and of an entry's the last. */
function createWriteBehind(ops: Pick<OperationalStore, 'put' | 'delete'>, clock: Clock) {
  const flight = createNextFlight<void>()
  let gathered = new Map<string, Write>()
  let begunAt = Number.NEGATIVE_INFINITY

  async function storeGathered(): Promise<void> {
    if (gathered.size === 0) return
    const due = begunAt + GROUP_EVERY_MS
    if (clock.now() < due) await new Promise<void>((resolve) => void clock.schedule(due, resolve))
    begunAt = clock.now()
    const writes = gathered
    gathered = new Map()
    const results = await Promise.allSettled(
      Array.from(writes, ([key, write]) =>
        write === null ? ops.delete(key) : ops.put(key, write.value, write.expiresAt),
      ),
    )
    const failed = results.find((result) => result.status === 'rejected')
    if (!failed) return
    // What was written since then is newer.
    gathered = new Map([...writes, ...gathered])
    throw failed.reason
  }

  const stored = () => flight('', storeGathered)
  return {
    stored,
    write(key: string, write: Write): void {
      gathered.set(key, write)
      stored().catch(() => undefined)
    },
  }
}

/**
 * Keeps entries in memory for a process that has the store alone, with a write-behind cache: a read waits for no other thread, and a
 * write is seen at once and stored soon. What must outlive the process waits for `stored`. Keys are grouped up to their last colon, and
 * listed by group. @throws StoreUnavailable
 */
export async function openEntryCache(
  { ops, clock }: { readonly ops: OperationalStore; readonly clock: Clock },
  prefixes: readonly string[],
): Promise<Entries> {
  const index = createEntryIndex()
  const behind = createWriteBehind(ops, clock)
  for (const prefix of prefixes) for (const entry of await ops.list(prefix, clock.now())) index.set(entry)

  function write(key: string, value: unknown, expiresAt: number | null, version: number): void {
    index.set({ key, value, version, expiresAt })
    behind.write(key, { value, expiresAt })
    index.sweep(clock.now())
  }

  return {
    stored: behind.stored,
    get: async (key, now) => index.get(key, now),
    async list(prefix, now, { after = '', limit = Number.POSITIVE_INFINITY } = {}) {
      if (!prefix.endsWith(':')) throw new Error(`Entries are listed by group: ${prefix} ends with no colon.`)
      const found = index.group(prefix, now).filter(({ key }) => key > after)
      return found.sort((one, other) => (one.key < other.key ? -1 : 1)).slice(0, limit)
    },
    async put(key, value, expiresAt) {
      write(key, value, expiresAt, (index.get(key, 0)?.version ?? 0) + 1)
    },
    async putIf(key, version, value, expiresAt, now) {
      const found = index.get(key, now)?.version ?? 0
      if (found !== version) return false
      write(key, value, expiresAt, found + 1)
      return true
    },
    async delete(key) {
      index.remove(key)
      behind.write(key, null)
    },
  }
}
