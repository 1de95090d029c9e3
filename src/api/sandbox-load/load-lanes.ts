import { laneNumbers } from '../../domain/auctions/lane-numbers.ts'
import type { WorkspaceState } from '../../domain/configuration/workspace.ts'
import { isLiveKey, type RoutingKey } from '../../domain/supply/routing-key.ts'

/** A lane that a load may send calls to, with the key by which it pings. */
export interface LoadLane {
  readonly keyId: string
  readonly campaignId: string
  readonly publisherId: string
}

/** A lane's key, unless it is revoked, or one of tests, whose pings lead to no call. */
export function loadKeyOf({ routingKeys }: Pick<WorkspaceState, 'routingKeys'>, keyId: string): RoutingKey | null {
  const key = routingKeys.get(keyId)
  return key && isLiveKey(key) && key.environment === 'production' ? key : null
}

/** Lanes of live publishers, or of the named ones, that have a key and a number to which calls can come. */
export function loadLanes(state: WorkspaceState, publisherIds: readonly string[] | undefined): readonly LoadLane[] {
  return [...state.lanes.values()].flatMap(({ keyId, campaignId, publisherId }) => {
    const isNamed = publisherIds?.includes(publisherId) ?? state.publishers.get(publisherId)?.status === 'live'
    if (!isNamed || keyId === null || !loadKeyOf(state, keyId)) return []
    return laneNumbers(state, campaignId, publisherId).length === 0 ? [] : [{ keyId, campaignId, publisherId }]
  })
}
