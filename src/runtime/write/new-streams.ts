import { parseStreamName } from '../../kernel/entity.ts'
import { instantOfUuid } from '../../kernel/uuid-instant.ts'

/** Age of an id (ms) up to which its stream probably has no event yet. */
const NEW_MS = 2_000

/**
 * Whether a stream is probably new, by the age of its id: then a first command is decided as on an empty stream, without a
 * read. The expected revision catches a wrong guess, and so does a decision without events, which is repeated on the tail.
 */
export function isProbablyNew(stream: string, now: number): boolean {
  const made = instantOfUuid(parseStreamName(stream).id)
  return made !== null && Math.abs(now - made) < NEW_MS
}
