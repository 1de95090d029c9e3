import { z } from 'zod'
import { workspace } from '../../src/domain/configuration/workspace.ts'
import { storedKey } from '../../src/domain/shared/issued-secret.ts'
import { diff } from '../../src/domain/shared/patch.ts'
import { refuseArchived, refuseNotFound } from '../../src/domain/shared/refusals.ts'
import {
  applyLaneInput,
  DEFAULT_TERMS,
  type LaneTerms,
  laneId,
  laneInput,
  laneProblems,
} from '../../src/domain/supply/lane.ts'
import { defineCommand } from '../../src/kernel/command.ts'
import { refuse } from '../../src/kernel/refusal.ts'
import { id } from '../../src/kernel/wire.ts'

/**
 * Opens a publisher's lane on a campaign, or changes the terms of an open one. `key` is the stored form of the routing key
 * of a new lane; an open lane keeps its key.
 */
export const setLane = defineCommand({
  name: 'set-lane',
  entity: workspace,
  input: z.object({
    campaignId: id,
    publisherId: id,
    terms: laneInput,
    key: storedKey,
  }),
  rejects: ['validation-error', 'campaign-not-found', 'publisher-not-found', 'conflict'],
  decide({ campaignId, publisherId, terms: input, key }, state, { now, newId }) {
    const campaign = state.campaigns.get(campaignId)
    if (!state.workspace || !campaign) return refuseNotFound('campaign')
    const publisher = state.publishers.get(publisherId)
    if (!publisher) return refuseNotFound('publisher')
    const open = state.lanes.get(laneId(campaignId, publisherId))
    const terms = applyLaneInput(open ?? DEFAULT_TERMS, input, state.workspace.timezone)
    const problems = laneProblems(terms, input)
    if (problems) return refuse('validation-error', problems)
    const names = { campaignName: campaign.name, publisherName: publisher.name }
    if (open) {
      const difference = diff<LaneTerms>(open, terms)
      return difference
        ? [{ type: 'LaneTermsChanged', data: { campaignId, publisherId, ...names, ...difference } }]
        : []
    }
    if (campaign.status === 'archived') return refuseArchived('Campaign')
    if (publisher.status === 'terminated')
      return refuse('conflict', { status: 'terminated' }, 'A terminated publisher cannot be given a lane.')
    const keyId = newId()
    // Keys are never forgotten: an earlier one is that of a lane that was closed.
    const reopened = state.routingKeys.some((one) => one.campaignId === campaignId && one.publisherId === publisherId)
    const lane = {
      ...terms,
      campaignId,
      publisherId,
      keyId,
      ...(reopened ? { reopened } : {}),
      compatEnabled: false,
      assignedAt: now,
      termsFrozenAt: now,
    }
    const routingKey = {
      ...key,
      id: keyId,
      campaignId,
      publisherId,
      state: 'active',
      protocol: 'rtb_v1',
      environment: 'production',
      requireSignature: false,
      issuedAt: now,
    } as const
    return [{ type: 'LaneOpened', data: { lane, key: routingKey, ...names } }]
  },
})
