import { workspaces } from '../../projections/access/workspaces.ts'
import { named } from '../../src/domain/shared/fields.ts'
import type { ReadStore } from '../../src/ports/read-store.ts'
import { readReferenced } from './documents.ts'
import { nameReference } from './reference.ts'

/** The workspace of a row that the platform's staff reads; null in the moment before the workspace itself can be read. */
export const workspaceReference = named.nullable()

/** Rows with a reference to their workspace in place of its id. */
export async function withWorkspaces<Row extends { readonly workspaceId: string }>(
  views: Pick<ReadStore, 'getMany'>,
  rows: readonly Row[],
) {
  const owners = await readReferenced(views, workspaces, rows, ({ workspaceId }) => workspaceId)
  return rows.map(({ workspaceId, ...row }) => ({ ...row, workspace: nameReference(owners.get(workspaceId)) }))
}
