import { hash } from 'node:crypto'
import { Agent, createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { setTimeout as pause } from 'node:timers/promises'
import { listenLocally } from './listen.ts'

/** A service that requests are sent to, and how long (ms) a process of it that does not answer the connection is tried. */
interface Rule {
  readonly service: string
  readonly tryMs: number
  /** Whether all requests of one credential go to one process. */
  readonly isSticky?: boolean
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
  { service: 'command-api', tryMs: 5_000, isSticky: true, matches: () => true },
]

/** Pause (ms) between two tries. */
const PAUSE_MS = 100
/** How long (ms) a process that has failed is passed over, where there is another (`fail_duration`). */
const FAIL_MS = 1_000

/** Sends a request on; resolves to the answer. @throws the error of the connection */
function sendOn(
  agent: Agent,
  baseUrl: string,
  { method, url = '/', headers }: IncomingMessage,
  body: Buffer,
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const sent = request(new URL(url, baseUrl), { method, headers, agent })
    sent.once('response', resolve)
    sent.once('error', reject)
    sent.end(body)
  })
}

const isRefused = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'ECONNREFUSED'

/** Chooses the process of a service for each try: the same one for each credential where the service is sticky, else each in turn. */
function createChoice(baseUrlsOf: (service: string) => readonly string[]) {
  const failedUntil = new Map<string, number>()
  let turns = 0
  return {
    fail: (baseUrl: string) => void failedUntil.set(baseUrl, performance.now() + FAIL_MS),
    /** Undefined while all have failed. */
    next({ service, isSticky }: Rule, { headers: { authorization = '' } }: IncomingMessage): string | undefined {
      const now = performance.now()
      const healthy = baseUrlsOf(service).filter((baseUrl) => (failedUntil.get(baseUrl) ?? 0) <= now)
      turns += 1
      if (!isSticky) return healthy[turns % healthy.length]
      const weightOf = (baseUrl: string) => hash('sha256', `${baseUrl} ${authorization}`)
      return healthy.toSorted((one, other) => weightOf(one).localeCompare(weightOf(other)))[0]
    },
  }
}

/** Base URLs of the processes of each service, as they are when a request comes: one, or several. */
type Services = Readonly<Record<string, string | readonly string[]>>

/** A proxy that sends requests on by path and method as that of the compose file does, and tries another process where one is gone. */
export async function openPathProxy(
  services: Services | (() => Services),
): Promise<{ readonly baseUrl: string; readonly close: () => Promise<void> }> {
  const agent = new Agent({ keepAlive: true })
  const choice = createChoice((service) =>
    [(typeof services === 'function' ? services() : services)[service] ?? []].flat(),
  )

  /** The answer of a process; null where none answers. Like Caddy, it sends again what was not sent, and reads. */
  async function answerOf(rule: Rule, incoming: IncomingMessage, body: Buffer): Promise<IncomingMessage | null> {
    for (const until = performance.now() + rule.tryMs; ; await pause(PAUSE_MS)) {
      const baseUrl = choice.next(rule, incoming)
      if (baseUrl !== undefined)
        try {
          return await sendOn(agent, baseUrl, incoming, body)
        } catch (error) {
          choice.fail(baseUrl)
          if (!isRefused(error) && incoming.method !== 'GET') return null
        }
      if (performance.now() > until) return null
    }
  }

  async function answer(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const { method = 'GET', url = '/' } = incoming
    const rule = PROXY_RULES.find(({ matches }) => matches(method, url.replace(/\?.*/, '')))
    const received = rule ? await answerOf(rule, incoming, await buffer(incoming)) : null
    if (received) {
      const { connection: _, 'keep-alive': __, ...headers } = received.headers
      outgoing.writeHead(received.statusCode ?? 502, headers)
      received.on('error', () => outgoing.destroy())
      received.pipe(outgoing)
      return
    }
    outgoing.writeHead(503, { 'retry-after': '1', 'content-type': 'application/json; charset=utf-8' })
    outgoing.end(JSON.stringify({ error: { code: 'unavailable', message: 'The service is unavailable.' } }))
  }
  const server = createServer((incoming, outgoing) => void answer(incoming, outgoing))
  const port = await listenLocally(server)
  return {
    baseUrl: `http://127.0.0.1:${port}`,
    async close() {
      agent.destroy()
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
