import { Agent, type IncomingHttpHeaders, type IncomingMessage, request } from 'node:http'
import { text } from 'node:stream/consumers'
import type { Json } from '../e2e/api-client.ts'

/** What came of a request: an answer, no connection, or a connection that was lost after it was open. */
export type Exchange =
  | { readonly end: 'answered'; readonly status: number; readonly headers: IncomingHttpHeaders; readonly body: Json }
  | { readonly end: 'refused' }
  | { readonly end: 'dropped'; readonly error: string }

/** A request of a client. A body is sent as JSON. */
export interface Sent {
  readonly method?: string
  readonly token?: string | null
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: unknown
}

/** A client that sends its requests over one connection, one after the other, as long as the server keeps it open. */
export interface KeepAliveClient {
  readonly send: (path: string, sent?: Sent) => Promise<Exchange>
  readonly close: () => void
}

function jsonOf(content: string): Json {
  try {
    return JSON.parse(content)
  } catch {
    return content
  }
}

async function answerOf(response: IncomingMessage): Promise<Exchange> {
  const body = jsonOf(await text(response))
  return { end: 'answered', status: response.statusCode ?? 0, headers: response.headers, body }
}

const failureOf = (error: unknown): Exchange => {
  const code = error instanceof Error && 'code' in error ? String(error.code) : String(error)
  return code === 'ECONNREFUSED' ? { end: 'refused' } : { end: 'dropped', error: code }
}

/** Creates a client of a server. */
export function createKeepAliveClient(baseUrl: string): KeepAliveClient {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  return {
    async send(path, { method = 'GET', token = null, headers = {}, body } = {}) {
      const sent = {
        ...(token === null ? {} : { authorization: `Bearer ${token}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      }
      const answered = new Promise<IncomingMessage>((resolve, reject) => {
        const open = request(new URL(path, baseUrl), { method, headers: sent, agent })
        open.once('response', resolve).once('error', reject)
        open.end(body === undefined ? undefined : JSON.stringify(body))
      })
      return answered.then(answerOf).catch(failureOf)
    },
    close: () => agent.destroy(),
  }
}
