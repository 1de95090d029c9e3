import type { LookupAddress } from 'node:dns'
import { isIP } from 'node:net'
import type { IpRange } from '../../kernel/ip-address.ts'
import { brokenRule } from './addresses.ts'
import { EgressError, toLookupError } from './egress-error.ts'

const DEFAULT_PORTS: Readonly<Record<string, number>> = { 'http:': 80, 'https:': 443 }

const SENTENCES = {
  credentials: 'The URL must not contain credentials.',
  address: 'The address is not allowed: it must be public.',
  port: 'The port is not allowed: it must be 80, 443 or 8000 to 9999.',
} as const

const refusedBy = (rule: keyof typeof SENTENCES) => new EgressError('refused', SENTENCES[rule], rule)

/** Reads a URL whose text is allowed; its addresses are checked at each connection. @throws EgressError */
export function allowedUrl(text: string, httpsOnly: boolean): URL {
  const url = URL.parse(text)
  const schemes = httpsOnly ? ['https:'] : Object.keys(DEFAULT_PORTS)
  if (!url || !schemes.includes(url.protocol)) {
    const begins = schemes.map((scheme) => `${scheme}//`).join(' or ')
    throw new EgressError('refused', `The URL must be valid and begin with ${begins}.`, 'https')
  }
  if (url.username !== '' || url.password !== '') throw refusedBy('credentials')
  return url
}

/** The port that a URL names, or that of its scheme. */
export function portOf({ protocol, port }: { readonly protocol: string; readonly port: string }): number {
  return port === '' ? (DEFAULT_PORTS[protocol] ?? 0) : Number(port)
}

/**
 * Finds the addresses of a host, and checks each for the port. `look` resolves a name; a literal address needs none.
 * @throws EgressError when one is not allowed, or none is found
 */
export async function resolveAllowed(
  host: string,
  port: number,
  allowed: readonly IpRange[],
  look: (name: string) => Promise<readonly LookupAddress[]>,
): Promise<readonly LookupAddress[]> {
  const literal = host.replace(/^\[|\]$/g, '')
  const family = isIP(literal)
  const addresses =
    family === 0
      ? await look(host).catch((error) => Promise.reject(toLookupError(error)))
      : [{ address: literal, family }]
  if (addresses.length === 0) throw new EgressError('unreachable', 'The host name has no address.', 'unresolvable')
  const broken = addresses.map(({ address }) => brokenRule(address, port, allowed)).find((rule) => rule !== null)
  if (broken) throw refusedBy(broken)
  return addresses
}
