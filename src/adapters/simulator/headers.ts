import type { Secrets } from '../../ports/secrets.ts'

type Headers = Readonly<Record<string, string>>

const changed = (headers: Headers, change: (value: string) => string): Headers =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, change(value)]))

/** A call's SIP headers as they are stored: one of them may be a publisher's routing key. */
export function sealedHeaders(headers: Headers, { seal }: Pick<Secrets, 'seal'>): Headers {
  return changed(headers, seal)
}

/** A call's SIP headers as they were sent. */
export function openedHeaders(headers: Headers, { unseal }: Pick<Secrets, 'unseal'>): Headers {
  return changed(headers, unseal)
}
