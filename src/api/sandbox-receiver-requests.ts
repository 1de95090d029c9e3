import { z } from 'zod'
import { SANDBOX_RECEIVER } from '../domain/shared/limits.ts'
import { unescapeKeys } from '../kernel/proto-key.ts'
import { instant } from '../kernel/wire.ts'
import type { ApiRequest, RawBody } from '../ports/api.ts'
import type { OperationalStore } from '../ports/operational-store.ts'

/** A request that a simulated receiver got (Supplement §11). */
export const receivedRequest = z
  .object({
    at: instant,
    method: z.enum(['GET', 'POST']),
    /** With the query string. */
    path: z.string(),
    headers: z.record(z.string(), z.string()),
    body: z.string(),
    /** Whether its signature is right; null without one, or where nobody knows the secret. */
    verified: z.boolean().nullable(),
  })
  .meta({ id: 'ReceivedRequest' })
export type ReceivedRequest = Readonly<z.infer<typeof receivedRequest>>

/** Its number, from 1, and what it was. */
const keptRequest = z.object({ n: z.int(), request: receivedRequest })

/** Of a body, what is kept (bytes). */
const BODY_BYTES = 64 * 1024

const countOf = (receiverId: string) => `sandbox-receiver-count:${receiverId}`
const requestsOf = (receiverId: string) => `sandbox-receiver-request:${receiverId}:`
/** The place of a request: a new one takes that of the oldest. */
const placeOf = (receiverId: string, n: number) => `${requestsOf(receiverId)}${n % SANDBOX_RECEIVER.requests}`

/** Keeps a request among the newest of its receiver. Resolves to its number, from 1. @throws StoreUnavailable */
export async function keepRequest(
  ops: Pick<OperationalStore, 'put' | 'increment'>,
  receiverId: string,
  request: ReceivedRequest,
): Promise<number> {
  const n = await ops.increment(countOf(receiverId), 1, null, Date.parse(request.at))
  await ops.put(placeOf(receiverId, n), { n, request }, null)
  return n
}

/** The newest requests of a receiver, newest first. @throws StoreUnavailable */
export async function newestRequests(
  ops: Pick<OperationalStore, 'list'>,
  receiverId: string,
  now: number,
): Promise<readonly ReceivedRequest[]> {
  const kept = await ops.list(requestsOf(receiverId), now, { limit: SANDBOX_RECEIVER.requests })
  return kept
    .map(({ value }) => keptRequest.parse(value))
    .toSorted((one, other) => other.n - one.n)
    .map(({ request }) => request)
}

const raw = z.custom<RawBody>((body) => typeof body === 'object' && body !== null && 'bytes' in body)
const parameters = z.record(z.string(), z.string())

const textOf = (bytes: Uint8Array) => new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes)

/** The query string as macros write it: a space is `%20`. */
function queryStringOf(query: unknown): string {
  const sent = Object.entries(unescapeKeys(parameters.parse(query)))
  return sent.length === 0 ? '' : `?${sent.map((pair) => pair.map(encodeURIComponent).join('=')).join('&')}`
}

/** Headers with one text each. */
function headersOf({ headers }: RawBody): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, [value].flat().join(', ')] as const],
    ),
  )
}

/** Reads a request of a raw route. `path` is that of its receiver; `text` is the whole body, `body` what is kept of it. */
export function parseReceivedRequest({ body, query }: Pick<ApiRequest, 'body' | 'query'>, path: string) {
  const sent = raw.parse(body)
  return {
    path: `${path}${queryStringOf(query)}`,
    headers: headersOf(sent),
    text: textOf(sent.bytes),
    body: textOf(sent.bytes.subarray(0, BODY_BYTES)),
  }
}
