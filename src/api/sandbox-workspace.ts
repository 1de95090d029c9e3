import { users } from '../../projections/access/users.ts'
import { workspaces } from '../../projections/access/workspaces.ts'
import { readMany } from '../../queries/shared/documents.ts'
import { userIdOf } from '../domain/access/user.ts'
import type { Pool, Pools } from '../domain/supply/pool.ts'
import type { ReadStore } from '../ports/read-store.ts'

/** E-mail address of the owner of the workspace that the first start makes (Supplement §11). */
export const SANDBOX_OWNER = 'owner@sandbox.example'

/** Id of the workspace that the first start made; null where there is none yet. Operators make sandbox workspaces too. @throws StoreUnavailable */
export async function findSandbox(views: Pick<ReadStore, 'getMany'>): Promise<string | null> {
  const ownerId = userIdOf(SANDBOX_OWNER)
  const owner = (await readMany(views, users, [ownerId])).get(ownerId)
  const seats = owner?.seats.map(({ workspaceId }) => workspaceId) ?? []
  const theirs = await readMany(views, workspaces, seats)
  return seats.find((id) => theirs.get(id)?.sandbox) ?? null
}

/** The workspace's first pool: the one of its demo page, as long as nobody deletes it. */
export function firstPool({ pools }: Pools): Pool | undefined {
  return [...pools.values()].toSorted((one, other) => (one.createdAt < other.createdAt ? -1 : 1))[0]
}
