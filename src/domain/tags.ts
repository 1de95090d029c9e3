import { TAG } from './limits.ts'

const TAG_KEY = new RegExp(`^[A-Za-z0-9._-]{1,${TAG.key}}$`)

/** Whether a tag's key is spelt as it must be (Document 1, Limits, "Tags"). */
export function isTagKey(key: string): boolean {
  return TAG_KEY.test(key)
}

// A dot in a key would read as a step of a path, so documents keep another sign for it, which no key may hold.
const DOT = '․'

/** A tag's key as documents keep it. */
export function storedTag(key: string): string {
  return key.replaceAll('.', DOT)
}

/** Tags by their own keys again, from what documents keep. */
export function tagsOf(stored: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(stored).map(([key, value]) => [key.replaceAll(DOT, '.'), value]))
}
