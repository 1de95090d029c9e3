import { TAG } from './limits-config.ts'

/** How a tag's key is spelt (Document 1, Limits, "Tags"). */
export const TAG_KEY = new RegExp(`^[A-Za-z0-9._-]{1,${TAG.key}}$`)

// A dot in a key would read as a step of a path, so documents keep another sign for it, which no key may hold.
const DOT = '․'

/** A tag's key as documents keep it. */
export function storedTag(key: string): string {
  return key.includes('.') ? key.replaceAll('.', DOT) : key
}

/** A tag's key again from what documents keep. */
export function tagOf(stored: string): string {
  return stored.includes(DOT) ? stored.replaceAll(DOT, '.') : stored
}
