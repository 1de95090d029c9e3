import { get, type IncomingMessage } from 'node:http'
import type { Json } from './api-client.ts'

/** A server-sent event. */
export interface ServerSentEvent {
  readonly event: string
  readonly id: string
  readonly data: Json
}

/** A client of an event stream. */
export interface EventStreamClient {
  readonly status: number
  readonly headers: Headers
  /** The next event; null when the stream has ended. Skips keep-alive comments. */
  readonly next: () => Promise<ServerSentEvent | null>
  /** Closes the connection. */
  readonly close: () => void
}

function parseEvent(text: string): ServerSentEvent | null {
  const fields = Object.fromEntries(
    text.split('\n').map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 2)]),
  )
  return fields.event === undefined
    ? null
    : { event: fields.event, id: fields.id ?? '', data: JSON.parse(fields.data ?? 'null') }
}

/**
 * Opens an event stream; `next` waits for an event for 20 s at most. The stream has its own connection: `fetch` of
 * Node 24 may keep the connection of a stream that was aborted, and a stopping server waits for those.
 */
export async function openEventStream(url: string, token: string | null): Promise<EventStreamClient> {
  const headers = token === null ? {} : { authorization: `Bearer ${token}` }
  const requests = get(url, { headers, agent: false })
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    requests.once('response', resolve).once('error', reject)
  })
  // Ignores the error of a closed connection.
  requests.on('error', () => undefined)
  response.setEncoding('utf8')
  const parts: AsyncIterator<string> = response[Symbol.asyncIterator]()
  let read = ''
  return {
    status: response.statusCode ?? 0,
    headers: new Headers(Object.entries(response.headers).map(([name, value]) => [name, String(value)])),
    close: () => requests.destroy(),
    async next() {
      const late = setTimeout(() => requests.destroy(new Error('No event within 20 s')), 20_000)
      try {
        for (;;) {
          const end = read.indexOf('\n\n')
          if (end >= 0) {
            const event = parseEvent(read.slice(0, end))
            read = read.slice(end + 2)
            if (event) return event
            continue
          }
          const part = await parts.next()
          if (part.done) return null
          read += part.value
        }
      } finally {
        clearTimeout(late)
      }
    },
  }
}
