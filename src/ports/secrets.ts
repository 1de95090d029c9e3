/** Encryption of secrets at rest: only a process with the master key can unseal them. */
export interface Secrets {
  /** Seals a text for storage; the result contains the id of the key. */
  seal(text: string): string
  /** Restores a sealed text. @throws Error when it was sealed under another key, or modified */
  unseal(sealed: string): string
  /** Authenticates a text for one purpose: HMAC-SHA256 under a key of that purpose, in base64url. */
  mac(purpose: string, text: string): string
}
