import type { Map as PersistentMap } from 'immutable'
import { z } from 'zod'
import { escapeKey, PROTO_KEY, unescapeKey } from '../../kernel/proto-key.ts'
import { TAG } from '../shared/limits.ts'

const TAG_KEY = new RegExp(`^[A-Za-z0-9._-]{1,${TAG.key}}$`)

/** Whether a tag's key has a valid format (Document 1, Limits, "Tags"). */
export function isTagKey(key: string): boolean {
  return TAG_KEY.test(key)
}

// A dot in a key would separate a path of fields, so documents store another character, which no key may contain.
const DOT = '․'

/** A tag's key as documents store it. */
export function storedTag(key: string): string {
  return escapeKey(key).replaceAll('.', DOT)
}

/** Tags by their own keys, from the stored ones. */
export function tagsOf(stored: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(stored).map(([key, value]) => [unescapeKey(key).replaceAll(DOT, '.'), value]),
  )
}

/** Tags by their own keys as JSON, from the stored ones. */
export function tagsText(stored: Readonly<Record<string, string>>): string {
  const text = JSON.stringify(stored)
  return text.includes(DOT) || text.includes(PROTO_KEY) ? JSON.stringify(tagsOf(stored)) : text
}

/** Tags by key. */
export type Tags = PersistentMap<string, string>

/** One tag before and after a change; null where there is none. */
export const tagChange = z.object({ key: z.string(), before: z.string().nullable(), after: z.string().nullable() })
export type TagChange = Readonly<z.infer<typeof tagChange>>

/** A tag's value: text, truncated to the maximum number of characters (code points). */
export function tagValue(value: string | number | boolean): string {
  const text = String(value)
  if (text.length <= TAG.value) return text.toWellFormed()
  // A code point has at most two code units.
  return [...text.slice(0, 2 * TAG.value)].slice(0, TAG.value).join('').toWellFormed()
}

/** Tags in a request; null removes a tag. */
export const tagsInput = z.record(
  z.string().refine((key) => isTagKey(unescapeKey(key)), {
    error: `must be 1 to ${TAG.key} letters, digits, dots, hyphens or underscores`,
  }),
  z.union([z.string(), z.number(), z.boolean(), z.null()], { error: 'must be a text, a number, a boolean or null' }),
)

/** The changes that a request makes to present tags. */
export function tagChanges(tags: Tags, sent: z.infer<typeof tagsInput>): readonly TagChange[] {
  return Object.entries(sent).flatMap(([sentKey, value]) => {
    const key = unescapeKey(sentKey)
    const [before, after] = [tags.get(key) ?? null, value === null ? null : tagValue(value)]
    return before === after ? [] : [{ key, before, after }]
  })
}

/** Tags of an arrival, by stored key. */
export function storedTagsOf(tags: Readonly<Record<string, { readonly value: string }>>): Record<string, string> {
  return Object.fromEntries(Object.entries(tags).map(([key, { value }]) => [storedTag(key), value]))
}

/** Stored tags after changes; `value` is what is stored of a tag that is set, its value by default. */
export function changeStoredTags(
  tags: Readonly<Record<string, string>>,
  changes: readonly TagChange[],
  value: (after: string) => string = (after) => after,
): Record<string, string> {
  const changed = new Set(changes.map(({ key }) => storedTag(key)))
  const unchanged = Object.entries(tags).filter(([key]) => !changed.has(key))
  const set = changes.flatMap(({ key, after }) => (after === null ? [] : [[storedTag(key), value(after)] as const]))
  return Object.fromEntries([...unchanged, ...set])
}

/** Tags after changes. */
export function applyTagChanges(tags: Tags, changes: readonly TagChange[]): Tags {
  return tags.withMutations((draft) => {
    for (const { key, after } of changes) after === null ? draft.delete(key) : draft.set(key, after)
  })
}
