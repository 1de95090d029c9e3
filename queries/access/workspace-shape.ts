import { z } from 'zod'
import type { workspaces } from '../../projections/access/workspaces.ts'
import { planOf } from '../../src/domain/access/plans.ts'
import { workspaceRecord } from '../../src/domain/access/tenant.ts'
import type { DocOf } from '../shared/documents.ts'

/** A workspace with the features and limits of its plan. */
export const workspaceShape = workspaceRecord
  .extend({
    features: z.record(z.string(), z.boolean()),
    /** Maximum of records of each kind; null for unlimited. */
    ceilings: z.record(z.string(), z.int().nullable()),
  })
  .meta({ id: 'Workspace' })

/** A stored workspace in a response. */
export function workspaceShapeOf({ workspaceId, ...stored }: DocOf<typeof workspaces>) {
  const { name, timezone, planId, subscriptionStatus, sandbox, createdAt } = stored
  const { features, ceilings } = planOf(planId)
  return { id: workspaceId, name, timezone, planId, subscriptionStatus, sandbox, createdAt, features, ceilings }
}
