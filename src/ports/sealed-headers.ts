import { sipHeaderPlace } from './sealed-places.ts'
import type { Secrets } from './secrets.ts'

type Headers = Readonly<Record<string, string>>

/** Seals the values of a call's SIP headers for storage: one of them may be a publisher's routing key. */
export function sealHeaders(headers: Headers, carrierCallId: string, { seal }: Pick<Secrets, 'seal'>): Headers {
  return mapHeaders(headers, (value, name) => seal(value, sipHeaderPlace(carrierCallId, name)))
}

/** Unseals the values of a call's SIP headers. @throws Error when one was sealed under another key or for another call, or modified */
export function unsealHeaders(headers: Headers, carrierCallId: string, { unseal }: Pick<Secrets, 'unseal'>): Headers {
  return mapHeaders(headers, (value, name) => unseal(value, sipHeaderPlace(carrierCallId, name)))
}

function mapHeaders(headers: Headers, change: (value: string, name: string) => string): Headers {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, change(value, name)]))
}
