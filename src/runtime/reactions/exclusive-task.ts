import { createSingleFlight } from '../../kernel/async/single-flight.ts'
import type { Clock } from '../../ports/clock.ts'
import type { OperationalStore } from '../../ports/operational-store.ts'

/** How long a task's lease lasts (ms), so that another process can run the task when this one dies. */
const LEASE_MS = 15_000

/** Where processes acquire leases, and the name of this process there. */
export interface LeaseOwner {
  readonly ops: Pick<OperationalStore, 'acquireLease' | 'releaseLease'>
  readonly owner: string
}

/** Runs a task by its name; resolves to its results, empty when another process runs it. @throws StoreUnavailable */
export type RunExclusive<Result> = (name: string, task: () => Promise<readonly Result[]>) => Promise<readonly Result[]>

/** Lease-guarded single-flight: one run of a task at a time, over all processes. Callers in this process share its results. */
export function createExclusiveTasks<Result>({ ops, owner }: LeaseOwner, clock: Clock): RunExclusive<Result> {
  const singleFlight = createSingleFlight<readonly Result[]>()

  return (name, task) => {
    const key = `lone:${name}`
    return singleFlight(key, async () => {
      const now = clock.now()
      if (!(await ops.acquireLease(key, owner, now + LEASE_MS, now))) return []
      try {
        return await task()
      } finally {
        await ops.releaseLease(key, owner).catch(() => undefined)
      }
    })
  }
}
