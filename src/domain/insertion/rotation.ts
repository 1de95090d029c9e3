import { isDelivering, type Numbers, type TrackingNumber } from '../supply/number.ts'
import type { Pool } from '../supply/pool.ts'

/** Numbers by id. */
export type Rotation = ReadonlyMap<string, TrackingNumber>
type ByPool = ReadonlyMap<string, Rotation>

const NO_NUMBERS: Rotation = new Map()
/** By the workspace's numbers, which are a new map after each change of one. */
const rotations = new WeakMap<Numbers['numbers'], ByPool>()

function rotationsOf(numbers: Numbers['numbers']): ByPool {
  const known = rotations.get(numbers)
  if (known) return known
  const byPool = new Map<string, Map<string, TrackingNumber>>()
  for (const number of numbers.values()) {
    if (number.poolId === null || !isDelivering(number)) continue
    const rotation = byPool.get(number.poolId)
    if (rotation) rotation.set(number.id, number)
    else byPool.set(number.poolId, new Map([[number.id, number]]))
  }
  rotations.set(numbers, byPool)
  return byPool
}

/** The numbers that a pool leases: those in it whose calls are delivered (Supplement §9). The same map until a number changes. */
export function rotationOf({ numbers }: Numbers, poolId: string): Rotation {
  return rotationsOf(numbers).get(poolId) ?? NO_NUMBERS
}

/** The fallback of a pool, where its calls are delivered; null for none. */
export function usableFallback(
  { numbers }: Numbers,
  { fallbackNumberId }: Pick<Pool, 'fallbackNumberId'>,
): TrackingNumber | null {
  const number = fallbackNumberId === null ? undefined : numbers.get(fallbackNumberId)
  return number && isDelivering(number) ? number : null
}

/** A number as a page shows it. */
export function shownNumber(
  { e164, national, formatted }: Pick<TrackingNumber, 'e164' | 'national' | 'formatted'>,
  display: Pool['display'],
) {
  const shown = { e164, national, formatted }
  return { e164, national, display: shown[display] }
}
