/** An entry: a JSON value with a version that grows by one at each write, gone when it expires. */
export interface Entry {
  readonly key: string
  readonly value: unknown
  readonly version: number
  /** Milliseconds since the epoch; null never. */
  readonly expiresAt: number | null
}

/** What happened at one moment, in a series of its kind: written once, read newest first, gone when it expires. */
export interface LogRecord {
  /** Unique in its series; notes of one moment lie in this order. */
  readonly id: string
  /** Milliseconds since the epoch. */
  readonly at: number
  /** What notes are picked by: words without blanks. */
  readonly labels: readonly string[]
  /** A JSON value. */
  readonly value: unknown
  readonly expiresAt: number
}

/** Which notes of a series: those with every label, from an instant (ms, inclusive) to another (exclusive). */
export interface LogQuery {
  readonly labels?: readonly string[]
  readonly from?: number
  readonly to?: number
  readonly skip: number
  readonly limit: number
}

/**
 * What is neither event nor read model: reaction checkpoints, claims, shared rate windows, request log, sealed
 * outcomes, cached folds. No business rule depends on it being there. Keys are `<kind>:<rest>`.
 * Expired entries are never answered, even before they are swept. `now` always comes from the caller.
 * Every method throws StoreUnavailable (ports/read-store.ts) when the store is away.
 */
export interface OperationalStore {
  get(key: string, now: number): Promise<Entry | null>
  /** Entries whose key begins with the prefix, by key, at most `limit`, behind `after` (exclusive). */
  list(
    prefix: string,
    now: number,
    options?: { readonly after?: string; readonly limit?: number },
  ): Promise<readonly Entry[]>
  put(key: string, value: unknown, expiresAt: number | null): Promise<void>
  /** Puts only when the entry is at that version (0: there is none); answers whether it did. */
  putIf(key: string, version: number, value: unknown, expiresAt: number | null, now: number): Promise<boolean>
  delete(key: string): Promise<void>
  /** Adds to a number (0 where there is none, or it expired) and answers the sum; the expiry is set by the first. */
  increment(key: string, by: number, expiresAt: number | null, now: number): Promise<number>
  /** Takes or prolongs a claim until an instant (ms) for an owner; false while another owner holds it. */
  acquireLease(key: string, owner: string, until: number, now: number): Promise<boolean>
  /** Gives a claim back, if the owner holds it. */
  releaseLease(key: string, owner: string): Promise<void>
  /** Adds notes, each to its series; one that is there already stays as it is. */
  appendLog(notes: readonly (LogRecord & { readonly series: string })[]): Promise<void>
  /** A page of a series, newest first, and how many notes there are in all. */
  queryLog(
    series: string,
    now: number,
    page: LogQuery,
  ): Promise<{ readonly records: readonly LogRecord[]; readonly total: number }>
  /** Removes what has expired, notes too; answers how many. */
  deleteExpired(now: number): Promise<number>
  close(): Promise<void>
}
