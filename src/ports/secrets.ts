/** Where a sealed value belongs: sealed for one place, it opens at no other. */
export interface Place {
  /** Each purpose has a key of its own. */
  readonly purpose: string
  /** What holds the value, from the outside in: workspace, record, field. */
  readonly path: readonly string[]
}

/** Encryption of secrets at rest, and what is derived: all of it under keys from the root, which the master key protects. */
export interface Secrets {
  /** Seals a text for storage at a place. */
  seal(text: string, place: Place): string
  /** Restores a text that was sealed for this place. @throws Error when it was sealed under another key or for another place, or modified */
  unseal(sealed: string, place: Place): string
  /** Authenticates a text for one purpose: HMAC-SHA256 under a key of that purpose, in base64url. */
  mac(purpose: string, text: string): string
  /** Derives a secret for one purpose: always the same 32 bytes, in base64url. */
  derive(purpose: string): string
}
