import { PARTITIONS } from '../../kernel/partition.ts'
import type { OperationalStore } from '../../ports/operational-store.ts'
import { type Lane, type LaneGroup, parseLaneKey } from './lane.ts'
import { FORGOTTEN_MS } from './presence.ts'

// A pool is a set of lanes that the same processes contend for: projections, or the work of workers. In the operational
// store it has an entry for the lease of each lane, and one for each process that contends.

/** The lease of a lane as stored. It expires at no instant: its owner loses it when it is gone (`presence.ts`). */
export interface StoredLease {
  readonly lane: Lane
  /** Null: released. */
  readonly owner: string | null
  /** Grows with each owner. */
  readonly epoch: number
  /** Version of the entry. */
  readonly version: number
}

/** A process that contends for lanes. */
export interface Candidacy {
  readonly groups: readonly LaneGroup[]
  /** Keys of lanes that it has given up for good. */
  readonly except: readonly string[]
}

/** A pool as stored. */
export interface Pool {
  /** By lane. */
  readonly leases: ReadonlyMap<string, StoredLease>
  /** By owner. */
  readonly candidates: ReadonlyMap<string, Candidacy>
}

/** The methods of the operational store that ownership needs. */
export type LeaseOps = Pick<OperationalStore, 'list' | 'put' | 'putIf' | 'delete'>

/** Pools of the platform. `work`: reactions and timers. */
export const POOLS = { projections: 'projections', work: 'work' } as const

interface LeaseValue {
  readonly owner: string | null
  readonly epoch: number
}

const leasePrefix = (pool: string) => `lanes:${pool}:lease:`
const candidatePrefix = (pool: string) => `lanes:${pool}:candidate:`

/** The leases of a pool, by lane. @throws StoreUnavailable */
export async function readLeases(
  ops: Pick<OperationalStore, 'list'>,
  pool: string,
  now: number,
): Promise<ReadonlyMap<string, StoredLease>> {
  const prefix = leasePrefix(pool)
  const entries = await ops.list(prefix, now)
  return new Map(
    entries.map(({ key, value, version }) => {
      const lane = parseLaneKey(key.slice(prefix.length))
      const { owner, epoch } = value as LeaseValue
      return [lane.key, { lane, owner, epoch, version }]
    }),
  )
}

/** The entries of one pool. Every method throws StoreUnavailable. */
export function createLeases(ops: LeaseOps, pool: string) {
  const write = (lane: Lane, version: number, value: LeaseValue, now: number) =>
    ops.putIf(`${leasePrefix(pool)}${lane.key}`, version, value, null, now)
  return {
    async read(now: number): Promise<Pool> {
      const prefix = candidatePrefix(pool)
      const [leases, candidates] = await Promise.all([readLeases(ops, pool, now), ops.list(prefix, now)])
      return {
        leases,
        candidates: new Map(candidates.map(({ key, value }) => [key.slice(prefix.length), value as Candidacy])),
      }
    },
    /** Takes a lease as it was read (undefined: there was none), under a later epoch; null when another was faster. */
    async take(
      lane: Lane,
      seen: StoredLease | undefined,
      owner: string,
      now: number,
      after = 0,
    ): Promise<StoredLease | null> {
      const epoch = Math.max(seen?.epoch ?? 0, after) + 1
      const version = seen?.version ?? 0
      return (await write(lane, version, { owner, epoch }, now)) ? { lane, owner, epoch, version: version + 1 } : null
    },
    /** Frees a lease. Nothing happens when another has it by now. */
    release: ({ lane, epoch, version }: StoredLease, now: number) => write(lane, version, { owner: null, epoch }, now),
    announce: (owner: string, candidacy: Candidacy, now: number) =>
      ops.put(`${candidatePrefix(pool)}${owner}`, candidacy, now + FORGOTTEN_MS),
    withdraw: (owner: string) => ops.delete(`${candidatePrefix(pool)}${owner}`),
    /** Deletes the leases of a group that nobody will run again. */
    async forget(group: string, now: number): Promise<void> {
      const entries = await ops.list(`${leasePrefix(pool)}${group}/`, now)
      await Promise.all(entries.map(({ key }) => ops.delete(key)))
    },
  }
}

export type Leases = ReturnType<typeof createLeases>

/** Whether a process with a candidacy can run a lane. */
export function canRun({ groups, except }: Candidacy): (lane: Lane) => boolean {
  const sizes = new Map(groups.map(({ name, shards }) => [name, PARTITIONS / shards]))
  const excepted = new Set(except)
  return ({ key, group, range: { from, to } }) => {
    const size = sizes.get(group)
    return size !== undefined && to - from + 1 === size && from % size === 0 && !excepted.has(key)
  }
}
