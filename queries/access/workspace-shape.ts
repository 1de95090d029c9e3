import { z } from 'zod'
import type { workspaces } from '../../projections/access/workspaces.ts'
import { planOf } from '../../src/domain/access/plans.ts'
import { workspaceRecord } from '../../src/domain/access/tenant.ts'
import type { DocOf } from '../shared/documents.ts'

/** A workspace, with what its plan lets it do. */
export const workspaceShape = workspaceRecord.extend({
  features: z.record(z.string(), z.boolean()),
  /** How many records of each kind the plan allows; null for no ceiling. */
  ceilings: z.record(z.string(), z.int().nullable()),
})

/** A stored workspace as it is answered. */
export function workspaceShapeOf({ workspaceId, ...stored }: DocOf<typeof workspaces>) {
  const { name, timezone, planId, subscriptionStatus, sandbox, createdAt } = stored
  const { features, ceilings } = planOf(planId)
  return { id: workspaceId, name, timezone, planId, subscriptionStatus, sandbox, createdAt, features, ceilings }
}
