import { z } from 'zod'
import type { Upcast } from '../../kernel/entity.ts'
import { id, instant } from '../../kernel/wire.ts'
import { nameSchema, timezone } from '../shared/fields.ts'
import { NAME } from '../shared/limits.ts'
import { applyPatch } from '../shared/patch.ts'
import type { SliceOf } from '../shared/slice.ts'
import { planIds } from './plans.ts'

export const planId = z.enum(planIds)
export const subscriptionStatus = z.enum(['active', 'past_due', 'canceled'])

/** The tenant itself. */
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

/** What a workspace begins with. */
export const newWorkspace = workspaceRecord
  .pick({ name: true, timezone: true, planId: true })
  .extend({ sandbox: z.boolean().default(false) })

/** What the people of a workspace set of it. */
export const workspaceChanges = workspaceRecord.pick({ name: true, timezone: true }).partial()

/** These names are the storage format. */
export const tenantEvents = {
  WorkspaceCreated: z.object({ workspace: workspaceRecord }),
  SubscriptionChanged: z.object({ name: z.string(), from: subscriptionStatus, to: subscriptionStatus }),
  PlanChanged: z.object({ name: z.string(), from: planId, to: planId }),
  WorkspaceChanged: z.object({ name: z.string(), before: workspaceChanges, after: workspaceChanges }),
}

/** At first these did not say what the workspace was called. */
const withEmptyName: Upcast = (data) => ({ name: '', ...z.looseObject({}).parse(data) })
const withNewName: Upcast = (data) => {
  const { after } = z.looseObject({ after: workspaceChanges }).parse(data)
  return { ...z.looseObject({}).parse(data), name: after.name ?? '' }
}
export const tenantUpcasts = {
  SubscriptionChanged: [withEmptyName],
  PlanChanged: [withEmptyName],
  WorkspaceChanged: [withNewName],
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

/** What moves a workspace to a plan: nothing where it is on it. */
export function planChangedEvents({ name, planId: from }: Workspace, to: Workspace['planId']) {
  return from === to ? [] : [{ type: 'PlanChanged' as const, data: { name, from, to } }]
}

/** What moves a workspace's subscription: nothing where it stands so. */
export function subscriptionChangedEvents(
  { name, subscriptionStatus: from }: Workspace,
  to: Workspace['subscriptionStatus'],
) {
  return from === to ? [] : [{ type: 'SubscriptionChanged' as const, data: { name, from, to } }]
}
