import { campaign, campaignEvents, withCampaignStatus } from '../../src/domain/campaigns/campaign.ts'
import { applyPatch } from '../../src/domain/shared/patch.ts'
import { workspaceIdOf } from '../../src/kernel/entity.ts'
import { defineProjection } from '../../src/kernel/projection.ts'
import { id } from '../../src/kernel/wire.ts'

/** Campaigns, by id. */
export const campaigns = defineProjection({
  name: 'campaigns',
  version: 1,
  events: campaignEvents,
  doc: campaign.omit({ id: true }).extend({ workspaceId: id }),
  indexes: [
    { workspaceId: 1, createdAt: -1 },
    { workspaceId: 1, status: 1, createdAt: -1 },
  ],
  key: (event) => (event.type === 'CampaignCreated' ? event.data.campaign.id : event.data.campaignId),
  create: {
    CampaignCreated(event) {
      const { id: _id, ...record } = event.data.campaign
      return { ...record, workspaceId: workspaceIdOf(event) }
    },
  },
  update: {
    CampaignChanged: (doc, { data, meta }) => applyPatch({ ...doc, updatedAt: meta.at }, data.after),
    CampaignStatusChanged: (doc, { data, meta }) => withCampaignStatus(doc, data.to, data.note, meta.at),
  },
})
