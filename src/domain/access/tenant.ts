import { z } from 'zod'
import { id, instant } from '../../kernel/wire.ts'
import { nameSchema, timezone } from '../shared/fields.ts'
import { NAME } from '../shared/limits.ts'
import { applyPatch } from '../shared/patch.ts'
import type { SliceOf } from '../shared/slice.ts'
import { planIds } from './plans.ts'

export const planId = z.enum(planIds)
export const subscriptionStatus = z.enum(['active', 'past_due', 'canceled'])

/** The record of a workspace. */
export const workspaceRecord = z.object({
  id,
  name: nameSchema(NAME.workspace),
  timezone,
  planId,
  subscriptionStatus,
  sandbox: z.boolean(),
  createdAt: instant,
})
export type Workspace = Readonly<z.infer<typeof workspaceRecord>>

/** The input of a new workspace. */
export const newWorkspace = workspaceRecord
  .pick({ name: true, timezone: true, planId: true })
  .extend({ sandbox: z.boolean().default(false) })

/** The settings that users of a workspace can change. */
export const workspaceChanges = workspaceRecord.pick({ name: true, timezone: true }).partial()

/** These names are the storage format. */
export const tenantEvents = {
  WorkspaceCreated: z.object({ workspace: workspaceRecord }),
  SubscriptionChanged: z.object({ name: z.string(), from: subscriptionStatus, to: subscriptionStatus }),
  PlanChanged: z.object({ name: z.string(), from: planId, to: planId }),
  WorkspaceChanged: z.object({ name: z.string(), before: workspaceChanges, after: workspaceChanges }),
}

export interface Tenants {
  readonly workspace: Workspace | null
}

export const evolveTenants: SliceOf<Tenants, typeof tenantEvents> = {
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
    workspace: state.workspace && applyPatch(state.workspace, data.after),
  }),
}

/** The event that moves a workspace to a plan; none when it is on that plan. */
export function planChangedEvents({ name, planId: from }: Workspace, to: Workspace['planId']) {
  return from === to ? [] : [{ type: 'PlanChanged' as const, data: { name, from, to } }]
}

/** The event that changes a workspace's subscription status; none when it has that status. */
export function subscriptionChangedEvents(
  { name, subscriptionStatus: from }: Workspace,
  to: Workspace['subscriptionStatus'],
) {
  return from === to ? [] : [{ type: 'SubscriptionChanged' as const, data: { name, from, to } }]
}
