import type { LookupAddress } from 'node:dns'
import { isIP } from 'node:net'
import { Agent, buildConnector } from 'undici'
import type { IpRange } from '../../kernel/ip-address.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Egress, EgressResponse } from '../../ports/egress.ts'
import { isReachable } from './addresses.ts'
import { EgressError, toEgressError } from './egress-error.ts'
import { exchange } from './exchange.ts'
import { createHostLookup, type HostLookup } from './host-lookup.ts'
import { createOriginLookups } from './origin-lookups.ts'

const DEFAULT_PORTS: Readonly<Record<string, number>> = { 'http:': 80, 'https:': 443 }

const refusedError = () =>
  new EgressError(
    'refused',
    'The address is not allowed: it must be public, and its port must be 80, 443 or 8000 to 9999.',
  )

/** Connections to one origin: further requests wait for one, within their time. */
const CONNECTIONS = 512

/** Reads a URL whose text is allowed; its addresses are checked at each connection. @throws EgressError */
function allowedUrl(text: string): URL {
  const url = URL.parse(text)
  if (!url || !(url.protocol in DEFAULT_PORTS))
    throw new EgressError('refused', 'The URL must begin with http:// or https://.')
  if (url.username !== '' || url.password !== '')
    throw new EgressError('refused', 'The URL must not contain credentials.')
  return url
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

  return {
    async send(sent): Promise<EgressResponse> {
      const since = clock.now()
      try {
        const url = allowedUrl(sent.url)
        const answer = await lookups.during(url.origin, () => exchange(agent, url, sent))
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
