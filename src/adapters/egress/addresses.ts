import { isIP } from 'node:net'

/** Addresses of one family, both ends included, as numbers. */
export interface AddressRange {
  readonly family: 4 | 6
  readonly first: bigint
  readonly last: bigint
}

interface Address {
  readonly family: 4 | 6
  readonly value: bigint
}

const BITS = { 4: 32n, 6: 128n } as const

/** The groups of an IPv6 address in its shortest spelling, as the URL parser writes it. */
function groupsOf(spelling: string): readonly string[] {
  const [head = '', tail] = spelling.split('::')
  const before = head === '' ? [] : head.split(':')
  if (tail === undefined) return before
  const after = tail === '' ? [] : tail.split(':')
  return [...before, ...Array<string>(8 - before.length - after.length).fill('0'), ...after]
}

/** An address as a number; null for what is none, and for one that names an interface (`fe80::1%eth0`). */
function addressOf(text: string): Address | null {
  const family = isIP(text)
  if (family === 4) return { family, value: text.split('.').reduce((sum, part) => sum * 256n + BigInt(part), 0n) }
  if (family !== 6 || text.includes('%')) return null
  const groups = groupsOf(new URL(`http://[${text}]`).hostname.slice(1, -1))
  return { family, value: groups.reduce((sum, group) => sum * 65_536n + BigInt(`0x${group}`), 0n) }
}

/** A range from its spelling: `10.0.0.0/8`, `fd00::/8`, or one address. Null when it is none, or its base is not. */
export function parseAddressRange(text: string): AddressRange | null {
  const [base = '', prefix, ...more] = text.split('/')
  const address = addressOf(base)
  if (!address || more.length > 0) return null
  const bits = BITS[address.family]
  if (prefix !== undefined && !/^\d{1,3}$/.test(prefix)) return null
  const length = prefix === undefined ? bits : BigInt(prefix)
  if (length > bits) return null
  const size = 1n << (bits - length)
  const first = (address.value / size) * size
  return { family: address.family, first, last: first + size - 1n }
}

const ranges = (...texts: readonly string[]): readonly AddressRange[] =>
  texts.flatMap((text) => parseAddressRange(text) ?? [])

/** What is not globally routable, by the registries of special-purpose addresses (RFC 6890 and its successors). */
const SPECIAL = ranges(
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
  // Of IPv6 only 2000::/3 is routed at all; what lies outside it holds loopback, mapped forms, NAT64, local and multicast.
  '::/3',
  '4000::/2',
  '8000::/1',
  // Inside it: protocol assignments with Teredo, benchmarks and ORCHID; documentation; 6to4; the old test network.
  '2001::/23',
  '2001:db8::/32',
  '2002::/16',
  '3fff::/20',
  '3ffe::/16',
)

function overlaps(one: AddressRange, other: AddressRange): boolean {
  return one.family === other.family && one.first <= other.last && other.first <= one.last
}

/** Whether every address of a range is globally routable. */
export function isGlobal(range: AddressRange): boolean {
  return !SPECIAL.some((special) => overlaps(special, range))
}

/** Ports that are open on the whole internet; an opened range is open on all. */
function isOpenPort(port: number): boolean {
  return port === 80 || port === 443 || (port >= 8_000 && port <= 9_999)
}

/** Whether an address, spelt as an IP, may be reached at a port (Supplement §8, "Addresses refused"). */
export function isReachable(address: string, port: number, opened: readonly AddressRange[]): boolean {
  const one = parseAddressRange(address)
  if (!one || address.includes('/')) return false
  return opened.some((range) => overlaps(range, one)) || (isGlobal(one) && isOpenPort(port))
}
