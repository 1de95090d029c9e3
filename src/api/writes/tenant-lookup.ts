import type { ZodType } from 'zod'
import { workspaces } from '../../../projections/access/workspaces.ts'
import { type AnyProjection, collectionOf } from '../../kernel/projection.ts'
import type { Tenant } from '../../kernel/query.ts'
import type { ReadStore } from '../../ports/read-store.ts'

/** A projection whose documents belong to a workspace each. */
export type TenantScoped = Pick<AnyProjection, 'name' | 'version'> & {
  readonly doc: ZodType<{ readonly workspaceId: string }>
}

/** The workspace that a record of a projection belongs to, for the platform's staff, who are in none; null for no such record. */
export async function tenantOf(
  views: Pick<ReadStore, 'get'>,
  projection: TenantScoped,
  id: string,
): Promise<Tenant | null> {
  const stored = await views.get(collectionOf(projection), id)
  if (stored === null) return null
  const { workspaceId } = projection.doc.parse(stored.doc)
  const home = await views.get(collectionOf(workspaces), workspaceId)
  return { workspaceId, timezone: home ? workspaces.doc.parse(home.doc).timezone : 'UTC' }
}
