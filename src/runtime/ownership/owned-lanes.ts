import type { Lane } from './lane.ts'
import type { StoredLease } from './leases.ts'

/** A lane that this process owns. */
export interface OwnedLane extends Lane {
  /** Epoch of the lease: a checkpoint that carries a later one belongs to a later owner. */
  readonly epoch: number
  /** Whether the lane is to be given back: its work stops, and then it is released. */
  readonly leaving: boolean
}

/** A request about a lane that was owned: to take it once more, later than an epoch, or to release it (null). */
interface Request {
  readonly lease: StoredLease
  readonly after: number | null
}

interface Held extends OwnedLane {
  readonly lease: StoredLease
}

const heldBy = (lease: StoredLease, leaving: boolean): Held => ({ ...lease.lane, epoch: lease.epoch, leaving, lease })

/** The lanes that a process owns, as its last look at the leases showed, and what it has requested since. */
export function createOwnedLanes(onChange: () => void) {
  let owned: ReadonlyMap<string, Held> = new Map()
  const requests = new Map<string, Request>()

  function set(lanes: Iterable<Held>): void {
    const next = new Map([...lanes].map((lane) => [lane.key, lane]))
    const isUnchanged = ({ key, epoch, leaving }: Held) => {
      const before = owned.get(key)
      return before?.epoch === epoch && before.leaving === leaving
    }
    const isSame = next.size === owned.size && [...next.values()].every(isUnchanged)
    owned = next
    if (!isSame) onChange()
  }

  return {
    all: (): ReadonlyMap<string, OwnedLane> => owned,
    /** Whether a lane is owned, or about to be released or taken once more. */
    concerns: (key: string) => owned.has(key) || requests.has(key),
    /** Disowns a lane at once; the next look does the rest. */
    request(key: string, after: number | null): void {
      const found = owned.get(key)
      if (!found) return
      requests.set(key, { lease: found.lease, after })
      set([...owned.values()].filter((lane) => lane !== found))
    },
    /** Fulfils the requests. One that another process has overtaken is over. */
    async fulfil(work: (lease: StoredLease, after: number | null) => Promise<unknown>): Promise<void> {
      await Promise.all(
        [...requests].map(async ([key, { lease, after }]) => {
          await work(lease, after)
          requests.delete(key)
        }),
      )
    },
    /** Lanes that are about to be released or taken once more. */
    requested: (): readonly Lane[] => [...requests.values()].map(({ lease }) => lease.lane),
    /** Makes the leases that name this process the owned ones; those that it does not `run` any more are released. */
    reconcile(leases: readonly StoredLease[], runs: (lane: Lane) => boolean): void {
      const mine = leases.filter(({ lane }) => !requests.has(lane.key))
      for (const lease of mine) if (!runs(lease.lane)) requests.set(lease.lane.key, { lease, after: null })
      const kept = mine.filter(({ lane }) => runs(lane))
      set(kept.map((lease) => heldBy(lease, owned.get(lease.lane.key)?.leaving ?? false)))
    },
    add(leases: readonly StoredLease[]): void {
      set([...owned.values(), ...leases.map((lease) => heldBy(lease, false))])
    },
    /** Marks lanes as those that are to be given back. */
    leave(keys: ReadonlySet<string>): void {
      set([...owned.values()].map((lane) => (keys.has(lane.key) ? { ...lane, leaving: true } : lane)))
    },
  }
}
