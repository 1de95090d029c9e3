import { LRUCache } from 'lru-cache'
import type { Rotation } from '../domain/insertion/rotation.ts'
import { createSingleFlight } from '../kernel/async/single-flight.ts'
import type { Clock } from '../ports/clock.ts'
import type { LeaseEntries } from './lease-entries.ts'
import { createNumberQueue, type NumberQueue } from './number-queue.ts'

/** Pools whose numbers' order a process remembers. */
const MAX_POOLS = 2_000
/** After which time (ms) the order is read anew where other processes lease, too: they may have freed a number early. */
const REREAD_AFTER_MS = 5_000
/** The same where every number seems to be held: before a visitor shares one. */
const REREAD_FULL_AFTER_MS = 250

/** The order in which a pool's numbers are leased. */
export interface LeaseQueues {
  /** By the instant from which a number is free; 0 for one that was never leased. */
  readonly free: NumberQueue
  /** By a number's last lease, to its holder or beside it, as far as this process knows. */
  readonly leased: NumberQueue
}

interface KnownQueues extends LeaseQueues {
  readonly numbers: Rotation
  readonly readAt: number
}

/** Creates the orders of a process. The entries say who holds a number; the orders only say where to look first. */
export function createLeaseQueues(
  entries: Pick<LeaseEntries, 'holders'>,
  clock: Clock,
  { isAlone }: { readonly isAlone: boolean },
) {
  const known = new LRUCache<string, KnownQueues>({ max: MAX_POOLS })
  const flight = createSingleFlight<KnownQueues>()

  async function read(poolId: string, numbers: Rotation): Promise<KnownQueues> {
    const readAt = clock.now()
    const holders = await entries.holders(poolId, readAt)
    const earlier = known.get(poolId)?.leased
    const leasedAt = (id: string) => Math.max(holders.get(id)?.takenAt ?? 0, earlier?.at(id) ?? 0)
    const ids = [...numbers.keys()]
    const queues = {
      free: createNumberQueue(ids.map((id) => [id, holders.get(id)?.until ?? 0])),
      leased: createNumberQueue(ids.map((id) => [id, leasedAt(id)])),
      numbers,
      readAt,
    }
    known.set(poolId, queues)
    return queues
  }

  function isCurrent({ numbers, free, readAt }: KnownQueues, wanted: Rotation): boolean {
    if (numbers !== wanted || isAlone) return numbers === wanted
    const now = clock.now()
    const first = free.first()
    return now - readAt < (first && first.at <= now ? REREAD_AFTER_MS : REREAD_FULL_AFTER_MS)
  }

  return {
    /** The orders of the numbers that a pool leases. @throws StoreUnavailable */
    async of(poolId: string, numbers: Rotation): Promise<LeaseQueues> {
      for (;;) {
        const queues = known.get(poolId)
        if (queues && isCurrent(queues, numbers)) return queues
        const fresh = await flight(poolId, () => read(poolId, numbers))
        if (fresh.numbers === numbers) return fresh
      }
    },
    /** Whether no other process leases: the orders are right, not only where to look first. */
    areExact: isAlone,
    /** A number was leased at an instant (ms). */
    note: (poolId: string, numberId: string, at: number) => known.get(poolId)?.leased.set(numberId, at),
    /** Has the order of a pool read anew: numbers of it were freed early. */
    forget: (poolId: string) => void known.delete(poolId),
  }
}
