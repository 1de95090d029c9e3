import type { AnyCommand } from '../../kernel/command.ts'
import { parseStreamName } from '../../kernel/entity.ts'
import { instantOfUuid } from '../../kernel/uuid-instant.ts'

/** Age of an id (ms) up to which its stream probably has no event yet. */
const NEW_MS = 2_000

/**
 * Whether a stream is probably new, by the age of its id, or because each of its first commands begins one: then they are decided as on an
 * empty stream, without a read. The expected revision catches a wrong guess, and so does a decision without events, which is repeated on
 * the tail.
 */
export function isProbablyNew(stream: string, commands: readonly Pick<AnyCommand, 'begins'>[], now: number): boolean {
  if (commands.every(({ begins }) => begins)) return true
  const made = instantOfUuid(parseStreamName(stream).id)
  return made !== null && Math.abs(now - made) < NEW_MS
}
