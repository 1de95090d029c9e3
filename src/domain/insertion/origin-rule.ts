const WEB: ReadonlySet<string> = new Set(['http:', 'https:'])

/** The host of a web address; null for anything else. */
function hostOf(address: string): string | null {
  const url = URL.parse(address)
  return url && WEB.has(url.protocol) && url.hostname !== '' ? url.hostname : null
}

/** Whether an entry of a pool's list covers a host: `*.` stands for sub-domains, not for the host itself. */
function covers(domain: string, host: string): boolean {
  return domain.startsWith('*.') ? host.endsWith(domain.slice(1)) && host.length >= domain.length : host === domain
}

/**
 * Whether a page may use a pool (Document 2, `origin_not_allowed`): by the `Origin` header, or by `Referer` where there is none. With
 * no domains every page may; with some, a request that names no page may not.
 */
export function isOriginAllowed(
  domains: readonly string[],
  { origin, referer }: { readonly origin: string | undefined; readonly referer: string | undefined },
): boolean {
  if (domains.length === 0) return true
  const host = hostOf(origin ?? referer ?? '')
  return host !== null && domains.some((domain) => covers(domain, host))
}
