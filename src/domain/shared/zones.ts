import { excerpt } from '../../kernel/excerpt.ts'
import { ZONE_NAMES } from './zone-names.ts'

const DEFAULT_ZONE = 'UTC'

const spellings: ReadonlyMap<string, string> = new Map(ZONE_NAMES.map((name) => [name.toLowerCase(), name]))

/** The canonical spelling of an IANA time zone's name; any other text as it is. A link keeps its own name. */
export function canonicalZone(zone: string): string {
  return spellings.get(zone.toLowerCase()) ?? zone
}

/**
 * Whether a text names an IANA time zone, in any case. A fixed list decides: `Intl` also takes offsets and legacy names such
 * as BST, which it reads as Dhaka's time.
 */
export function isZone(zone: string): boolean {
  return spellings.has(zone.toLowerCase())
}

/** A stored zone as it applies: earlier versions stored names that are no IANA zones, and those read as UTC. */
export function zoneOrUtc(zone: string): string {
  return spellings.get(zone.toLowerCase()) ?? DEFAULT_ZONE
}

/** What is wrong with a time zone, as a sentence; null when it is valid. */
export function zoneProblem(zone: string): string | null {
  return isZone(zone) ? null : `"${excerpt(zone)}" is not an IANA time zone, for example America/New_York.`
}
