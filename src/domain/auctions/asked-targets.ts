/** Digits of a target's id that tell it apart in its workspace: the random end of a UUIDv7. */
const DIGITS = 12

const shortOf = (targetId: string) => targetId.slice(-DIGITS)

/**
 * The targets of an auction as one text, which many auctions share: so auctions are filtered by target without lists. Null for
 * none.
 */
export function askedText(targetIds: Iterable<string>): string | null {
  const all = [...new Set(Array.from(targetIds, shortOf))].toSorted()
  return all.length === 0 ? null : all.join(' ')
}

/** Whether a target is in such a text. */
export function isAsked(text: unknown, targetId: string): text is string {
  return typeof text === 'string' && text.split(' ').includes(shortOf(targetId))
}
