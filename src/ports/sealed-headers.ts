import type { Secrets } from './secrets.ts'

type Headers = Readonly<Record<string, string>>

/** Seals the values of a call's SIP headers for storage: one of them may be a publisher's routing key. */
export function sealHeaders(headers: Headers, { seal }: Pick<Secrets, 'seal'>): Headers {
  return mapValues(headers, seal)
}

/** Unseals the values of a call's SIP headers. @throws Error when they were sealed under another key, or modified */
export function unsealHeaders(headers: Headers, { unseal }: Pick<Secrets, 'unseal'>): Headers {
  return mapValues(headers, unseal)
}

function mapValues(headers: Headers, change: (value: string) => string): Headers {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, change(value)]))
}
