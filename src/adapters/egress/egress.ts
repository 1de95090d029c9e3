import type { LookupAddress } from 'node:dns'
import { isIP } from 'node:net'
import { Agent, buildConnector, type Dispatcher, request } from 'undici'
import type { IpRange } from '../../kernel/ip-address.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Egress, EgressFailure, EgressRequest, EgressResponse } from '../../ports/egress.ts'
import { isReachable } from './addresses.ts'
import { createHostLookup, type HostLookup } from './host-lookup.ts'
import { createOriginLookups } from './origin-lookups.ts'

/** A failed request, with the message for the customer. */
class EgressError extends Error {
  override readonly name = 'Failed'
  readonly failure: EgressFailure

  constructor(failure: EgressFailure, sentence: string) {
    super(sentence)
    this.failure = failure
  }
}

const DEFAULT_PORTS: Readonly<Record<string, number>> = { 'http:': 80, 'https:': 443 }

const NO_URL = { protocol: '', host: '', username: '', password: '' }

const refusedError = () =>
  new EgressError(
    'refused',
    'The address is not allowed: it must be public, and its port must be 80, 443 or 8000 to 9999.',
  )

const TIMED_OUT = 'The request timed out.'

/** Connections to one origin: further requests wait for one, within their time. */
const CONNECTIONS = 512

/** Codes and names of timeout errors. */
const TIMEOUT_CODES = new Set([
  'TimeoutError',
  'ETIMEOUT',
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_HEADERS_TIMEOUT',
  'UND_ERR_BODY_TIMEOUT',
])

function toEgressError(error: unknown): EgressError {
  if (error instanceof EgressError) return error
  if (!(error instanceof Error)) return new EgressError('unreachable', 'The request failed.')
  const code = 'code' in error && typeof error.code === 'string' ? error.code : error.name
  if (TIMEOUT_CODES.has(code) || TIMEOUT_CODES.has(error.name)) return new EgressError('timeout', TIMED_OUT)
  return new EgressError('unreachable', `The request failed (${code}).`)
}

/**
 * The result of work, or the reason of the signal once it aborts. undici tells a request that it was aborted only when its
 * connection is there.
 */
function unlessAborted<Result>(signal: AbortSignal, work: Promise<Result>): Promise<Result> {
  return new Promise((resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true })
    work.then(resolve, reject)
  })
}

async function readText(body: Dispatcher.ResponseData['body'], maxBytes: number): Promise<string> {
  const parts: Buffer[] = []
  let bytes = 0
  for await (const part of body) {
    const chunk = Buffer.from(part)
    bytes += chunk.length
    if (bytes > maxBytes) throw new EgressError('too_large', `The response is larger than ${maxBytes} bytes.`)
    parts.push(chunk)
  }
  return Buffer.concat(parts).toString('utf8')
}

/** Checks the text of a URL; its addresses are checked at each connection. Returns its origin. @throws EgressError */
function originOf(url: string): string {
  const { protocol, host, username, password } = URL.parse(url) ?? NO_URL
  if (!(protocol in DEFAULT_PORTS)) throw new EgressError('refused', 'The URL must begin with http:// or https://.')
  if (username !== '' || password !== '') throw new EgressError('refused', 'The URL must not contain credentials.')
  return `${protocol}//${host}`
}

/** A connector that connects to given addresses alone, whatever the host. */
function connectorTo(addresses: readonly LookupAddress[]): buildConnector.connector {
  const [first] = addresses
  return buildConnector({
    lookup: (_host, { all }, found) =>
      all ? found(null, [...addresses]) : found(null, first?.address ?? '', first?.family),
  })
}

/**
 * Opens the client for requests to customers' addresses. Each connection resolves its host once, checks every address and
 * connects to a checked address, so that DNS rebinding has no effect. A look-up ends with the requests that wait for it.
 * Ranges in `allowed` may be reached on any port, also if they are not public.
 */
export function openEgress({
  allowed,
  clock,
  lookUp = createHostLookup(),
}: {
  readonly allowed: readonly IpRange[]
  readonly clock: Clock
  readonly lookUp?: HostLookup
}): Egress {
  const lookups = createOriginLookups()

  /** Resolves a host, and checks every address for the port. @throws EgressError, or the error of the look-up */
  async function resolveAllowed(origin: string, host: string, port: number): Promise<readonly LookupAddress[]> {
    const addresses =
      isIP(host) === 0
        ? await lookups.lookUp(origin, (signal) => lookUp(host, signal))
        : [{ address: host, family: isIP(host) }]
    if (addresses.length === 0) throw new EgressError('unreachable', 'The host name has no address.')
    if (!addresses.every(({ address }) => isReachable(address, port, allowed))) throw refusedError()
    return addresses
  }

  const connect: buildConnector.connector = (options, callback) => {
    const port = Number(options.port) || (DEFAULT_PORTS[options.protocol] ?? 0)
    resolveAllowed(`${options.protocol}//${options.host}`, options.hostname, port).then(
      (addresses) => connectorTo(addresses)(options, callback),
      (error: Error) => callback(error, null),
    )
  }
  const agent = new Agent({ connect, connections: CONNECTIONS, headersTimeout: 0, bodyTimeout: 0 })

  async function exchange({ url, method, headers, body, timeoutMs, maxBytes }: EgressRequest) {
    // Its timer ends with the request: those of `AbortSignal.timeout` stay until they fire.
    const controller = new AbortController()
    const { signal } = controller
    const timer = setTimeout(() => controller.abort(new EgressError('timeout', TIMED_OUT)), timeoutMs)
    const exchanged = async () => {
      const received = await request(url, { dispatcher: agent, method, headers, body, signal })
      const flat = Object.entries(received.headers).map(([name, value]) => [name, String(value)] as const)
      const text = await readText(received.body, maxBytes)
      return { ok: true as const, status: received.statusCode, headers: Object.fromEntries(flat), body: text }
    }
    try {
      return await lookups.during(originOf(url), () => unlessAborted(signal, exchanged()))
    } finally {
      clearTimeout(timer)
    }
  }

  return {
    async send(sent): Promise<EgressResponse> {
      const since = clock.now()
      try {
        const answer = await exchange(sent)
        return { ...answer, ms: clock.now() - since }
      } catch (error) {
        const { failure, message } = toEgressError(error)
        return { ok: false, failure, sentence: message, ms: clock.now() - since }
      }
    },
    // The agent ends every request, and the last request to an origin ends its look-ups.
    close: () => agent.destroy(),
  }
}
