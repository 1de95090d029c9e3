import { BlockList, isIP, isIPv4 } from 'node:net'
import { z } from 'zod'

const mappedPrefix = /^::ffff:(?=\d+\.)/i

/** Writes an IPv4 address that came in its IPv6 spelling as IPv4. */
function plain(address: string): string {
  const tail = address.replace(mappedPrefix, '')
  return isIPv4(tail) ? tail : address
}

function family(address: string): 'ipv4' | 'ipv6' {
  return isIPv4(address) ? 'ipv4' : 'ipv6'
}

function isRange(entry: string): boolean {
  const [address = '', prefix = '', ...rest] = entry.split('/')
  return rest.length === 0 && isIPv4(address) && /^\d{1,2}$/.test(prefix) && Number(prefix) <= 32
}

/** An entry of an API key's allowlist: an IPv4 address or range, or a single IPv6 address (Document 1, "API keys" 4). */
export const allowlistEntry = z.string().refine((entry) => isIP(entry) !== 0 || isRange(entry), {
  error: 'must be an IPv4 address or range, or an IPv6 address',
})

function compile(entries: readonly string[]): BlockList {
  const list = new BlockList()
  for (const entry of entries) {
    const [network = '', prefix] = entry.split('/')
    const address = plain(network)
    if (isIP(address) === 0) continue
    if (prefix === undefined) list.addAddress(address, family(address))
    else if (isRange(entry)) list.addSubnet(address, Number(prefix), 'ipv4')
  }
  return list
}

const compiled = new WeakMap<readonly string[], BlockList>()

/** Whether an allowlist lets an address in. An empty list lets everyone in. */
export function allows(entries: readonly string[], ip: string): boolean {
  if (entries.length === 0) return true
  const list = compiled.get(entries) ?? compile(entries)
  compiled.set(entries, list)
  const address = plain(ip)
  return isIP(address) !== 0 && list.check(address, family(address))
}
