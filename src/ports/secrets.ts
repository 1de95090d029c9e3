/** Keeps secrets at rest: what is stored is sealed, and only a process with the master key opens it. */
export interface Secrets {
  /** Text sealed for storing, with the id of the key beside it. */
  seal(text: string): string
  /** @throws Error when the text was sealed under another key, or changed since */
  unseal(sealed: string): string
  /** What proves that a text came from here, for one purpose: HMAC-SHA256 under a key of that purpose, in base64url. */
  mac(purpose: string, text: string): string
}
