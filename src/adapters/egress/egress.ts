import type { LookupAddress } from 'node:dns'
import { buildConnector } from 'undici'
import type { IpRange } from '../../kernel/ip-address.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Egress, EgressResponse } from '../../ports/egress.ts'
import { EgressError, toEgressError } from './egress-error.ts'
import { exchange } from './exchange.ts'
import { createHostLookup, type HostLookup } from './host-lookup.ts'
import { createOrigins } from './origins.ts'
import { allowedUrl, portOf, resolveAllowed } from './url-check.ts'

/** Connections to one origin. */
const CONNECTIONS = 512

/** A connector that connects to given addresses alone, whatever the host; certificates must be those of the host's name. */
function connectorTo(addresses: readonly LookupAddress[]): buildConnector.connector {
  const [first] = addresses
  return buildConnector({
    rejectUnauthorized: true,
    lookup: (_host, { all }, found) =>
      all ? found(null, [...addresses]) : found(null, first?.address ?? '', first?.family),
  })
}

/** Runs a look-up for at most `timeoutMs`. @throws EgressError when its time is over */
async function lookWithin<Result>(timeoutMs: number, look: (signal: AbortSignal) => Promise<Result>): Promise<Result> {
  const controller = new AbortController()
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(() => {
    late.reject(new EgressError('timeout', 'The host name was not resolved in time.', 'unresolvable'))
    controller.abort()
  }, timeoutMs)
  try {
    return await Promise.race([look(controller.signal), late.promise])
  } finally {
    clearTimeout(timer)
  }
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
  connections = CONNECTIONS,
}: {
  readonly allowed: readonly IpRange[]
  readonly clock: Clock
  readonly lookUp?: HostLookup
  readonly connections?: number
}): Egress {
  const connect =
    (signal: () => AbortSignal): buildConnector.connector =>
    (options, callback) => {
      resolveAllowed(options.hostname, portOf(options), allowed, (name) => lookUp(name, signal())).then(
        (addresses) => connectorTo(addresses)(options, callback),
        (error: Error) => callback(error, null),
      )
    }
  const origins = createOrigins({ connections, connect })

  return {
    async send(sent): Promise<EgressResponse> {
      const since = clock.now()
      try {
        const url = allowedUrl(sent.url, sent.httpsOnly ?? false)
        const answer = await origins.during(url.origin, (pool) => exchange(pool, url, sent))
        return { ...answer, ms: clock.now() - since }
      } catch (error) {
        const { failure, message, rule } = toEgressError(error)
        const named = failure === 'refused' && rule ? { rule } : {}
        return { ok: false, failure, sentence: message, ms: clock.now() - since, ...named }
      }
    },
    async vet({ url, httpsOnly = false, timeoutMs }) {
      try {
        const read = allowedUrl(url, httpsOnly)
        await lookWithin(timeoutMs, (signal) =>
          resolveAllowed(read.hostname, portOf(read), allowed, (name) => lookUp(name, signal)),
        )
        return null
      } catch (error) {
        const { message, rule } = toEgressError(error)
        return { rule: rule ?? 'unresolvable', sentence: message }
      }
    },
    close: () => origins.close(),
  }
}
