import { TEXT } from './limits.ts'
import { excerpt } from './problems.ts'

const known = new Map<string, boolean>()
/** Names come from requests, so what is remembered of them is bounded. */
const KNOWN_MAX = 2_000

function exists(zone: string): boolean {
  try {
    return new Intl.DateTimeFormat('en-US', { timeZone: zone }).resolvedOptions().timeZone !== ''
  } catch {
    return false
  }
}

/** Whether this is an IANA zone; offsets such as +01:00, which Intl takes too, are not. */
export function isZone(zone: string): boolean {
  if (zone.length > TEXT.zone || !/^[A-Za-z]/.test(zone)) return false
  const before = known.get(zone)
  if (before !== undefined) return before
  if (known.size >= KNOWN_MAX) known.clear()
  const answer = exists(zone)
  known.set(zone, answer)
  return answer
}

/** What is wrong with a zone, as a sentence; null when nothing is. */
export function zoneProblem(zone: string): string | null {
  return isZone(zone) ? null : `${excerpt(zone)} is not an IANA time zone.`
}
