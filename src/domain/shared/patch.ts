import { isDeepStrictEqual } from 'node:util'

/** What is wanted of a record: any of its fields; undefined keeps what is there. */
export type Patch<T> = { readonly [K in keyof T]?: T[K] | undefined }

/** The record with the wanted fields in place of its own. */
export function applyPatch<T extends object>(record: T, wanted: Patch<T>): T {
  const next = { ...record }
  for (const key in wanted) {
    const value: T[typeof key] | undefined = wanted[key]
    if (value !== undefined) next[key] = value
  }
  return next
}

/** Which of the wanted fields differ from the record: as they were and as they will be; null when none does. */
export function diff<T extends object>(
  record: T,
  wanted: Patch<T>,
): { readonly before: Partial<T>; readonly after: Partial<T> } | null {
  const before: Partial<T> = {}
  const after: Partial<T> = {}
  for (const key in wanted) {
    const value: T[typeof key] | undefined = wanted[key]
    if (value === undefined || isDeepStrictEqual(value, record[key])) continue
    before[key] = record[key]
    after[key] = value
  }
  return Object.keys(after).length === 0 ? null : { before, after }
}
