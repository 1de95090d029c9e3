/** A document with its id. */
export type WithId<Doc> = Doc & { readonly id: string }

const withIds = new WeakMap<object, object>()

/**
 * A stored document with its id, typed as its projection's document. The projection's reducers made it, so it is not
 * parsed again. The same stored object gives the same result object, so that values derived from it can be cached.
 */
export function withId<Doc extends object>({ id, doc }: { readonly id: string; readonly doc: object }): WithId<Doc> {
  const cached = withIds.get(doc)
  if (cached) return cached as WithId<Doc>
  const document = { ...(doc as Doc), id }
  withIds.set(doc, document)
  return document
}
