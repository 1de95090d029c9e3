import { z } from 'zod'
import { workspace } from '../../src/domain/configuration/workspace.ts'
import { refuseNotFound, refuseRevoked } from '../../src/domain/shared/refusals.ts'
import { keyEventBase, laneId } from '../../src/domain/supply/lane.ts'
import { compatToken, isLiveKey } from '../../src/domain/supply/routing-key.ts'
import { defineCommand } from '../../src/kernel/command.ts'
import { id } from '../../src/kernel/wire.ts'

/**
 * Switches the single-step ping of a lane on or off. On: the key uses the compatible protocol from then on, and `token` is
 * the stored form of its new token. Off: the token is removed.
 */
export const switchCompat = defineCommand({
  name: 'switch-compat',
  entity: workspace,
  input: z.object({ campaignId: id, publisherId: id, enabled: z.boolean(), token: compatToken }),
  rejects: ['lane-not-found', 'conflict'],
  decide({ campaignId, publisherId, enabled, token }, state) {
    const lane = state.lanes.get(laneId(campaignId, publisherId))
    if (!lane) return refuseNotFound('lane')
    const key = lane.keyId === null ? undefined : state.routingKeys.get(lane.keyId)
    if (!key || !isLiveKey(key)) return refuseRevoked("The lane's key")
    if (enabled === (key.compat !== null)) return []
    const base = keyEventBase(state, key)
    if (!enabled) return [{ type: 'CompatDisabled', data: base }]
    const protocol = 'rtb_v1_compat' as const
    return [{ type: 'CompatEnabled', data: { ...base, before: { protocol: key.protocol }, protocol, token } }]
  },
})
