import type { Entry, LogRecord, OperationalStore } from '../../../src/ports/operational-store.ts'

type Logs = Pick<OperationalStore, 'appendLog' | 'queryLog'>

/** The log records of an operational store, by series and id. */
function createMemoryLogs() {
  const series = new Map<string, Map<string, LogRecord>>()
  const append: Logs['appendLog'] = async (records) => {
    for (const { series: name, ...record } of records) {
      const known = series.get(name) ?? new Map<string, LogRecord>()
      if (!known.has(record.id)) known.set(record.id, { ...record, value: JSON.parse(JSON.stringify(record.value)) })
      series.set(name, known)
    }
  }
  const query: Logs['queryLog'] = async (
    name,
    now,
    { labels = [], from = 0, to = Number.POSITIVE_INFINITY, after, skip, limit },
  ) => {
    const found = [...(series.get(name)?.values() ?? [])]
      .filter(({ expiresAt, at }) => expiresAt > now && at >= from && at < to)
      .filter((record) => labels.every((label) => record.labels.includes(label)))
      .sort((one, other) => other.at - one.at || (other.id < one.id ? -1 : 1))
    const following = after ? found.filter(({ id, at }) => at < after.at || (at === after.at && id < after.id)) : found
    return { total: found.length, records: following.slice(skip, skip + limit) }
  }
  /** Deletes the expired records; their number. */
  function deleteExpired(now: number): number {
    let deleted = 0
    for (const records of series.values())
      for (const { id, expiresAt } of [...records.values()]) {
        if (expiresAt > now) continue
        records.delete(id)
        deleted += 1
      }
    return deleted
  }
  return { append, query, deleteExpired }
}

/** An operational store in memory. */
export function createMemoryOperationalStore(): OperationalStore {
  const entries = new Map<string, Entry>()
  const logs = createMemoryLogs()

  const live = (key: string, now: number): Entry | null => {
    const entry = entries.get(key)
    return entry && (entry.expiresAt === null || entry.expiresAt > now) ? entry : null
  }
  const copyOf = (value: unknown) =>
    value instanceof Uint8Array ? new Uint8Array(value) : JSON.parse(JSON.stringify(value))
  const write = (key: string, value: unknown, expiresAt: number | null, version: number) =>
    entries.set(key, { key, value: copyOf(value), version, expiresAt })

  return {
    ensure: async () => {},
    missingIndexes: async () => [],
    get: async (key, now) => live(key, now),
    async list(prefix, now, { after = '', limit = Number.POSITIVE_INFINITY } = {}) {
      const keys = [...entries.keys()].filter((key) => key.startsWith(prefix) && key > after && live(key, now)).sort()
      return keys.slice(0, limit).flatMap((key) => entries.get(key) ?? [])
    },
    async put(key, value, expiresAt) {
      write(key, value, expiresAt, (entries.get(key)?.version ?? 0) + 1)
    },
    async putIf(key, version, value, expiresAt, now) {
      if ((live(key, now)?.version ?? 0) !== version) return false
      write(key, value, expiresAt, version + 1)
      return true
    },
    async delete(key) {
      entries.delete(key)
    },
    async writeAll(writes) {
      for (const { key, value, expiresAt } of writes)
        if (value === undefined) entries.delete(key)
        else write(key, value, expiresAt, (entries.get(key)?.version ?? 0) + 1)
    },
    async increment(key, by, expiresAt, now) {
      const entry = live(key, now)
      const sum = (typeof entry?.value === 'number' ? entry.value : 0) + by
      write(key, sum, entry ? entry.expiresAt : expiresAt, (entry?.version ?? 0) + 1)
      return sum
    },
    async claim(key, owner, until, now) {
      const entry = live(key, now)
      if (entry && entry.value !== owner) return false
      write(key, owner, until, (entry?.version ?? 0) + 1)
      return true
    },
    async releaseClaim(key, owner) {
      if (entries.get(key)?.value === owner) entries.delete(key)
    },
    appendLog: logs.append,
    queryLog: logs.query,
    async deleteExpired(now) {
      const gone = [...entries.keys()].filter((key) => !live(key, now))
      for (const key of gone) entries.delete(key)
      return gone.length + logs.deleteExpired(now)
    },
    close: async () => {},
  }
}
