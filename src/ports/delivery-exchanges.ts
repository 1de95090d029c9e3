import type { OperationalStore } from './operational-store.ts'
import { exchangePlace } from './sealed-places.ts'
import type { Secrets } from './secrets.ts'

/** Headers and bodies of one attempt, which are kept beside its event (Supplement §8). */
export interface DeliveryExchange {
  readonly requestHeaders: Readonly<Record<string, string>>
  /** Of a pixel alone: a webhook's body is its envelope. */
  readonly requestBody: string | null
  /** Null where no answer came. */
  readonly responseHeaders: Readonly<Record<string, string>> | null
  readonly responseBody: string | null
}

const prefixOf = (deliveryId: string) => `exchange:${deliveryId}:`
const entryOf = (deliveryId: string, n: number) => `${prefixOf(deliveryId)}${n}`

/** Stores the exchange of an attempt, sealed: its headers may hold a receiver's secrets. @throws StoreUnavailable */
export function putExchange(
  ops: Pick<OperationalStore, 'put'>,
  { seal }: Pick<Secrets, 'seal'>,
  { deliveryId, n }: { readonly deliveryId: string; readonly n: number },
  exchange: DeliveryExchange,
): Promise<void> {
  const entry = entryOf(deliveryId, n)
  return ops.put(entry, seal(JSON.stringify(exchange), exchangePlace(entry)), null)
}

/** The exchange of an attempt; null where none is kept. @throws StoreUnavailable */
export async function readExchange(
  ops: Pick<OperationalStore, 'get'>,
  { unseal }: Pick<Secrets, 'unseal'>,
  { deliveryId, n }: { readonly deliveryId: string; readonly n: number },
  now: number,
): Promise<DeliveryExchange | null> {
  const entry = entryOf(deliveryId, n)
  const stored = await ops.get(entry, now)
  return stored && (JSON.parse(unseal(String(stored.value), exchangePlace(entry))) as DeliveryExchange)
}

/** Deletes the exchanges of a delivery. @throws StoreUnavailable */
export async function deleteExchanges(
  ops: Pick<OperationalStore, 'list' | 'delete'>,
  deliveryId: string,
  now: number,
): Promise<void> {
  for (const { key } of await ops.list(prefixOf(deliveryId), now)) await ops.delete(key)
}
