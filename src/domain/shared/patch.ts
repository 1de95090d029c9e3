import { isDeepStrictEqual } from 'node:util'

/** New values for any fields of a record; undefined leaves a field as it is. */
export type Patch<T> = { readonly [K in keyof T]?: T[K] | undefined }

/** A copy of the record with the patched fields replaced. */
export function applyPatch<T extends object>(record: T, patch: Patch<T>): T {
  const next = { ...record }
  for (const key in patch) {
    const value: T[typeof key] | undefined = patch[key]
    if (value !== undefined) next[key] = value
  }
  return next
}

/** The patched fields whose values differ from the record's, before and after (deep comparison); null when none does. */
export function diff<T extends object>(
  record: T,
  patch: Patch<T>,
): { readonly before: Partial<T>; readonly after: Partial<T> } | null {
  const before: Partial<T> = {}
  const after: Partial<T> = {}
  for (const key in patch) {
    const value: T[typeof key] | undefined = patch[key]
    if (value === undefined || isDeepStrictEqual(value, record[key])) continue
    before[key] = record[key]
    after[key] = value
  }
  return Object.keys(after).length === 0 ? null : { before, after }
}
