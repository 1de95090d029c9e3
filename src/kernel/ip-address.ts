import ipaddr from 'ipaddr.js'

/** An IPv4 or IPv6 address. */
export type IpAddress = ipaddr.IPv4 | ipaddr.IPv6

/** A CIDR range: an address in it, and the number of leading bits that its addresses share. */
export interface IpRange {
  readonly base: IpAddress
  readonly prefix: number
}

const BITS = { ipv4: 32, ipv6: 128 } as const

/** Writes a dotted IPv4 tail of an IPv6 address as two groups: `ipaddr.js` reads octal in it, and `::1.2.3.4` as mapped. */
function withHexTail(text: string): string | null {
  if (!text.includes('.')) return text
  const at = text.lastIndexOf(':') + 1
  if (!ipaddr.IPv4.isValidFourPartDecimal(text.slice(at))) return null
  const [a = 0, b = 0, c = 0, d = 0] = ipaddr.IPv4.parse(text.slice(at)).octets
  return `${text.slice(0, at)}${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}`
}

/**
 * Parses an IPv4 address in four decimal parts, or an IPv6 address in any spelling; a mapped one (`::ffff:1.2.3.4`) stays
 * IPv6. Null for any other text, and for an address with a zone (`fe80::1%eth0`), whose meaning differs between machines.
 */
export function parseIpAddress(text: string): IpAddress | null {
  if (!text.includes(':')) return ipaddr.IPv4.isValidFourPartDecimal(text) ? ipaddr.IPv4.parse(text) : null
  const spelling = text.includes('%') ? null : withHexTail(text)
  return spelling !== null && ipaddr.IPv6.isValid(spelling) ? ipaddr.IPv6.parse(spelling) : null
}

/** The range that holds one address. */
export function singleAddress(base: IpAddress): IpRange {
  return { base, prefix: BITS[base.kind()] }
}

/** Parses a CIDR range (`10.0.0.0/8`, `fd00::/8`) or a single address. Null when the text is neither. */
export function parseIpRange(text: string): IpRange | null {
  const [address = '', prefix, ...rest] = text.split('/', 3)
  const base = parseIpAddress(address)
  if (!base || rest.length > 0) return null
  if (prefix === undefined) return singleAddress(base)
  return /^\d{1,3}$/.test(prefix) && Number(prefix) <= BITS[base.kind()] ? { base, prefix: Number(prefix) } : null
}

/** Converts an IPv4-mapped IPv6 address to IPv4; returns any other address unchanged. */
export function unmap(address: IpAddress): IpAddress {
  return address instanceof ipaddr.IPv6 && address.isIPv4MappedAddress() ? address.toIPv4Address() : address
}

/** Bits of an IPv6 address that name a network: one client has a whole /64. */
const IPV6_NETWORK_BITS = 64

/**
 * The source of a request, by which limits count: an IPv4 address, or the /64 of an IPv6 address, whatever its zone. Any
 * other text is its own source.
 */
export function sourceOf(text: string): string {
  if (ipaddr.IPv4.isValidFourPartDecimal(text)) return text
  const parsed = parseIpAddress(text.replace(/%.*/, ''))
  if (parsed === null) return text
  const address = unmap(parsed)
  if (address instanceof ipaddr.IPv4) return address.toString()
  const groups = IPV6_NETWORK_BITS / 16
  return `${address.parts
    .slice(0, groups)
    .map((part) => part.toString(16))
    .join(':')}::/${IPV6_NETWORK_BITS}`
}

/** Whether two ranges share an address. Ranges of different families share none. */
export function rangesOverlap(one: IpRange, other: IpRange): boolean {
  return one.base.kind() === other.base.kind() && one.base.match(other.base, Math.min(one.prefix, other.prefix))
}
