import type { Clock } from '../../ports/clock.ts'
import type { OperationalStore } from '../../ports/operational-store.ts'

/** How long a piece of work is held for one process; one that died gives it up with that. */
const HELD_MS = 15_000

/** Where processes claim work, and under which name this one does. */
export interface LeaseOwner {
  readonly ops: Pick<OperationalStore, 'acquireLease' | 'releaseLease'>
  readonly owner: string
}

/**
 * Does each piece of work by its name one at a time: who comes while it is under way here shares what it comes to, and
 * gets nothing while another process is at it.
 */
export function createExclusiveTasks({ ops, owner }: LeaseOwner, clock: Clock) {
  const underWay = new Map<string, Promise<unknown>>()

  async function claimed<Result>(key: string, work: () => Promise<readonly Result[]>): Promise<readonly Result[]> {
    const now = clock.now()
    if (!(await ops.acquireLease(key, owner, now + HELD_MS, now))) return []
    try {
      return await work()
    } finally {
      await ops.releaseLease(key, owner).catch(() => undefined)
    }
  }

  return <Result>(what: string, work: () => Promise<readonly Result[]>): Promise<readonly Result[]> => {
    const going = underWay.get(what)
    if (going) return going as Promise<readonly Result[]>
    const mine = claimed(`lone:${what}`, work).finally(() => underWay.delete(what))
    underWay.set(what, mine)
    return mine
  }
}
