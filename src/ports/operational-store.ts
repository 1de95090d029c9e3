/** An entry: a JSON value with a version that grows by one at each write, gone when it expires. */
export interface Entry {
  readonly key: string
  readonly value: unknown
  readonly version: number
  /** Milliseconds since the epoch; null never. */
  readonly expiresAt: number | null
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
  claim(key: string, owner: string, until: number, now: number): Promise<boolean>
  /** Gives a claim back, if the owner holds it. */
  release(key: string, owner: string): Promise<void>
  /** Removes what has expired. */
  sweep(now: number): Promise<number>
  close(): Promise<void>
}
