import { z } from 'zod'
import { id } from '../../kernel/wire.ts'
import { LEASE } from '../shared/limits.ts'
import type { Arrival } from './decision.ts'

/** A visitor's lease of the number that a call came to, as the call needs it. It is an input of the decision on the call. */
export const callLease = z.object({
  sessionId: z.string(),
  /** The pool that leased the number. */
  poolId: id,
  /** Parameters of the visitor's page, as they are kept. */
  params: z.record(z.string(), z.string()),
})
export type CallLease = Readonly<z.infer<typeof callLease>>

/** When a lease began, and when it ends or ended (ms). */
export interface LeaseTimes {
  readonly takenAt: number
  readonly until: number
}

/** Whether a call at an instant (ms) matches a lease: it was live then, or ended less than ten minutes before (Document 2). */
export function isMatchedBy({ takenAt, until }: LeaseTimes, at: number): boolean {
  return takenAt <= at && at - until < LEASE.matchSeconds * 1_000
}

/** The most recent of the leases that a call at an instant (ms) matches; of several of one instant the first. */
export function latestMatch<Lease extends LeaseTimes>(leases: readonly Lease[], at: number): Lease | null {
  return leases.reduce<Lease | null>(
    (latest, lease) => (isMatchedBy(lease, at) && (!latest || lease.takenAt > latest.takenAt) ? lease : latest),
    null,
  )
}

/** The tags of a call that come from its visitor's page. */
export function leaseTags({ params }: CallLease): Arrival['tags'] {
  return Object.fromEntries(Object.entries(params).map(([key, value]) => [key, { value, source: 'dni' }]))
}
