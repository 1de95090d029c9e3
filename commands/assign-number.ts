import { isDeepStrictEqual } from 'node:util'
import { z } from 'zod'
import { laneId } from '../src/domain/lane.ts'
import { attributionAfter, attributionOf, unmovable } from '../src/domain/number.ts'
import { archived, missing, nothingToChange } from '../src/domain/refusals.ts'
import { workspace } from '../src/domain/workspace.ts'
import { defineCommand } from '../src/kernel/command.ts'
import { refuse } from '../src/kernel/refusal.ts'
import { id } from '../src/kernel/wire.ts'

/**
 * Assigns a number to a campaign and, optionally, to a publisher with a lane there. A field left out keeps its value,
 * but moving to another campaign drops the publisher unless it is named again; without a campaign the number is free.
 */
export const assignNumber = defineCommand({
  name: 'assign-number',
  entity: workspace,
  input: z.object({ numberId: id, campaignId: id.nullish(), publisherId: id.nullish() }),
  rejects: [
    'bad-request',
    'number-not-found',
    'campaign-not-found',
    'publisher-not-found',
    'conflict',
    'publisher-not-on-campaign',
  ],
  decide({ numberId, campaignId, publisherId }, { numbers, campaigns, publishers, lanes }) {
    const number = numbers.get(numberId)
    if (!number) return missing('number')
    if (campaignId === undefined && publisherId === undefined) return nothingToChange()
    const after = attributionAfter(number, { campaignId, publisherId })
    if (after.campaignId === null && publisherId)
      return refuse('bad-request', { campaignId: 'Required when a publisher is named.' })
    const campaign = after.campaignId === null ? null : campaigns.get(after.campaignId)
    if (campaign === undefined) return missing('campaign')
    const publisher = after.publisherId === null ? null : publishers.get(after.publisherId)
    if (publisher === undefined) return missing('publisher')
    const fixed = unmovable(number)
    if (fixed) return refuse('conflict', null, fixed)
    if (campaign?.status === 'archived') return archived('Campaign')
    if (campaign && publisher && !lanes.has(laneId(campaign.id, publisher.id)))
      return refuse('publisher-not-on-campaign', { publisherId: publisher.id, campaignId: campaign.id })
    const before = attributionOf(number)
    if (isDeepStrictEqual(before, after)) return []
    const names = { campaignName: campaign?.name ?? null, publisherName: publisher?.name ?? null }
    return [{ type: 'NumberAssigned', data: { numberId, e164: number.e164, before, after, ...names } }]
  },
})
