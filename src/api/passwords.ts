import { randomUUID } from 'node:crypto'
import { hash, verify } from '@node-rs/argon2'

/** argon2id of a password, with a salt of its own: all that is ever stored of it. */
export function hashPassword(password: string): Promise<string> {
  return hash(password)
}

/** Stands in where nobody is registered, so that an unknown address takes as long as a wrong password. */
const unknownUserHash = hashPassword(randomUUID())

/** Whether a password is the one behind a hash; never, but after the same time, where there is no hash. */
export async function isCorrectPassword(password: string, kept: string | null): Promise<boolean> {
  const right = await verify(kept ?? (await unknownUserHash), password)
  return kept !== null && right
}
