import { sha256 } from '../kernel/sha256.ts'

/** SHA-256 of a secret, in hex: the only form in which API keys and session tokens are stored. */
export function secretHash(secret: string): string {
  return sha256(secret)
}
