import { applyPatch } from '../../src/domain/shared/patch.ts'
import { lane, laneEvents, laneId, storedLane } from '../../src/domain/supply/lane.ts'
import { workspaceIdOf } from '../../src/kernel/entity.ts'
import { defineProjection } from '../../src/kernel/projection.ts'
import { id } from '../../src/kernel/wire.ts'

/** Open lanes, by `laneId`. */
export const lanes = defineProjection({
  name: 'lanes',
  version: 2,
  events: laneEvents,
  doc: lane.extend({ workspaceId: id }),
  indexes: [
    { workspaceId: 1, publisherId: 1, assignedAt: 1 },
    { workspaceId: 1, campaignId: 1, assignedAt: 1 },
  ],
  key(event) {
    const { campaignId, publisherId } = event.type === 'LaneOpened' ? event.data.lane : event.data
    return laneId(campaignId, publisherId)
  },
  create: {
    LaneOpened: (event) => ({ ...storedLane(event.data.lane), workspaceId: workspaceIdOf(event) }),
  },
  update: {
    LaneTermsChanged: (doc, { data, meta }) => applyPatch({ ...doc, termsFrozenAt: meta.at }, data.after),
    LaneClosed: () => null,
  },
})
