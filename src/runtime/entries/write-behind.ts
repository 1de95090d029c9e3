import { createNextFlight } from '../../kernel/async/single-flight.ts'
import type { Clock } from '../../ports/clock.ts'
import { DELETED, type Entries, type Entry, type OperationalStore } from '../../ports/operational-store.ts'

/** What is to be stored of an entry; null deletes it. */
export type Write = Pick<Entry, 'value' | 'expiresAt'> | null

/** How long after a group of writes the next one is stored (ms), at the earliest, unless that is urgent. */
const GROUP_EVERY_MS = 10

/** Writes that are stored behind those who wrote them. */
export interface WriteBehind {
  readonly write: (key: string, write: Write) => void
  /** The newest write of an entry that is not known to be stored; undefined for none. */
  readonly unstored: (key: string) => Write | undefined
  /** Resolves once every write until now is stored, without a pause where that is urgent. @throws StoreUnavailable: the next call tries again */
  readonly stored: Entries['stored']
}

/** Stores writes together, one group after the other, and of an entry's the last. */
export function createWriteBehind(ops: Pick<OperationalStore, 'writeAll'>, clock: Clock): WriteBehind {
  const flight = createNextFlight<void>()
  let gathered = new Map<string, Write>()
  let storing: ReadonlyMap<string, Write> = new Map()
  let begunAt = Number.NEGATIVE_INFINITY
  let endPause: (() => void) | null = null
  /** Callers whose waiting is urgent. */
  let waiters = 0

  /** Waits until an instant (ms), or until what is gathered is urgent. */
  function pauseUntil(instant: number): Promise<void> {
    return new Promise((resolve) => {
      const cancel = clock.schedule(instant, resolve)
      endPause = () => {
        cancel()
        resolve()
      }
    })
  }

  async function storeGathered(): Promise<void> {
    if (gathered.size === 0) return
    const due = begunAt + GROUP_EVERY_MS
    if (clock.now() < due && waiters === 0) await pauseUntil(due)
    begunAt = clock.now()
    const writes = gathered
    storing = writes
    gathered = new Map()
    try {
      await ops.writeAll(Array.from(writes, ([key, write]) => ({ key, ...(write ?? DELETED) })))
    } catch (error) {
      // What was written since then is newer.
      gathered = new Map([...writes, ...gathered])
      throw error
    } finally {
      storing = new Map()
    }
  }

  const store = () => flight('', storeGathered)
  return {
    async stored({ urgent } = { urgent: false }) {
      if (!urgent) return store()
      waiters += 1
      endPause?.()
      try {
        await store()
      } finally {
        waiters -= 1
      }
    },
    unstored: (key) => (gathered.has(key) ? gathered.get(key) : storing.get(key)),
    write(key, write) {
      gathered.set(key, write)
      store().catch(() => undefined)
    },
  }
}
