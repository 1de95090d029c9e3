import { z } from 'zod'
import { workspace } from '../../src/domain/configuration/workspace.ts'
import { refuseNotFound } from '../../src/domain/shared/refusals.ts'
import { laneId, liveKeys } from '../../src/domain/supply/lane.ts'
import { defineCommand } from '../../src/kernel/command.ts'
import { id } from '../../src/kernel/wire.ts'

/** Closes a lane and revokes its keys at once. The publisher's numbers still take calls. */
export const closeLane = defineCommand({
  name: 'close-lane',
  entity: workspace,
  input: z.object({ campaignId: id, publisherId: id }),
  rejects: ['lane-not-found'],
  decide({ campaignId, publisherId }, state) {
    const lane = state.lanes.get(laneId(campaignId, publisherId))
    if (!lane) return refuseNotFound('lane')
    const assigned = state.numbers.count(
      (number) => number.campaignId === campaignId && number.publisherId === publisherId,
    )
    return [
      {
        type: 'LaneClosed',
        data: {
          campaignId,
          publisherId,
          campaignName: state.campaigns.get(campaignId)?.name ?? '',
          publisherName: state.publishers.get(publisherId)?.name ?? '',
          revokedKeys: liveKeys(state, publisherId, campaignId).map(({ id }) => id),
          numbersStillAssigned: assigned,
        },
      },
    ]
  },
})
