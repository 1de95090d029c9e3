import { z } from 'zod'
import { instant } from '../../kernel/wire.ts'
import { CALL } from '../shared/limits.ts'
import { laneId } from '../supply/lane.ts'
import type { Arrival } from './decision.ts'

/** A caller's latest sighting: its instant and, for a connection, the target. */
export const callerSighting = z.object({ at: instant, targetId: z.string().nullable() })
export type CallerSighting = Readonly<z.infer<typeof callerSighting>>

/** Returns a caller's latest sighting by its key; null where there was none. */
export type LastSeen = (key: string) => CallerSighting | null

/** A sighting with its key. */
export type KeyedSighting = readonly [key: string, seen: CallerSighting]

/** Key of a caller that a campaign admitted. */
export function callerKey(campaignId: string, caller: string): string {
  return `${campaignId}:${caller}`
}

/** Key of a campaign's last connection of a caller; `admission` is its `callerKey`. */
export function connectionKey(admission: string): string {
  return `connected:${admission}`
}

/** Key of a caller that a target was connected to. */
export function targetCallerKey(targetId: string, caller: string): string {
  return `target:${targetId}:${caller}`
}

/** Key of a caller that a lane sent; `lane` is its `laneId`. */
export function laneCallerKey(lane: string, caller: string): string {
  return `lane:${lane}:${caller}`
}

/** Sightings of an admitted caller by campaign and lane; none for a hidden caller. */
export function admissionSightings({
  campaign,
  publisher,
  caller,
  occurredAt: at,
}: Pick<Arrival, 'campaign' | 'publisher' | 'caller' | 'occurredAt'>): readonly KeyedSighting[] {
  if (!campaign || !caller) return []
  const seen = { at, targetId: null }
  const sent: readonly KeyedSighting[] = publisher
    ? [[laneCallerKey(laneId(campaign.id, publisher.id), caller), seen]]
    : []
  return [[callerKey(campaign.id, caller), seen], ...sent]
}

/** Sightings of a connected caller by campaign and target. `admission` is the `callerKey` of the call; null for a hidden caller. */
export function connectionSightings(admission: string | null, targetId: string, at: string): readonly KeyedSighting[] {
  if (admission === null) return []
  const caller = admission.slice(admission.indexOf(':') + 1)
  const seen = { at, targetId }
  return [
    [connectionKey(admission), seen],
    [targetCallerKey(targetId, caller), seen],
  ]
}

/** The later of two sightings, in whatever order calls are played; the second of two at one instant. */
export function laterSighting(one: CallerSighting | null, other: CallerSighting | null): CallerSighting | null {
  if (!one || !other) return one ?? other
  return one.at > other.at ? one : other
}

/**
 * Whether a sighting lies inside a window, in seconds, that ends at an instant; a sighting exactly at its far edge is
 * outside. A sighting dated later (another clock, or a call in progress) counts up to the length of the window, at most
 * that of a stuck call.
 */
export function isInsideWindow(seen: CallerSighting | null, windowSeconds: number, at: string): boolean {
  if (!seen) return false
  const sinceMs = Date.parse(at) - Date.parse(seen.at)
  const aheadMs = Math.min(windowSeconds, CALL.stuckSeconds) * 1_000
  return sinceMs < windowSeconds * 1_000 && sinceMs > -aheadMs
}
