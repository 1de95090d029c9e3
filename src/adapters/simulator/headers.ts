import type { Secrets } from '../../ports/secrets.ts'

type Headers = Readonly<Record<string, string>>

const mapValues = (headers: Headers, change: (value: string) => string): Headers =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, change(value)]))

/** Seals a call's SIP headers for storage: one of them may be a publisher's routing key. */
export function sealHeaders(headers: Headers, { seal }: Pick<Secrets, 'seal'>): Headers {
  return mapValues(headers, seal)
}

/** Unseals a call's SIP headers. */
export function unsealHeaders(headers: Headers, { unseal }: Pick<Secrets, 'unseal'>): Headers {
  return mapValues(headers, unseal)
}
