import { Map as PersistentMap } from 'immutable'
import { z } from 'zod'
import { alsoEvolving, defineEntity, partsOfStream } from '../kernel/entity.ts'
import { id, instant } from '../kernel/wire.ts'
import { type ApiKeys, apiKeyEvents, evolveApiKeys } from './api-key.ts'
import { type Buyers, buyerEvents, evolveBuyers } from './buyer.ts'
import { type Campaigns, campaignEvents, evolveCampaigns } from './campaign.ts'
import { nameOf, timezone } from './fields.ts'
import { evolveLanes, type Lanes, laneEvents } from './lane.ts'
import { NAME } from './limits.ts'
import { evolveNumbers, type Numbers, numberEvents } from './number.ts'
import { planIds } from './plans.ts'
import { evolvePublishers, publisherEvents } from './publisher.ts'
import { type Revisions, recordsOf } from './record.ts'
import { evolveRoutes, type Routes, routeEvents } from './route.ts'
import type { SliceOf } from './slice.ts'
import { evolveTargets, targetEvents } from './target.ts'

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

/** These names are the storage format. */
export const tenantEvents = {
  WorkspaceCreated: z.object({ workspace: workspaceRecord }),
  SubscriptionChanged: z.object({ from: subscriptionStatus, to: subscriptionStatus }),
  PlanChanged: z.object({ from: planId, to: planId }),
}

interface Tenants {
  readonly workspace: Workspace | null
}

/** All configuration of a workspace: the whole of what routing goes by, at any revision. */
export interface WorkspaceState extends Tenants, Buyers, Lanes, Campaigns, Routes, Numbers, ApiKeys, Revisions {}

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
}

const initial: WorkspaceState = {
  workspace: null,
  buyers: PersistentMap(),
  publishers: PersistentMap(),
  lanes: PersistentMap(),
  routingKeys: PersistentMap(),
  campaigns: PersistentMap(),
  targets: PersistentMap(),
  routes: PersistentMap(),
  numbers: PersistentMap(),
  numberIds: PersistentMap(),
  apiKeys: PersistentMap(),
  revisions: PersistentMap(),
}

const events = {
  ...tenantEvents,
  ...buyerEvents,
  ...publisherEvents,
  ...laneEvents,
  ...campaignEvents,
  ...targetEvents,
  ...routeEvents,
  ...numberEvents,
  ...apiKeyEvents,
}

const evolve: SliceOf<WorkspaceState, typeof events> = {
  ...evolveTenants,
  ...evolveBuyers,
  ...evolvePublishers,
  ...evolveLanes,
  ...evolveCampaigns,
  ...evolveTargets,
  ...evolveRoutes,
  ...evolveNumbers,
  ...evolveApiKeys,
}

/** The configuration of a workspace: `workspace-<id>`. */
export const workspace = defineEntity({
  name: 'workspace',
  version: 2,
  longLived: true,
  remembersCommands: true,
  events,
  initial,
  evolve: alsoEvolving<WorkspaceState, typeof events>(evolve, (state, event) => ({
    ...state,
    revisions: recordsOf(event).reduce((revisions, id) => revisions.set(id, event.revision), state.revisions),
  })),
})

/** The workspace of an event of its stream. */
export function workspaceIdOf({ stream }: { readonly stream: string }): string {
  return partsOfStream(stream).id
}
