import { BlockList, isIP, isIPv4, isIPv6 } from 'node:net'
import { z } from 'zod'

const mapped = /^\[::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})\]$/

/** An IPv4 address that is written as an IPv6 one, in any of its spellings, as IPv4; any other text as it is. */
function plain(address: string): string {
  if (!isIPv6(address) || address.includes('%')) return address
  const [, high, low] = mapped.exec(new URL(`http://[${address}]`).hostname) ?? []
  if (high === undefined || low === undefined) return address
  const [first, second] = [Number.parseInt(high, 16), Number.parseInt(low, 16)]
  return [first >> 8, first & 0xff, second >> 8, second & 0xff].join('.')
}

function family(address: string): 'ipv4' | 'ipv6' {
  return isIPv4(address) ? 'ipv4' : 'ipv6'
}

/** An address that means the same on every machine: the zone of a link-local one does not. */
function isAddress(text: string): boolean {
  return isIP(text) !== 0 && !text.includes('%')
}

function isRange(entry: string): boolean {
  const [address = '', prefix = '', ...rest] = entry.split('/')
  return rest.length === 0 && isIPv4(address) && /^(\d|[12]\d|3[0-2])$/.test(prefix)
}

/** An entry of an API key's allowlist: an IPv4 address or range, or a single IPv6 address (Document 1, "API keys" 4). */
export const allowlistEntry = z.string().refine((entry) => isAddress(entry) || isRange(entry), {
  error: 'must be an IPv4 address or range, or an IPv6 address',
})

function compile(entries: readonly string[]): BlockList {
  const list = new BlockList()
  for (const entry of entries) {
    const [network = '', prefix] = entry.split('/')
    const address = plain(network)
    if (prefix === undefined) list.addAddress(address, family(address))
    else list.addSubnet(address, Number(prefix), 'ipv4')
  }
  return list
}

const compiled = new WeakMap<readonly string[], BlockList>()

/** Whether an allowlist lets an address in. An empty list lets everyone in. */
export function isAddressAllowed(entries: readonly string[], ip: string): boolean {
  if (entries.length === 0) return true
  const list = compiled.get(entries) ?? compile(entries)
  compiled.set(entries, list)
  const address = plain(ip)
  return isAddress(address) && list.check(address, family(address))
}
