import { workspaces } from '../../../projections/workspaces.ts'
import { collectionOf, type Projection } from '../../kernel/projection.ts'
import type { Writing } from './writing.ts'

/**
 * Enters the workspace that a record of a projection belongs to, for the platform's staff, who are in none. Answers
 * false when there is no such record.
 */
export async function enterWorkspaceOf<Doc extends { readonly workspaceId: string }>(
  { tools: { views }, enter }: Pick<Writing<unknown, unknown>, 'tools' | 'enter'>,
  // biome-ignore lint/suspicious/noExplicitAny: which events a projection hears does not matter to its readers.
  projection: Projection<Doc, any>,
  id: string,
): Promise<boolean> {
  const stored = await views.get(collectionOf(projection), id)
  if (stored === null) return false
  const { workspaceId } = projection.doc.parse(stored.doc)
  const home = await views.get(collectionOf(workspaces), workspaceId)
  enter({ workspaceId, timezone: home ? workspaces.doc.parse(home.doc).timezone : 'UTC' })
  return true
}
