import { z } from 'zod'
import {
  type IpRange,
  parseIpAddress,
  parseIpRange,
  rangesOverlap,
  singleAddress,
  unmap,
} from '../../kernel/ip-address.ts'

const ipv4Prefix = /\/(\d|[12]\d|3[0-2])$/

/** A single address, or an IPv4 range whose prefix has no leading zero. */
function isAllowlistEntry(text: string): boolean {
  const range = parseIpRange(text)
  return range !== null && (!text.includes('/') || (range.base.kind() === 'ipv4' && ipv4Prefix.test(text)))
}

/** Entry of an API key's allowlist: an IPv4 address or range, or a single IPv6 address (Document 1, "API keys" 4). */
export const allowlistEntry = z.string().refine(isAllowlistEntry, {
  error: 'must be an IPv4 address or range, or an IPv6 address',
})

function rangeOf(entry: string): IpRange | null {
  const range = parseIpRange(entry)
  return range && !entry.includes('/') ? singleAddress(unmap(range.base)) : range
}

const compiled = new WeakMap<readonly string[], readonly IpRange[]>()

/**
 * Whether an allowlist admits an address. An empty list admits everything; any other list refuses text that is not an
 * address. IPv4-mapped IPv6 addresses count as IPv4, in the list and in `ip`.
 */
export function isAddressAllowed(entries: readonly string[], ip: string): boolean {
  if (entries.length === 0) return true
  const ranges = compiled.get(entries) ?? entries.flatMap((entry) => rangeOf(entry) ?? [])
  compiled.set(entries, ranges)
  const address = parseIpAddress(ip)
  if (!address) return false
  const single = singleAddress(unmap(address))
  return ranges.some((range) => rangesOverlap(range, single))
}
