import { z } from 'zod'
import { instant } from '../../kernel/wire.ts'
import { CALL } from '../shared/limits.ts'
import { laneId } from '../supply/lane.ts'
import type { Arrival } from './decision.ts'

/** A caller's latest appearance somewhere: when it was, and for a connection with which target. */
export const callerSighting = z.object({ at: instant, targetId: z.string().nullable() })
export type CallerSighting = Readonly<z.infer<typeof callerSighting>>

/** Tells of a caller's latest appearance, by its key; null where there was none. */
export type LastSeen = (key: string) => CallerSighting | null

/** An appearance, under the key by which it is remembered. */
export type KeyedSighting = readonly [key: string, seen: CallerSighting]

/** Key under which a campaign remembers whom it let in. */
export function callerKey(campaignId: string, caller: string): string {
  return `${campaignId}:${caller}`
}

/** Key under which a campaign remembers who connected the caller last. */
export function connectionKey(admission: string): string {
  return `connected:${admission}`
}

/** Key under which a target remembers whom it was connected to. */
export function targetCallerKey(targetId: string, caller: string): string {
  return `target:${targetId}:${caller}`
}

/** Key under which a lane, by its `laneId`, remembers whom it sent. */
export function laneCallerKey(lane: string, caller: string): string {
  return `lane:${lane}:${caller}`
}

/** An admitted caller, as campaign and lane remember it; hidden callers are remembered by nobody. */
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

/** A connected caller, as campaign and target remember it. `admission` is the `callerKey` of the call; null of a hidden caller. */
export function connectionSightings(admission: string | null, targetId: string, at: string): readonly KeyedSighting[] {
  if (admission === null) return []
  const caller = admission.slice(admission.indexOf(':') + 1)
  const seen = { at, targetId }
  return [
    [connectionKey(admission), seen],
    [targetCallerKey(targetId, caller), seen],
  ]
}

/** The later of two appearances, in whatever order calls are played; of two at one instant the second. */
export function laterSighting(one: CallerSighting | null, other: CallerSighting | null): CallerSighting | null {
  if (!one || !other) return one ?? other
  return one.at > other.at ? one : other
}

/**
 * Whether an appearance lies inside a window of so many seconds that ends at an instant; it is outside as the window ends.
 * One that is known already though dated later, by another's clock or of a call that is still on, is no farther away.
 */
export function isInsideWindow(seen: CallerSighting | null, windowSeconds: number, at: string): boolean {
  if (!seen) return false
  const sinceMs = Date.parse(at) - Date.parse(seen.at)
  const aheadMs = Math.min(windowSeconds, CALL.stuckSeconds) * 1_000
  return sinceMs < windowSeconds * 1_000 && sinceMs > -aheadMs
}
