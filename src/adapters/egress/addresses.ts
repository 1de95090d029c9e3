import { type IpRange, parseIpAddress, parseIpRange, rangesOverlap, singleAddress } from '../../kernel/ip-address.ts'

/** Ranges that are not globally routable, by the registries of special-purpose addresses (RFC 6890 and its successors). */
const SPECIAL: readonly IpRange[] = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/3',
  // Only 2000::/3 of IPv6 is routed; loopback, mapped forms, NAT64, local addresses and multicast lie outside it.
  '::/3',
  '4000::/2',
  '8000::/1',
  // Inside 2000::/3: protocol assignments with Teredo, benchmarks and ORCHID; documentation; 6to4; the old test network.
  '2001::/23',
  '2001:db8::/32',
  '2002::/16',
  '3fff::/20',
  '3ffe::/16',
].flatMap((text) => parseIpRange(text) ?? [])

/** Whether every address of a range is globally routable. */
export function isGlobal(range: IpRange): boolean {
  return !SPECIAL.some((special) => rangesOverlap(special, range))
}

/** Ports that may be reached on public addresses. */
function isOpenPort(port: number): boolean {
  return port === 80 || port === 443 || (port >= 8_000 && port <= 9_999)
}

/**
 * The rule that a request to an IP address and port breaks (Supplement §8, "Addresses refused"): null for any port of an
 * address in `allowed`, and for an open port of a public address. Text that is not an address is none that is allowed.
 */
export function brokenRule(address: string, port: number, allowed: readonly IpRange[]): 'address' | 'port' | null {
  const parsed = parseIpAddress(address)
  if (!parsed) return 'address'
  const single = singleAddress(parsed)
  if (allowed.some((range) => rangesOverlap(range, single))) return null
  if (!isGlobal(single)) return 'address'
  return isOpenPort(port) ? null : 'port'
}
