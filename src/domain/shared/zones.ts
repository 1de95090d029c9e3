import { TEXT } from './limits.ts'
import { memoize } from './memoize.ts'
import { excerpt } from './problems.ts'

const CACHE_MAX = 2_000

const isKnownToIntl = memoize((zone) => {
  try {
    return new Intl.DateTimeFormat('en-US', { timeZone: zone }).resolvedOptions().timeZone !== ''
  } catch {
    return false
  }
}, CACHE_MAX)

/** Whether a text names an IANA time zone. Offsets such as +01:00, which Intl accepts too, do not. */
export function isZone(zone: string): boolean {
  return zone.length <= TEXT.zone && /^[A-Za-z]/.test(zone) && isKnownToIntl(zone)
}

/** What is wrong with a time zone, as a sentence; null when it is valid. */
export function zoneProblem(zone: string): string | null {
  return isZone(zone) ? null : `"${excerpt(zone)}" is not an IANA time zone, for example America/New_York.`
}
