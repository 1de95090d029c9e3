/** Secrets as issued: the prefix of their kind, then the secret part. */
const SECRETS = /(?<![A-Za-z0-9])(svc_live|svc_test|sess|inv|rst|whsec|pk|rk|rks|ct)_[A-Za-z0-9_-]{8,}/g

/** The text with the secret part of every secret replaced; the prefix of its kind stays. */
export function redactSecrets(text: string): string {
  return text.replace(SECRETS, '$1_•••')
}
