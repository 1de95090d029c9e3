import type { WorkspaceState } from '../configuration/workspace.ts'
import { laneId } from '../supply/lane.ts'
import { isDelivering, type TrackingNumber } from '../supply/number.ts'
import type { OfferedNumber } from './auction.ts'

type Numbers = WorkspaceState['numbers']

/** Numbers by lane, of one state of a workspace's numbers: a workspace has thousands of them, and each ping asks. */
const cache = new WeakMap<Numbers, ReadonlyMap<string, readonly OfferedNumber[]>>()

/** Numbers that no page shows come first, in the order in which they were bought. */
const byUse = (a: TrackingNumber, b: TrackingNumber) =>
  Number(a.poolId !== null) - Number(b.poolId !== null) || (a.id < b.id ? -1 : 1)

function byLane(numbers: Numbers): ReadonlyMap<string, readonly OfferedNumber[]> {
  const known = cache.get(numbers)
  if (known) return known
  const lanes = new Map<string, OfferedNumber[]>()
  for (const number of [...numbers.values()].toSorted(byUse)) {
    const { id, e164, campaignId, publisherId } = number
    if (campaignId === null || publisherId === null || !isDelivering(number)) continue
    const lane = laneId(campaignId, publisherId)
    lanes.set(lane, [...(lanes.get(lane) ?? []), { id, e164 }])
  }
  cache.set(numbers, lanes)
  return lanes
}

/** Numbers of a lane to which calls can come, in the order in which they are offered. */
export function laneNumbers(
  { numbers }: Pick<WorkspaceState, 'numbers'>,
  campaignId: string,
  publisherId: string,
): readonly OfferedNumber[] {
  return byLane(numbers).get(laneId(campaignId, publisherId)) ?? []
}
