import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { setTimeout as pause } from 'node:timers/promises'
import { listenLocally } from './listen.ts'

/** A service that requests are sent to, and how long (ms) a process of it that does not answer the connection is tried. */
interface Rule {
  readonly service: string
  readonly tryMs: number
  readonly matches: (method: string, path: string) => boolean
}

const below = (prefix: string) => (_method: string, path: string) => path === prefix || path.startsWith(`${prefix}/`)

/** The rules of `docker/Caddyfile`, in their order. */
export const PROXY_RULES: readonly Rule[] = [
  { service: 'auction-api', tryMs: 1_000, matches: below('/api/rtb') },
  { service: 'public-api', tryMs: 1_000, matches: below('/api/public') },
  {
    service: 'query-api',
    tryMs: 5_000,
    matches: (method, path) =>
      ['GET', 'HEAD'].includes(method) && !/^\/api\/(sandbox|carrier)\/|\/export\.csv$/.test(path),
  },
  { service: 'command-api', tryMs: 5_000, matches: () => true },
]

/** Pause (ms) between two tries. */
const PAUSE_MS = 100

/** Sends a request on; resolves to the answer. @throws the error of the connection */
function sendOn(
  baseUrl: string,
  { method, url = '/', headers }: IncomingMessage,
  body: Buffer,
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const sent = request(new URL(url, baseUrl), { method, headers, agent: false })
    sent.once('response', resolve)
    sent.once('error', reject)
    sent.end(body)
  })
}

const isRefused = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'ECONNREFUSED'

/** A proxy that sends requests on by path and method as that of the compose file does. Its services are one process each. */
export async function openPathProxy(
  baseUrls: Readonly<Record<string, string>>,
): Promise<{ readonly baseUrl: string; readonly close: () => Promise<void> }> {
  async function answer(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const { method = 'GET', url = '/' } = incoming
    const rule = PROXY_RULES.find(({ matches }) => matches(method, url.replace(/\?.*/, '')))
    const body = await buffer(incoming)
    const until = performance.now() + (rule?.tryMs ?? 0)
    for (;;) {
      try {
        const received = await sendOn(baseUrls[rule?.service ?? ''] ?? '', incoming, body)
        outgoing.writeHead(received.statusCode ?? 502, received.headers)
        received.pipe(outgoing)
        return
      } catch (error) {
        if (!isRefused(error) || performance.now() > until) break
        await pause(PAUSE_MS)
      }
    }
    outgoing.writeHead(503, { 'retry-after': '1', 'content-type': 'application/json; charset=utf-8' })
    outgoing.end(JSON.stringify({ error: { code: 'unavailable', message: 'The service is unavailable.' } }))
  }
  const server = createServer((incoming, outgoing) => void answer(incoming, outgoing))
  const port = await listenLocally(server)
  return {
    baseUrl: `http://127.0.0.1:${port}`,
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
