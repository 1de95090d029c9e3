import type { WorkspaceState } from '../domain/configuration/workspace.ts'
import { type CallLease, type LeaseTimes, latestMatch } from '../domain/routing/call-lease.ts'
import type { Clock } from '../ports/clock.ts'
import type { LeaseEntries } from './lease-entries.ts'

/** The lease that a call matches, by the number that it came to and when; null for none. @throws StoreUnavailable, LogUnavailable */
export type LeaseOfCall = (
  workspaceId: string,
  call: { readonly to: string; readonly at: string },
) => Promise<CallLease | null>

type LeaseOfSession = LeaseTimes & { readonly sessionId: string }

/** Creates the look-up of the leases that calls match. */
export function createLeaseOfCall({
  entries,
  configuration,
  clock,
}: {
  readonly entries: LeaseEntries
  /** The workspace's configuration; a moment old will do. */
  readonly configuration: (workspaceId: string) => Promise<WorkspaceState>
  readonly clock: Clock
}): LeaseOfCall {
  /** Leases of a number in a pool that a call at an instant (ms) may match. */
  async function leasesOf(
    poolId: string,
    numberId: string,
    at: number,
    now: number,
  ): Promise<readonly LeaseOfSession[]> {
    const [{ value: holder }, sharing] = await Promise.all([
      entries.holder(poolId, numberId, now),
      entries.sharingAt(poolId, numberId, at, now),
    ])
    return [...(holder ? [holder] : []), ...(holder?.before ? [holder.before] : []), ...sharing]
  }

  return async (workspaceId, { to, at }) => {
    const { numbers, numberIds } = await configuration(workspaceId)
    const number = numbers.get(numberIds.get(to) ?? '')
    if (!number) return null
    const now = clock.now()
    const arrivedAt = Date.parse(at)
    const { value: left } = await entries.left(number.id, now)
    const pools = new Set([number.poolId, left?.poolId].filter((poolId) => typeof poolId === 'string'))
    const leases = await Promise.all([...pools].map((poolId) => leasesOf(poolId, number.id, arrivedAt, now)))
    const found = latestMatch(leases.flat(), arrivedAt)
    if (!found) return null
    const { value: session } = await entries.session(found.sessionId, now)
    return session && { sessionId: found.sessionId, poolId: session.poolId, params: session.params }
  }
}
