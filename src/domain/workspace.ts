import { Map as PersistentMap } from 'immutable'
import { z } from 'zod'
import { alsoEvolving, defineEntity, partsOfStream } from '../kernel/entity.ts'
import { id, instant } from '../kernel/wire.ts'
import { type ApiKeys, apiKeyEvents, evolveApiKeys } from './api-key.ts'
import { type Buyers, buyerEvents, evolveBuyers } from './buyer.ts'
import { type Campaigns, campaignEvents, evolveCampaigns } from './campaign.ts'
import { changed } from './changes.ts'
import { nameOf, timezone } from './fields.ts'
import { evolveLanes, type Lanes, laneEvents } from './lane.ts'
import { NAME } from './limits.ts'
import { evolveNumbers, type Numbers, numberEvents } from './number.ts'
import { evolveOrders, type Orders, orderEvents } from './order.ts'
import { planIds } from './plans.ts'
import { evolvePools, type Pools, poolEvents } from './pool.ts'
import { evolvePublishers, publisherEvents } from './publisher.ts'
import { type Revisions, recordsOf } from './record.ts'
import { evolveRoutes, type Routes, routeEvents } from './route.ts'
import { routingKeyEvents } from './routing-key.ts'
import { evolveSeats, type Seats, seatEvents, seatUpcasts } from './seat.ts'
import type { SliceOf } from './slice.ts'
import { evolveTargets, targetEvents } from './target.ts'
import { evolveVerticals, type Verticals, verticalEvents } from './vertical.ts'

export const planId = z.enum(planIds)
export const subscriptionStatus = z.enum(['active', 'past_due', 'canceled'])

/** The tenant itself. */
export const workspaceRecord = z.object({
  id,
  name: nameOf(NAME.workspace),
  timezone,
  planId,
  subscriptionStatus,
  sandbox: z.boolean(),
  createdAt: instant,
})
export type Workspace = Readonly<z.infer<typeof workspaceRecord>>

/** What a workspace begins with. */
export const newWorkspace = workspaceRecord
  .pick({ name: true, timezone: true, planId: true })
  .extend({ sandbox: z.boolean().default(false) })

/** What the people of a workspace set of it. */
export const workspaceChanges = workspaceRecord.pick({ name: true, timezone: true }).partial()

/** These names are the storage format. */
export const tenantEvents = {
  WorkspaceCreated: z.object({ workspace: workspaceRecord }),
  SubscriptionChanged: z.object({ from: subscriptionStatus, to: subscriptionStatus }),
  PlanChanged: z.object({ from: planId, to: planId }),
  WorkspaceChanged: z.object({ before: workspaceChanges, after: workspaceChanges }),
}

interface Tenants {
  readonly workspace: Workspace | null
}

/** All configuration of a workspace: the whole of what routing goes by, at any revision. */
export interface WorkspaceState
  extends Tenants,
    Seats,
    Buyers,
    Lanes,
    Campaigns,
    Routes,
    Numbers,
    Orders,
    Pools,
    ApiKeys,
    Verticals,
    Revisions {}

const evolveTenants: SliceOf<Tenants, typeof tenantEvents> = {
  WorkspaceCreated: (state, { data }) => ({ ...state, workspace: data.workspace }),
  SubscriptionChanged: (state, { data }) => ({
    ...state,
    workspace: state.workspace && { ...state.workspace, subscriptionStatus: data.to },
  }),
  PlanChanged: (state, { data }) => ({
    ...state,
    workspace: state.workspace && { ...state.workspace, planId: data.to },
  }),
  WorkspaceChanged: (state, { data }) => ({
    ...state,
    workspace: state.workspace && changed(state.workspace, data.after),
  }),
}

const initial: WorkspaceState = {
  workspace: null,
  seats: PersistentMap(),
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
  revisions: PersistentMap(),
}

const events = {
  ...tenantEvents,
  ...seatEvents,
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
}

const evolve: SliceOf<WorkspaceState, typeof events> = {
  ...evolveTenants,
  ...evolveSeats,
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
}

/** The configuration of a workspace: `workspace-<id>`. */
export const workspace = defineEntity({
  name: 'workspace',
  version: 4,
  longLived: true,
  remembersCommands: true,
  events,
  upcasts: seatUpcasts,
  initial,
  evolve: alsoEvolving<WorkspaceState, typeof events>(evolve, (state, event) => ({
    ...state,
    revisions: recordsOf(event).reduce((revisions, id) => revisions.set(id, event.revision), state.revisions),
  })),
})

/** What moves a workspace to a plan: nothing where it is on it. */
export function planMoved({ planId: from }: Workspace, to: Workspace['planId']) {
  return from === to ? [] : [{ type: 'PlanChanged' as const, data: { from, to } }]
}

/** What moves a workspace's subscription: nothing where it stands so. */
export function subscriptionMoved({ subscriptionStatus: from }: Workspace, to: Workspace['subscriptionStatus']) {
  return from === to ? [] : [{ type: 'SubscriptionChanged' as const, data: { from, to } }]
}

/** The workspace of an event of its stream. */
export function workspaceIdOf({ stream }: { readonly stream: string }): string {
  return partsOfStream(stream).id
}
