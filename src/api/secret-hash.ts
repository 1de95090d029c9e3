import { hash } from 'node:crypto'

/** SHA-256 of a secret, in hex: the only form in which API keys and session tokens are stored. */
export function secretHash(secret: string): string {
  return hash('sha256', secret)
}
