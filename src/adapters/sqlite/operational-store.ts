import type { OperationalStore } from '../../ports/operational-store.ts'
import { StoreUnavailable } from '../../ports/read-store.ts'
import { type EntryCall, type EntryRow, type EntryWriteRow, entryOf, type LogRow, logRecordOf } from './entries.ts'
import type { EntryCalls } from './entry-thread.ts'
import { openFileThread } from './worker-client.ts'

/**
 * Opens the operational store in a file, which may be that of the read models. It runs in its own thread.
 * @throws StoreUnavailable when the file cannot be opened; an Error of one sentence when a newer version wrote it.
 */
export async function openSqliteOperationalStore(path: string): Promise<OperationalStore> {
  const thread = await openFileThread<EntryCalls>(new URL('./entry-thread.ts', import.meta.url), path, StoreUnavailable)
  const run = async <Result>(...call: EntryCall): Promise<Result> => (await (await thread.remote()).run(call)) as Result
  return {
    ensure: async () => {},
    missingIndexes: async () => [],
    async get(key, now) {
      const row = await run<EntryRow | null>('get', key, now)
      return row && entryOf(row)
    },
    async list(prefix, now, { after = null, limit = null } = {}) {
      const rows = await run<readonly EntryRow[]>('list', prefix, now, after, limit)
      return rows.map(entryOf)
    },
    put: (key, value, expiresAt) => run('put', key, storedValue(value), expiresAt),
    putIf: (key, version, value, expiresAt, now) => run('putIf', key, version, storedValue(value), expiresAt, now),
    delete: (key) => run('delete', key),
    writeAll: (writes) =>
      run(
        'writeAll',
        writes.map(
          ({ key, value, expiresAt }): EntryWriteRow => [
            key,
            value === undefined ? null : storedValue(value),
            expiresAt,
          ],
        ),
      ),
    increment: (key, by, expiresAt, now) => run('increment', key, by, expiresAt, now),
    claim: (key, owner, until, now) => run('claim', key, owner, until, now),
    releaseClaim: (key, owner) => run('releaseClaim', key, owner),
    appendLog: (records) =>
      run(
        'appendLog',
        records.map(({ series, id, at, labels, value, expiresAt }): readonly [string, LogRow] => [
          series,
          [id, at, ` ${labels.join(' ')} `, jsonOf(value), expiresAt],
        ]),
      ),
    async queryLog(series, now, { labels = [], from = 0, to = Number.MAX_SAFE_INTEGER, after, skip, limit }) {
      const [total, rows] = await run<readonly [number, readonly LogRow[]]>(
        'queryLog',
        now,
        { series, labels, from, to },
        after ? [after.at, after.id] : null,
        skip,
        limit,
      )
      return { total, records: rows.map(logRecordOf) }
    },
    deleteExpired: (now) => run('deleteExpired', now),
    close: () => thread.close(),
  }
}

/** A value as it is stored: bytes as they are, in a buffer of their own, since whole buffers travel; all else as JSON. */
function storedValue(value: unknown): string | Uint8Array {
  if (!(value instanceof Uint8Array)) return jsonOf(value)
  return value.byteLength === value.buffer.byteLength ? value : value.slice()
}

function jsonOf(value: unknown): string {
  return JSON.stringify(value) ?? 'null'
}
