import type { Campaigns } from '../campaigns/campaign.ts'
import { refuseNotFound } from '../shared/refusals.ts'
import type { Publishers } from '../supply/publisher.ts'
import type { EventScope } from './webhook.ts'

/** Names of the campaign and the publisher that an endpoint is narrowed to; a refusal where the workspace has no such record. */
export function narrowedTo({ campaigns, publishers }: Campaigns & Publishers, { campaignId, publisherId }: EventScope) {
  const campaign = campaignId === null ? null : campaigns.get(campaignId)
  if (campaign === undefined) return refuseNotFound('campaign')
  const publisher = publisherId === null ? null : publishers.get(publisherId)
  if (publisher === undefined) return refuseNotFound('publisher')
  return { campaignName: campaign?.name ?? null, publisherName: publisher?.name ?? null }
}
