import type { Clock } from '../../ports/clock.ts'
import type { OperationalStore } from '../../ports/operational-store.ts'

/** Without a heartbeat for this long (ms) a process counts as gone, and others take over its calls. */
const GONE_MS = 3_000
/** How long (ms) the entry of a call that was not placed is kept: its process may only be slow. */
const UNPLACED_MS = 3_600_000
const MAX_CALLS = 10_000

const PREFIX = 'simulated-call:'
const callKey = (carrierCallId: string) => `${PREFIX}${carrierCallId}`
const ownerKey = (owner: string) => `simulator:${owner}`

/** This process's lease on a call. */
export interface CallLease {
  /** When its entry expires (ms); null where it does not. */
  readonly until: number | null
}

interface OwnershipPorts {
  readonly ops: OperationalStore
  readonly clock: Clock
  /** Names this process among those that share the stores. */
  readonly owner: string
}

/** Which process plays each call, in the operational store. All methods throw StoreUnavailable. */
export function createOwnership({ ops, clock, owner }: OwnershipPorts) {
  return {
    /** Says that this process is alive. */
    beat: () => ops.put(ownerKey(owner), true, clock.now() + GONE_MS),
    /** Says that this process is gone. */
    leave: () => ops.delete(ownerKey(owner)),
    /** The calls that some process plays, or played when it crashed. */
    async calls(): Promise<readonly string[]> {
      const entries = await ops.list(PREFIX, clock.now(), { limit: MAX_CALLS })
      return entries.map(({ key }) => key.slice(PREFIX.length))
    },
    /** Acquires a call that no living process owns, or, when `forced`, any; null when another process keeps it. */
    async acquire(carrierCallId: string, forced: boolean): Promise<CallLease | null> {
      const key = callKey(carrierCallId)
      const entry = await ops.get(key, clock.now())
      const holder = entry && String(entry.value)
      const isPlayed = holder && holder !== owner && (await ops.get(ownerKey(holder), clock.now()))
      if (isPlayed && !forced) return null
      const until = entry?.expiresAt ?? null
      return (await ops.putIf(key, entry?.version ?? 0, owner, until, clock.now())) ? { until } : null
    },
    /** Holds a call until it has ended. */
    hold: (carrierCallId: string) => ops.put(callKey(carrierCallId), owner, null),
    /** Holds a call that has not been placed yet, for a while only. */
    holdUnplaced: (carrierCallId: string, { until }: CallLease) =>
      ops.put(callKey(carrierCallId), owner, until ?? clock.now() + UNPLACED_MS),
    drop: (carrierCallId: string) => ops.delete(callKey(carrierCallId)),
  }
}

export type Ownership = ReturnType<typeof createOwnership>
