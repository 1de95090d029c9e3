import { Map as PersistentMap } from 'immutable'
import { z } from 'zod'
import { defineEntity } from '../../kernel/entity.ts'
import { sha256 } from '../../kernel/sha256.ts'
import { id, instant, wholeNumber } from '../../kernel/wire.ts'
import { e164 } from '../shared/fields.ts'
import { LEASE, POOL } from '../shared/limits.ts'

/** Id of a visitor's session on a number: unique over all workspaces, and not to be guessed. */
export const sessionId = z.string().regex(new RegExp(`^\\d{1,${LEASE.sessionDigits}}$`))
const { min, max } = LEASE.visitorId
/** The name that a page knows its visitor by. */
export const visitorId = z.string().regex(new RegExp(`^[A-Za-z0-9_-]{${min},${max}}$`))

/** The page that a number is shown on. `params` are those that the pool lists, as they are kept (`lease-page.ts`). */
export const leasePage = z.object({
  url: z.string().nullable(),
  referrer: z.string().nullable(),
  params: z.record(z.string(), z.string()),
})
export type LeasePage = Readonly<z.infer<typeof leasePage>>

const leaseKey = { sessionId, poolId: id, occurredAt: instant }
const leasedNumber = z.object({ id, e164 })

/** Why a lease ended. */
export const leaseEnd = z.enum(['expired', 'pool_paused', 'pool_deleted', 'key_rotated', 'number_left'])
export type LeaseEnd = z.infer<typeof leaseEnd>

/** Events of `pool-<id>`. These names are the storage format. */
export const leaseEvents = {
  LeaseTaken: z.object({
    ...leaseKey,
    visitorId,
    number: leasedNumber,
    campaignId: id,
    /** Another visitor holds the number. */
    overflow: z.boolean(),
    ...leasePage.shape,
    ttlSeconds: wholeNumber(POOL.ttlSeconds),
    /** Without a heartbeat. */
    expiresAt: instant,
  }),
  /** The visitor came back with another page or other parameters. */
  LeaseRevisited: z.object({ ...leaseKey, ...leasePage.shape }),
  /** `occurredAt` is the true expiry, after heartbeats. */
  LeaseEnded: z.object({ ...leaseKey, number: leasedNumber, reason: leaseEnd }),
}
export type LeaseTaken = Readonly<z.infer<typeof leaseEvents.LeaseTaken>>

/** A lease that has not ended. */
export interface OpenLease {
  readonly number: z.infer<typeof leasedNumber>
  readonly overflow: boolean
  /** Digest of its page. */
  readonly page: string
}

export interface PoolLeases {
  /** By session. */
  readonly open: PersistentMap<string, OpenLease>
  /** The session that holds a number, by number. */
  readonly holders: PersistentMap<string, string>
}

/** Digits of a digest that are kept: pages of one session are told apart by it. */
const DIGEST_DIGITS = 16

/** Digest of a page and its parameters. */
export function pageDigest({ url, referrer, params }: LeasePage): string {
  return sha256(JSON.stringify([url, referrer, Object.entries(params)])).slice(0, DIGEST_DIGITS)
}

/**
 * Leases of one pool: `pool-<id>`. Who holds a number is decided in the operational store; the state only makes events idempotent.
 */
export const poolLeases = defineEntity<PoolLeases, typeof leaseEvents>({
  name: 'pool',
  partitionedBy: 'workspace',
  version: 1,
  longLived: true,
  events: leaseEvents,
  initial: { open: PersistentMap(), holders: PersistentMap() },
  evolve: {
    LeaseTaken: ({ open, holders }, { data: { sessionId, number, overflow, ...page } }) => ({
      open: open.set(sessionId, { number, overflow, page: pageDigest(page) }),
      holders: overflow ? holders : holders.set(number.id, sessionId),
    }),
    LeaseRevisited(state, { data }) {
      const lease = state.open.get(data.sessionId)
      return lease ? { ...state, open: state.open.set(data.sessionId, { ...lease, page: pageDigest(data) }) } : state
    },
    LeaseEnded: ({ open, holders }, { data: { sessionId, number } }) => ({
      open: open.delete(sessionId),
      holders: holders.get(number.id) === sessionId ? holders.delete(number.id) : holders,
    }),
  },
})

/** The end of an open lease; none for one that has ended. */
export function leaseEndedEvents(
  { open }: PoolLeases,
  poolId: string,
  ended: { readonly sessionId: string; readonly occurredAt: string; readonly reason: LeaseEnd },
) {
  const lease = open.get(ended.sessionId)
  return lease ? [{ type: 'LeaseEnded' as const, data: { ...ended, poolId, number: lease.number } }] : []
}
