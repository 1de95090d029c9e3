/** A value (JSON, or bytes alone) with a version that each write increments by one, until it expires. */
export interface Entry {
  readonly key: string
  readonly value: unknown
  readonly version: number
  /** Milliseconds since the epoch; null: never. */
  readonly expiresAt: number | null
}

/** A write of an entry; `value` undefined deletes it. */
export interface EntryWrite {
  readonly key: string
  readonly value: unknown
  readonly expiresAt: number | null
}

/** What deletes an entry. */
export const DELETED: Omit<EntryWrite, 'key'> = { value: undefined, expiresAt: null }

/** A record of a time series: written once, read newest first, until it expires. */
export interface LogRecord {
  /** Unique in its series; orders records of one instant. */
  readonly id: string
  /** Milliseconds since the epoch. */
  readonly at: number
  /** Labels for filtering: words without spaces. */
  readonly labels: readonly string[]
  /** A JSON value. */
  readonly value: unknown
  readonly expiresAt: number
}

/** A query of a series: records with every label, from an instant (ms, inclusive) to another (exclusive). */
export interface LogQuery {
  readonly labels?: readonly string[]
  readonly from?: number
  readonly to?: number
  /** Only the records after this one. They are sought, not skipped; the total counts all. */
  readonly after?: Pick<LogRecord, 'id' | 'at'> | null
  readonly skip: number
  readonly limit: number
}

/**
 * Everything that is neither event nor read model: reaction checkpoints, leases, claims, shared rate windows, request log,
 * sealed results, snapshots. No business rule depends on it. Keys are `<kind>:<rest>`.
 * Expired entries are never returned, even before they are deleted. `now` (ms since the epoch) comes from the caller.
 * Every method throws StoreUnavailable (ports/read-store.ts).
 */
export interface OperationalStore {
  /** Creates missing collections and indexes; existing ones stay unchanged. Opening the store has done so. */
  ensure(): Promise<void>
  /** Names of its collections that are missing or lack an index; none where they cannot get lost. */
  missingIndexes(): Promise<readonly string[]>
  get(key: string, now: number): Promise<Entry | null>
  /** Entries whose key begins with the prefix, ordered by key, at most `limit`, after the key `after` (exclusive). */
  list(
    prefix: string,
    now: number,
    options?: { readonly after?: string; readonly limit?: number },
  ): Promise<readonly Entry[]>
  put(key: string, value: unknown, expiresAt: number | null): Promise<void>
  /** Compare-and-set: puts only when the entry has that version (0: there is none). Resolves to whether it did. */
  putIf(key: string, version: number, value: unknown, expiresAt: number | null, now: number): Promise<boolean>
  delete(key: string): Promise<void>
  /** Puts and deletes entries, each key once. When it fails, some of them may be written. */
  writeAll(writes: readonly EntryWrite[]): Promise<void>
  /** Adds to a number (0 when absent or expired). Resolves to the sum; the first addition sets the expiry. */
  increment(key: string, by: number, expiresAt: number | null, now: number): Promise<number>
  /** Claims work until an instant (ms) for an owner, or prolongs its claim; false while another owner has it. */
  claim(key: string, owner: string, until: number, now: number): Promise<boolean>
  /** Releases a claim if the owner has it. */
  releaseClaim(key: string, owner: string): Promise<void>
  /** Appends records, each to its series; existing ids stay unchanged. */
  appendLog(records: readonly (LogRecord & { readonly series: string })[]): Promise<void>
  /** A page of a series, newest first, and the total number of records. */
  queryLog(
    series: string,
    now: number,
    page: LogQuery,
  ): Promise<{ readonly records: readonly LogRecord[]; readonly total: number }>
  /** Deletes expired entries and records. Resolves to their number. */
  deleteExpired(now: number): Promise<number>
  close(): Promise<void>
}

/** Entries alone, and when what was written to them is stored. */
export interface Entries extends Pick<OperationalStore, 'get' | 'list' | 'put' | 'putIf' | 'delete'> {
  /**
   * Resolves once every write until now is stored; `urgent` where somebody waits for an answer, and not only for the record. @throws
   * StoreUnavailable: the next call tries again
   */
  readonly stored: (options?: { readonly urgent: boolean }) => Promise<void>
}
