import { Map as PersistentMap } from 'immutable'
import { defineEntity, withEvolveStep } from '../../kernel/entity.ts'
import { type ApiKeys, apiKeyEvents, evolveApiKeys } from '../access/api-key.ts'
import { evolveInvitations, type Invitations, invitationEvents } from '../access/invitation.ts'
import { evolvePublisherUsers, type PublisherUsers, publisherUserEvents } from '../access/publisher-user.ts'
import { evolveSeats, type Seats, seatEvents } from '../access/seat.ts'
import { evolveTenants, type Tenants, tenantEvents } from '../access/tenant.ts'
import { type Campaigns, campaignEvents, evolveCampaigns } from '../campaigns/campaign.ts'
import { evolveRoutes, type Routes, routeEvents } from '../campaigns/route.ts'
import { evolveVerticals, type Verticals, verticalEvents } from '../campaigns/vertical.ts'
import { evolveWebhooks, type Webhooks, webhookConfigEvents } from '../delivery/webhook.ts'
import { type Buyers, buyerEvents, evolveBuyers } from '../demand/buyer.ts'
import { evolveTargets, targetEvents } from '../demand/target.ts'
import type { SliceOf } from '../shared/slice.ts'
import { evolveLanes, type Lanes, laneEvents } from '../supply/lane.ts'
import { evolveNumbers, type Numbers, numberEvents } from '../supply/number.ts'
import { evolveOrders, type Orders, orderEvents } from '../supply/number-order.ts'
import { evolvePools, type Pools, poolEvents } from '../supply/pool.ts'
import { evolvePublishers, publisherEvents } from '../supply/publisher.ts'
import { routingKeyEvents } from '../supply/routing-key.ts'
import { changedRecords, type Revisions } from './entity-tags.ts'

/** The configuration of a workspace: everything that routing decides by. */
export interface WorkspaceState
  extends Tenants,
    Seats,
    Invitations,
    PublisherUsers,
    Buyers,
    Lanes,
    Campaigns,
    Routes,
    Numbers,
    Orders,
    Pools,
    ApiKeys,
    Verticals,
    Webhooks,
    Revisions {}

const initial: WorkspaceState = {
  workspace: null,
  seats: PersistentMap(),
  invitations: PersistentMap(),
  publisherUsers: PersistentMap(),
  publisherInvitations: PersistentMap(),
  buyers: PersistentMap(),
  publishers: PersistentMap(),
  lanes: PersistentMap(),
  routingKeys: PersistentMap(),
  campaigns: PersistentMap(),
  targets: PersistentMap(),
  routes: PersistentMap(),
  numbers: PersistentMap(),
  numberIds: PersistentMap(),
  orders: PersistentMap(),
  orderIds: PersistentMap(),
  renewals: PersistentMap(),
  pools: PersistentMap(),
  apiKeys: PersistentMap(),
  verticals: PersistentMap(),
  webhooks: PersistentMap(),
  webhookRemovals: PersistentMap(),
  revisions: PersistentMap(),
}

const events = {
  ...tenantEvents,
  ...seatEvents,
  ...invitationEvents,
  ...publisherUserEvents,
  ...buyerEvents,
  ...publisherEvents,
  ...laneEvents,
  ...routingKeyEvents,
  ...campaignEvents,
  ...targetEvents,
  ...routeEvents,
  ...numberEvents,
  ...orderEvents,
  ...poolEvents,
  ...apiKeyEvents,
  ...verticalEvents,
  ...webhookConfigEvents,
}

const evolve: SliceOf<WorkspaceState, typeof events> = {
  ...evolveTenants,
  ...evolveSeats,
  ...evolveInvitations,
  ...evolvePublisherUsers,
  ...evolveBuyers,
  ...evolvePublishers,
  ...evolveLanes,
  ...evolveCampaigns,
  ...evolveTargets,
  ...evolveRoutes,
  ...evolveNumbers,
  ...evolveOrders,
  ...evolvePools,
  ...evolveApiKeys,
  ...evolveVerticals,
  ...evolveWebhooks,
}

/** The configuration of a workspace, stream `workspace-<pp>-<id>`. */
export const workspace = defineEntity({
  name: 'workspace',
  version: 7,
  longLived: true,
  deduplicatesCommands: true,
  events,
  initial,
  evolve: withEvolveStep<WorkspaceState, typeof events>(evolve, (state, event) => ({
    ...state,
    revisions: changedRecords(event).reduce((revisions, id) => revisions.set(id, event.revision), state.revisions),
  })),
})
