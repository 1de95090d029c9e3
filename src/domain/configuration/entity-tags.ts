import type { Map as PersistentMap } from 'immutable'
import { z } from 'zod'
import { matchEvent, type RecordedEvent } from '../../kernel/event.ts'
import { definePrecondition } from '../../kernel/precondition.ts'
import { refuse } from '../../kernel/refusal.ts'
import type { apiKeyEvents } from '../access/api-key.ts'
import type { invitationEvents } from '../access/invitation.ts'
import type { publisherUserEvents } from '../access/publisher-user.ts'
import { type seatEvents, seatId } from '../access/seat.ts'
import type { tenantEvents } from '../access/tenant.ts'
import type { campaignEvents } from '../campaigns/campaign.ts'
import type { routeEvents } from '../campaigns/route.ts'
import { routeKey } from '../campaigns/route.ts'
import type { verticalEvents } from '../campaigns/vertical.ts'
import type { webhookConfigEvents } from '../delivery/webhook.ts'
import type { buyerEvents } from '../demand/buyer.ts'
import type { targetEvents } from '../demand/target.ts'
import { type laneEvents, laneId } from '../supply/lane.ts'
import type { numberEvents } from '../supply/number.ts'
import type { orderEvents } from '../supply/number-order.ts'
import type { poolEvents } from '../supply/pool.ts'
import type { publisherEvents } from '../supply/publisher.ts'
import type { routingKeyEvents } from '../supply/routing-key.ts'

type RecordEvents = typeof tenantEvents &
  typeof seatEvents &
  typeof invitationEvents &
  typeof publisherUserEvents &
  typeof buyerEvents &
  typeof publisherEvents &
  typeof laneEvents &
  typeof routingKeyEvents &
  typeof campaignEvents &
  typeof targetEvents &
  typeof routeEvents &
  typeof numberEvents &
  typeof orderEvents &
  typeof poolEvents &
  typeof apiKeyEvents &
  typeof verticalEvents &
  typeof webhookConfigEvents

/** A lane shows its key, so an event about the key changes both records. */
function keyAndLaneIds({
  keyId,
  campaignId,
  publisherId,
}: {
  readonly keyId: string
  readonly campaignId: string
  readonly publisherId: string
}): readonly string[] {
  return [keyId, laneId(campaignId, publisherId)]
}

/**
 * Ids of the records whose configuration an event changes, for their `ETag` (Supplement 1.17). A lane's id is its `laneId`,
 * a route's its `routeKey`, a seat's its `seatId`. Other events change none.
 */
const records = matchEvent<RecordEvents, string | readonly string[]>({
  WorkspaceCreated: ({ data: { workspace } }) => workspace.id,
  WorkspaceChanged: ({ meta }) => meta.workspaceId ?? [],
  PlanChanged: ({ meta }) => meta.workspaceId ?? [],
  SubscriptionChanged: ({ meta }) => meta.workspaceId ?? [],
  SeatGranted: ({ data: { workspaceId, userId } }) => seatId(workspaceId, userId),
  SeatRoleChanged: ({ data: { workspaceId, userId } }) => seatId(workspaceId, userId),
  SeatRemoved: ({ data: { workspaceId, userId } }) => seatId(workspaceId, userId),
  PersonInvited: () => [],
  InvitationRevoked: () => [],
  InvitationAccepted: () => [],
  // People of a publisher are none of its configuration.
  PublisherUserInvited: () => [],
  PublisherInvitationRevoked: () => [],
  PublisherInvitationAccepted: () => [],
  PublisherUserAdded: () => [],
  PublisherUserRemoved: () => [],
  BuyerCreated: ({ data: { buyer } }) => buyer.id,
  BuyerChanged: ({ data: { buyerId } }) => buyerId,
  BuyerStatusChanged: ({ data: { buyerId } }) => buyerId,
  PublisherCreated: ({ data: { publisher } }) => publisher.id,
  PublisherChanged: ({ data: { publisherId } }) => publisherId,
  PublisherStatusChanged: ({ data: { publisherId, revoked } }) => [
    publisherId,
    ...revoked.flatMap(({ keyId, campaignId }) => keyAndLaneIds({ keyId, campaignId, publisherId })),
  ],
  LaneOpened: ({ data: { lane, key } }) => [laneId(lane.campaignId, lane.publisherId), key.id],
  LaneTermsChanged: ({ data: { campaignId, publisherId } }) => laneId(campaignId, publisherId),
  LaneClosed: ({ data: { campaignId, publisherId, revokedKeys } }) => [laneId(campaignId, publisherId), ...revokedKeys],
  RoutingKeyChanged: ({ data }) => keyAndLaneIds(data),
  RoutingKeyRotated: ({ data }) => keyAndLaneIds(data),
  SigningSecretRotated: ({ data: { keyId } }) => keyId,
  CompatEnabled: ({ data }) => keyAndLaneIds(data),
  CompatDisabled: ({ data }) => keyAndLaneIds(data),
  CompatTokenRotated: ({ data }) => keyAndLaneIds(data),
  CampaignCreated: ({ data: { campaign } }) => campaign.id,
  CampaignChanged: ({ data: { campaignId } }) => campaignId,
  CampaignStatusChanged: ({ data: { campaignId } }) => campaignId,
  TargetCreated: ({ data: { target } }) => target.id,
  TargetChanged: ({ data: { targetId } }) => targetId,
  TargetTested: () => [],
  TargetStatusChanged: ({ data: { targetId, removedFrom } }) => [
    targetId,
    ...removedFrom.map((campaignId) => routeKey(campaignId, targetId)),
  ],
  RouteSet: ({ data: { route } }) => routeKey(route.campaignId, route.targetId),
  RouteRemoved: ({ data: { campaignId, targetId } }) => routeKey(campaignId, targetId),
  NumberProvisioned: ({ data: { number } }) => number.id,
  NumberAssigned: ({ data: { numberId } }) => numberId,
  NumberLabelled: ({ data: { numberId } }) => numberId,
  NumberDeliveryReported: ({ data: { numberId } }) => numberId,
  NumberReleaseRequested: ({ data: { numberId } }) => numberId,
  NumberDeliveryRequested: ({ data: { numberId } }) => numberId,
  NumberOrderPlaced: ({ data: { order } }) => order.id,
  NumberOrderAdvanced: ({ data: { orderId } }) => orderId,
  NumberOrderCompleted: ({ data: { orderId } }) => orderId,
  NumberOrderFailed: ({ data: { orderId } }) => orderId,
  NumberOrderDeclined: ({ data: { orderId } }) => orderId,
  NumberRenewed: ({ data: { numberId } }) => numberId,
  NumberRenewalFailed: () => [],
  NumberStatusChanged: ({ data: { numberId } }) => numberId,
  PoolCreated: ({ data: { pool } }) => pool.id,
  PoolChanged: ({ data: { poolId } }) => poolId,
  PoolKeyRotated: ({ data: { poolId } }) => poolId,
  PoolFallbackLost: ({ data: { poolId } }) => poolId,
  PoolDeleted: ({ data: { poolId } }) => poolId,
  ApiKeyCreated: ({ data: { apiKey } }) => apiKey.id,
  ApiKeyChanged: ({ data: { apiKeyId } }) => apiKeyId,
  ApiKeyRotated: ({ data: { apiKey } }) => apiKey.id,
  ApiKeyRevoked: ({ data: { apiKeyId } }) => apiKeyId,
  VerticalCreated: ({ data: { vertical } }) => vertical.id,
  VerticalChanged: ({ data: { verticalId } }) => verticalId,
  WebhookCreated: ({ data: { webhook } }) => webhook.id,
  WebhookChanged: ({ data: { webhookId } }) => webhookId,
  WebhookStatusChanged: ({ data: { webhookId } }) => webhookId,
  // The health of an endpoint, as a target's, is none of its configuration.
  WebhookDegraded: () => [],
  WebhookRecovered: () => [],
  WebhookSecretRotated: ({ data: { webhookId } }) => webhookId,
  WebhookDeleted: () => [],
  WebhookDeliveriesRemoved: () => [],
})

/** The ids of the records that an event changes. */
export function changedRecords(event: RecordedEvent): readonly string[] {
  const ids = records(event)
  return ids === null ? [] : typeof ids === 'string' ? [ids] : ids
}

/** When each record last changed. */
export interface Revisions {
  /** Revision of the workspace's stream at which each record last changed, by the record's id. */
  readonly revisions: PersistentMap<string, number>
}

/** A precondition (`If-Match`): refuses when the record has none of these entity tags; `*` matches any existing record. */
export const requireRecordAt = definePrecondition({
  name: 'record-at',
  input: z.object({ id: z.string(), tags: z.array(z.string()).readonly() }),
  check({ id, tags }, { revisions }: Revisions) {
    const revision = revisions.get(id)
    const matches = revision !== undefined && (tags.includes('*') || tags.includes(entityTagOf(revision)))
    return matches ? null : refuse('precondition-failed')
  },
})

/** The strong entity tag of a revision. */
export function entityTagOf(revision: number): string {
  return `"${revision}"`
}
