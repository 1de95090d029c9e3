import type { LookupAddress } from 'node:dns'
import { Resolver } from 'node:dns/promises'
import { readFileSync } from 'node:fs'
import { isIP } from 'node:net'

/** Looks up the addresses of a host name until the signal aborts. @throws Error with a code when it has none */
export type HostLookup = (host: string, signal: AbortSignal) => Promise<readonly LookupAddress[]>

/** How long a name server may take to answer before it is asked again (ms), and how often it is asked. */
const QUERY_MS = 2_000
const TRIES = 2

/** A name without addresses, or without any of this family. */
const NOTHING_FOUND = new Set(['ENODATA', 'ENOTFOUND'])

const LOOPBACK: readonly LookupAddress[] = [{ address: '127.0.0.1', family: 4 }]

/** A name as it is compared: lower case, without the dot of an absolute name. */
const canonicalName = (host: string) => host.toLowerCase().replace(/\.$/, '')

/** The addresses by name in the text of a hosts file. */
function parseHosts(text: string): ReadonlyMap<string, readonly LookupAddress[]> {
  const hosts = new Map<string, LookupAddress[]>()
  for (const line of text.split('\n')) {
    const [address = '', ...names] = line.replace(/#.*/, '').trim().split(/\s+/)
    const family = isIP(address)
    if (family === 0) continue
    for (const name of names.map(canonicalName)) hosts.set(name, [...(hosts.get(name) ?? []), { address, family }])
  }
  return hosts
}

function readHosts(path: string): ReturnType<typeof parseHosts> {
  try {
    return parseHosts(readFileSync(path, 'utf8'))
  } catch {
    return new Map()
  }
}

const codeOf = (error: unknown) => (error instanceof Error && 'code' in error ? error.code : null)

/** Asks the name servers for the addresses of both families. A family that cannot be asked counts as empty beside the other. */
async function resolveBoth(resolver: Resolver, host: string): Promise<readonly LookupAddress[]> {
  const [v4, v6] = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)])
  const found = [
    ...(v4.status === 'fulfilled' ? v4.value.map((address) => ({ address, family: 4 })) : []),
    ...(v6.status === 'fulfilled' ? v6.value.map((address) => ({ address, family: 6 })) : []),
  ]
  if (found.length > 0) return found
  const errors = [v4, v6].flatMap((answer): unknown[] => (answer.status === 'rejected' ? [answer.reason] : []))
  throw errors.find((error) => !NOTHING_FOUND.has(String(codeOf(error)))) ?? errors[0] ?? new Error('No address.')
}

/**
 * Creates the look-up of host names. The system's own (`getaddrinfo`) holds a thread of libuv's pool for as long as a name
 * server is silent, and cannot be cancelled; this one asks the name servers over sockets. `localhost` and its sub-domains
 * are 127.0.0.1 (RFC 6761); the hosts file, read once, precedes the servers; search domains are not applied.
 */
export function createHostLookup({
  servers,
  hostsFile = '/etc/hosts',
}: {
  /** Name servers, as `address:port`; those of the system by default. */
  readonly servers?: readonly string[]
  readonly hostsFile?: string
} = {}): HostLookup {
  const hosts = readHosts(hostsFile)
  return async (host, signal) => {
    const name = canonicalName(host)
    if (name === 'localhost' || name.endsWith('.localhost')) return LOOPBACK
    const listed = hosts.get(name)
    if (listed) return listed
    signal.throwIfAborted()
    const resolver = new Resolver({ timeout: QUERY_MS, tries: TRIES })
    if (servers) resolver.setServers(servers)
    const cancel = () => resolver.cancel()
    signal.addEventListener('abort', cancel, { once: true })
    try {
      return await resolveBoth(resolver, name)
    } finally {
      signal.removeEventListener('abort', cancel)
    }
  }
}
