import { isDeepStrictEqual } from 'node:util'
import { z } from 'zod'
import { matchEvent, type RecordedEvent } from '../../kernel/event.ts'
import { type Refusal, refuse } from '../../kernel/refusal.ts'
import { id } from '../../kernel/wire.ts'
import { nullableText } from '../shared/fields.ts'
import { NUMBER } from '../shared/limits.ts'
import type { Patch } from '../shared/patch.ts'
import { refuseArchived, refuseNotFound } from '../shared/refusals.ts'
import { laneId } from '../supply/lane.ts'
import {
  type Attribution,
  attributionOf,
  NO_ATTRIBUTION,
  type Numbers,
  type numberEvents,
  type TrackingNumber,
} from '../supply/number.ts'
import { type Pool, type poolEvents, poolsWithFallback } from '../supply/pool.ts'
import type { WorkspaceState } from './workspace.ts'

// Whose calls a number brings: Document 1, "Attribution rules".

/** The attribution that a request asks for; what is left out keeps its value. */
export type AttributionInput = Patch<Attribution>

/** What may be changed of a number: where its calls go, and its owner's name for it. */
export const numberChanges = z.object({
  campaignId: id.nullable().optional(),
  publisherId: id.nullable().optional(),
  poolId: id.nullable().optional(),
  label: nullableText(NUMBER.label).optional(),
})

/** Refuses to decide on a number whose attribution is no longer what it was; a missing one is for the rules. */
export function requireAttribution(numberId: string, then: Attribution) {
  return ({ numbers }: Numbers) => {
    const number = numbers.get(numberId)
    if (!number || isDeepStrictEqual(attributionOf(number), attributionOf(then))) return null
    return refuse('conflict', attributionOf(number), 'The number was moved meanwhile.')
  }
}

/** Whether a request speaks of the attribution at all. */
export function hasAttributionInput({ campaignId, publisherId, poolId }: AttributionInput): boolean {
  return campaignId !== undefined || publisherId !== undefined || poolId !== undefined
}

/**
 * The attribution after a request. Another campaign drops the publisher and pool that are not named again; a pool
 * implies its campaign where there is none, and its publisher; without a campaign there is nothing else either.
 */
export function nextAttribution(old: Attribution, sent: AttributionInput, pool: Pool | null): Attribution {
  const campaignId = sent.campaignId === undefined ? (old.campaignId ?? pool?.campaignId ?? null) : sent.campaignId
  if (campaignId === null) return NO_ATTRIBUTION
  const kept = campaignId === old.campaignId ? old : NO_ATTRIBUTION
  const { poolId = kept.poolId } = sent
  const { publisherId = pool ? pool.publisherId : kept.publisherId } = sent
  return { campaignId, publisherId, poolId }
}

const NO_CAMPAIGN = { campaignId: 'is required where a publisher or a pool is named' }

type NumberRefusal = Refusal<
  | 'bad-request'
  | 'campaign-not-found'
  | 'publisher-not-found'
  | 'pool-not-found'
  | 'conflict'
  | 'publisher-not-on-campaign'
  | 'pool-campaign-mismatch'
  | 'pool-publisher-mismatch'
  | 'number-is-fallback'
>

/** A move as it will be, with the names that its event freezes. */
export interface AttributionChange {
  readonly before: Attribution
  readonly after: Attribution
  readonly campaignName: string | null
  readonly publisherName: string | null
}

/** What a request makes of a number's attribution, or why it cannot be: 400, then 404, then 409. */
export function decideAttribution(
  state: WorkspaceState,
  number: TrackingNumber,
  sent: AttributionInput,
): AttributionChange | NumberRefusal {
  const nowhere = sent.campaignId === null || (sent.campaignId === undefined && number.campaignId === null)
  const implied = sent.poolId && sent.campaignId === undefined
  if (nowhere && !implied && (sent.publisherId || sent.poolId)) return refuse('bad-request', NO_CAMPAIGN)
  const named = sent.poolId ? state.pools.get(sent.poolId) : null
  if (named === undefined) return refuseNotFound('pool')
  const after = nextAttribution(number, sent, named)
  const { campaignId, publisherId, poolId } = after
  const campaign = campaignId === null ? null : state.campaigns.get(campaignId)
  if (campaign === undefined) return refuseNotFound('campaign')
  const publisher = publisherId === null ? null : state.publishers.get(publisherId)
  if (publisher === undefined) return refuseNotFound('publisher')
  const fixed = immovableReason(number)
  if (fixed) return refuse('conflict', null, fixed)
  if (campaign?.status === 'archived') return refuseArchived('Campaign')
  const pool = poolId === null ? null : (state.pools.get(poolId) ?? null)
  const refusal = refusePool(state, number, after, pool)
  return (
    refusal ?? {
      before: attributionOf(number),
      after,
      campaignName: campaign?.name ?? null,
      publisherName: publisher?.name ?? null,
    }
  )
}

/** Why a number cannot earn for its publisher there, or be in its pool; null when it can. */
function refusePool(
  state: WorkspaceState,
  number: Pick<TrackingNumber, 'id'> & Attribution,
  { campaignId, publisherId, poolId }: Attribution,
  pool: Pool | null,
): NumberRefusal | null {
  if (pool && pool.campaignId !== campaignId)
    return refuse('pool-campaign-mismatch', { poolId, poolCampaignId: pool.campaignId })
  const stays = campaignId === number.campaignId && publisherId === number.publisherId
  if (campaignId !== null && publisherId !== null && !stays && !state.lanes.has(laneId(campaignId, publisherId)))
    return refuse('publisher-not-on-campaign', { publisherId, campaignId })
  if (pool && pool.publisherId !== null && pool.publisherId !== publisherId)
    return refuse('pool-publisher-mismatch', { poolId, poolPublisherId: pool.publisherId })
  const [needed] = pool ? poolsWithFallback(state, number.id) : []
  return needed ? refuse('number-is-fallback', { poolId: needed.id }) : null
}

/** What pools lose when a number is on a campaign, or on none, from now on: the fallback that it was. */
export function fallbackLostEvents(
  state: WorkspaceState,
  { id: numberId, e164 }: Pick<TrackingNumber, 'id' | 'e164'>,
  campaignId: string | null,
) {
  const losing = poolsWithFallback(state, numberId).filter((pool) => pool.campaignId !== campaignId)
  return losing.map(({ id: poolId, name }) => ({
    type: 'PoolFallbackLost' as const,
    data: { poolId, name, numberId, e164 },
  }))
}

/** Why a number cannot be moved or given up, as a sentence; null when it can. */
export function immovableReason({
  status,
  role,
  releaseRequestedAt,
}: Pick<TrackingNumber, 'status' | 'role' | 'releaseRequestedAt'>): string | null {
  if (status === 'released') return 'The number has been released.'
  if (releaseRequestedAt !== null) return 'The release of the number has been requested.'
  return role === 'unassigned' || role === 'tracking' ? null : 'The number does another feature’s job.'
}

/** The sentences that an assignment and its events give reason for, as the workspace stands after them. */
export function assignmentWarnings(
  { numbers, campaigns }: WorkspaceState,
  numberId: string,
  events: readonly RecordedEvent[],
): readonly string[] {
  const warnings = matchEvent<
    Pick<typeof numberEvents & typeof poolEvents, 'NumberAssigned' | 'PoolFallbackLost'>,
    readonly string[]
  >({
    NumberAssigned({ data: { before, after } }) {
      const left = before.campaignId === after.campaignId ? undefined : campaigns.get(before.campaignId ?? '')
      const empty = left?.status === 'live' && !numbers.some(({ campaignId }) => campaignId === left.id)
      return empty ? [`The live campaign “${left.name}” now has no number.`] : []
    },
    PoolFallbackLost: ({ data: { name, e164 } }) => [`The pool “${name}” has lost its fallback number ${e164}.`],
  })
  const number = numbers.get(numberId)
  const waits = number?.campaignId && number.webhookStatus !== 'ready'
  return [...(waits ? [undeliveredWarning(number)] : []), ...events.flatMap((event) => warnings(event) ?? [])]
}

function undeliveredWarning({ formatted, webhookError }: Pick<TrackingNumber, 'formatted' | 'webhookError'>): string {
  return `The carrier does not deliver calls on ${formatted} yet${webhookError === null ? '.' : `: ${webhookError}`}`
}
