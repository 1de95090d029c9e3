/** How our secrets look, wherever they stand: the prefix of their kind, then what must not be seen. */
const SECRETS = /\b(svc_live|svc_test|sess|whsec|pk|rk|rks|ct)_[A-Za-z0-9_-]{8,}/g

/** A text whose secrets are blotted out, but for their kind. */
export function redactSecrets(text: string): string {
  return text.replace(SECRETS, '$1_•••')
}
