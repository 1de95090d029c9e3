/** Keeps secrets at rest: what is stored is sealed, and only a process with the master key opens it. */
export interface Secrets {
  /** Text sealed for storing, with the id of the key beside it. */
  seal(text: string): string
  /** @throws Error when the text was sealed under another key, or changed since */
  unseal(sealed: string): string
}
