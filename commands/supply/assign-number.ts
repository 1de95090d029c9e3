import { isDeepStrictEqual } from 'node:util'
import {
  decideAttribution,
  fallbackLostEvents,
  hasAttributionInput,
  numberChanges,
} from '../../src/domain/configuration/attribution.ts'
import { workspace } from '../../src/domain/configuration/workspace.ts'
import { refuseEmptyChange, refuseNotFound } from '../../src/domain/shared/refusals.ts'
import { defineCommand } from '../../src/kernel/command.ts'
import { isRefusal, refuse } from '../../src/kernel/refusal.ts'
import { id } from '../../src/kernel/wire.ts'

/**
 * Assigns, moves or relabels a number, all or none (Document 1, "Attribution rules"). For a number on a campaign that is
 * not `ready`, delivery to the platform is requested again.
 */
export const assignNumber = defineCommand({
  name: 'assign-number',
  entity: workspace,
  input: numberChanges.extend({ numberId: id }),
  rejects: [
    'bad-request',
    'number-not-found',
    'campaign-not-found',
    'publisher-not-found',
    'pool-not-found',
    'conflict',
    'publisher-not-on-campaign',
    'pool-campaign-mismatch',
    'pool-publisher-mismatch',
    'number-is-fallback',
  ],
  decide({ numberId, label, ...input }, state) {
    const number = state.numbers.get(numberId)
    if (!number) return refuseNotFound('number')
    const { e164, webhookStatus, status } = number
    if (!hasAttributionInput(input) && label === undefined) return refuseEmptyChange()
    const move = hasAttributionInput(input) ? decideAttribution(state, number, input) : null
    if (isRefusal(move)) return move
    if (status === 'released') return refuse('conflict', { status }, 'The number has been released.')
    const relabelled = label === undefined || label === number.label ? [] : [{ before: number.label, after: label }]
    const labels = relabelled.map((change) => ({
      type: 'NumberLabelled' as const,
      data: { numberId, e164, ...change },
    }))
    if (move === null) return labels
    const { campaignId } = move.after
    const moved = !isDeepStrictEqual(move.before, move.after)
    // A request that assigns a failed number to its own campaign retries the delivery.
    const connects = campaignId !== null && (moved ? webhookStatus !== 'ready' : webhookStatus === 'failed')
    return [
      ...(moved ? [{ type: 'NumberAssigned' as const, data: { numberId, e164, ...move } }] : []),
      ...fallbackLostEvents(state, number, campaignId),
      ...(connects ? [{ type: 'NumberDeliveryRequested' as const, data: { numberId, e164 } }] : []),
      ...labels,
    ]
  },
})
