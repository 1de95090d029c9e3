import { isDeepStrictEqual } from 'node:util'
import { z } from 'zod'
import { matchEvent, type RecordedEvent } from '../../kernel/event.ts'
import { definePrecondition } from '../../kernel/precondition.ts'
import { type Refusal, refuse } from '../../kernel/refusal.ts'
import { id } from '../../kernel/wire.ts'
import { nullableText } from '../shared/fields.ts'
import { NUMBER } from '../shared/limits.ts'
import type { Patch } from '../shared/patch.ts'
import { refuseArchived, refuseNotFound } from '../shared/refusals.ts'
import { laneId } from '../supply/lane.ts'
import {
  type Attribution,
  attribution,
  attributionOf,
  NO_ATTRIBUTION,
  type Numbers,
  type numberEvents,
  type TrackingNumber,
} from '../supply/number.ts'
import { type Pool, type poolEvents, poolsWithFallback } from '../supply/pool.ts'
import type { WorkspaceState } from './workspace.ts'

// A number's campaign, publisher and pool: Document 1, "Attribution rules".

/** The attribution in a request; a missing field keeps its value. */
export type AttributionInput = Patch<Attribution>

/** The fields of a number that can change: its attribution and its label. */
export const numberChanges = z.object({
  campaignId: id.nullable().optional(),
  publisherId: id.nullable().optional(),
  poolId: id.nullable().optional(),
  label: nullableText(NUMBER.label).optional(),
})

/** A precondition: refuses when a number's attribution differs from `expected`. A missing number is left to the rules. */
export const requireAttribution = definePrecondition({
  name: 'attribution',
  input: z.object({ numberId: id, expected: attribution }),
  check({ numberId, expected }, { numbers }: Numbers) {
    const number = numbers.get(numberId)
    if (!number || isDeepStrictEqual(attributionOf(number), expected)) return null
    return refuse(
      'conflict',
      attributionOf(number),
      'The number was assigned elsewhere in the meantime. Read it and try again.',
    )
  },
})

/** Whether a request contains any field of the attribution. */
export function hasAttributionInput({ campaignId, publisherId, poolId }: AttributionInput): boolean {
  return campaignId !== undefined || publisherId !== undefined || poolId !== undefined
}

/**
 * The attribution after a request. A new campaign clears publisher and pool unless the request names them. A pool implies
 * its publisher, and its campaign for a number without one. Without a campaign all three are null.
 */
export function nextAttribution(old: Attribution, sent: AttributionInput, pool: Pool | null): Attribution {
  const campaignId = sent.campaignId === undefined ? (old.campaignId ?? pool?.campaignId ?? null) : sent.campaignId
  if (campaignId === null) return NO_ATTRIBUTION
  const current = campaignId === old.campaignId ? old : NO_ATTRIBUTION
  const { poolId = current.poolId } = sent
  const { publisherId = pool ? pool.publisherId : current.publisherId } = sent
  return { campaignId, publisherId, poolId }
}

const NO_CAMPAIGN = { campaignId: 'is required when publisherId or poolId is sent' }

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

/** A change of attribution, with the names that its event records. */
export interface AttributionChange {
  readonly before: Attribution
  readonly after: Attribution
  readonly campaignName: string | null
  readonly publisherName: string | null
}

/** The change that a request makes to a number's attribution, or a refusal: 400, then 404, then 409. */
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
  const refusal = refuseLane(state, number, after, sent) ?? refusePool(state, number, after, pool)
  return (
    refusal ?? {
      before: attributionOf(number),
      after,
      campaignName: campaign?.name ?? null,
      publisherName: publisher?.name ?? null,
    }
  )
}

/**
 * Refuses a publisher without a lane on the campaign. A number keeps a publisher whose lane was closed, unless the request
 * names that publisher again.
 */
function refuseLane(
  { lanes }: WorkspaceState,
  number: Attribution,
  { campaignId, publisherId }: Attribution,
  sent: AttributionInput,
): NumberRefusal | null {
  if (campaignId === null || publisherId === null || lanes.has(laneId(campaignId, publisherId))) return null
  const stays = campaignId === number.campaignId && publisherId === number.publisherId && !sent.publisherId
  return stays ? null : refuse('publisher-not-on-campaign', { publisherId, campaignId })
}

/** Refuses a pool that does not fit the attribution; null when it fits. */
function refusePool(
  state: WorkspaceState,
  number: Pick<TrackingNumber, 'id'>,
  { campaignId, publisherId, poolId }: Attribution,
  pool: Pool | null,
): NumberRefusal | null {
  if (pool && pool.campaignId !== campaignId)
    return refuse('pool-campaign-mismatch', { poolId, poolCampaignId: pool.campaignId })
  if (pool && pool.publisherId !== null && pool.publisherId !== publisherId)
    return refuse('pool-publisher-mismatch', { poolId, poolPublisherId: pool.publisherId })
  const [needed] = pool ? poolsWithFallback(state, number.id) : []
  return needed ? refuse('number-is-fallback', { poolId: needed.id }) : null
}

/** Events of pools that lose their fallback when a number moves to a campaign, or to none. */
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

/** Why a number cannot be assigned or released, as a sentence; null when it can. */
export function immovableReason({
  status,
  role,
  releaseRequestedAt,
}: Pick<TrackingNumber, 'status' | 'role' | 'releaseRequestedAt'>): string | null {
  if (status === 'released') return 'The number has been released.'
  if (releaseRequestedAt !== null) return 'The release of the number has been requested.'
  return role === 'unassigned' || role === 'tracking'
    ? null
    : 'The number is used by another feature and cannot be moved.'
}

/** Warnings about an assignment and its events, given the workspace's state after them. */
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
  const refusing = number?.campaignId ? refusalWarnings(number) : []
  return [...refusing, ...events.flatMap((event) => warnings(event) ?? [])]
}

/** Why calls on a number of a campaign would be refused, or will be soon. */
function refusalWarnings(number: TrackingNumber): readonly string[] {
  const { formatted, status, webhookStatus } = number
  return [
    ...(webhookStatus === 'ready' ? [] : [undeliveredWarning(number)]),
    ...(status === 'suspended' ? [`${formatted} is suspended and takes no calls until its rent is paid.`] : []),
    ...(status === 'past_due' ? [`The rent of ${formatted} is past due: unpaid, it will take no more calls.`] : []),
    ...(status === 'draft' ? [`${formatted} is not active yet and takes no calls.`] : []),
  ]
}

function undeliveredWarning({ formatted, webhookError }: Pick<TrackingNumber, 'formatted' | 'webhookError'>): string {
  return `The carrier does not deliver calls on ${formatted} yet${webhookError === null ? '.' : `: ${webhookError}`}`
}
