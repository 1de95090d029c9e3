import { createHmac } from 'node:crypto'
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import { buffer } from 'node:stream/consumers'
import type { Json } from './api-client.ts'
import { listenLocally } from './listen.ts'
import { waitUntil } from './server.ts'

/** A request as it came, its body as bytes. */
export interface ReceivedRequest {
  readonly method: string
  /** Path and query, as they were written. */
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
}

/** Answers a request; `n` counts the requests for the name, from 1. */
export type ReceiverAnswer = (response: ServerResponse, request: ReceivedRequest, n: number) => void

/** A customer's server: its paths answer by their first segment. */
export interface WebhookReceiver {
  readonly port: number
  /** The URL of a name. */
  readonly url: (name: string) => string
  /** The requests for a name, oldest first. */
  readonly got: (name: string) => readonly ReceivedRequest[]
  /** The requests for a name, once there are so many. @throws Error when there are not in time */
  readonly until: (name: string, count: number, boundMs?: number) => Promise<readonly ReceivedRequest[]>
  readonly close: () => void
}

/** Answers with a status, and a body. */
export const answerWith =
  (status: number, body = '', headers: Readonly<Record<string, string>> = {}): ReceiverAnswer =>
  (response) =>
    response.writeHead(status, headers).end(body)

/** Answers with each of some statuses, the last one from then on. */
export const answerInTurn =
  (...statuses: readonly number[]): ReceiverAnswer =>
  (response, _request, n) =>
    response.writeHead(statuses[Math.min(n, statuses.length) - 1] ?? 200).end()

/** The envelope in the body of a request. */
export const envelopeOf = ({ body }: ReceivedRequest): Json => JSON.parse(body.toString('utf8'))

const SIGNATURE = /^t=(\d+),v1=([0-9a-f]{64})$/

/** When a request was signed (seconds since the epoch), and its `v1`; null where it has no signature of the documented form. */
export function signatureOf({ headers }: ReceivedRequest): { readonly t: number; readonly v1: string } | null {
  const [, t, v1] = SIGNATURE.exec(String(headers['svc-signature'])) ?? []
  return t === undefined || v1 === undefined ? null : { t: Number(t), v1 }
}

/** Whether a secret has signed the bytes of a request (Document 2, Delivery request). */
export function isSignedBy(secret: string, request: ReceivedRequest): boolean {
  const signature = signatureOf(request)
  if (signature === null) return false
  const digest = createHmac('sha256', secret).update(`${signature.t}.`).update(request.body).digest('hex')
  return digest === signature.v1
}

/** Starts a server; a name without an answer of its own is answered 200. */
export async function startWebhookReceiver(
  answers: Readonly<Record<string, ReceiverAnswer>> = {},
): Promise<WebhookReceiver> {
  const requests = new Map<string, ReceivedRequest[]>()
  async function receive(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = '', url: path = '', headers } = incoming
    // A client that has given up ends what is still written.
    response.on('error', () => undefined)
    const request = { method, path, headers, body: await buffer(incoming) }
    const name = decodeURIComponent(/^\/([^/?]*)/.exec(path)?.[1] ?? '')
    const got = [...(requests.get(name) ?? []), request]
    requests.set(name, got)
    const answer = answers[name] ?? answerWith(200)
    answer(response, request, got.length)
  }
  const server = createServer((incoming, response) => void receive(incoming, response).catch(() => response.destroy()))
  const port = await listenLocally(server)
  const got = (name: string): readonly ReceivedRequest[] => requests.get(name) ?? []
  return {
    port,
    url: (name) => `http://127.0.0.1:${port}/${encodeURIComponent(name)}`,
    got,
    until: (name, count, boundMs) =>
      waitUntil(`${count} requests for ${name}`, async () => got(name).length >= count && got(name), boundMs),
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
}
