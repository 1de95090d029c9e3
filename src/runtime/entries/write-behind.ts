import { createNextFlight } from '../../kernel/async/single-flight.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Entry, OperationalStore } from '../../ports/operational-store.ts'

/** What is to be stored of an entry; null deletes it. */
export type Write = Pick<Entry, 'value' | 'expiresAt'> | null

/** How long after a group of writes the next one is stored (ms), at the earliest. */
const GROUP_EVERY_MS = 10

/** Writes that are stored behind those who wrote them. */
export interface WriteBehind {
  readonly write: (key: string, write: Write) => void
  /** The newest write of an entry that is not known to be stored; undefined for none. */
  readonly unstored: (key: string) => Write | undefined
  /** Resolves once every write until now is stored. @throws StoreUnavailable: the next call tries again */
  readonly stored: () => Promise<void>
}

/** Stores writes together, one group after the other, and of an entry's the last. */
export function createWriteBehind(ops: Pick<OperationalStore, 'put' | 'delete'>, clock: Clock): WriteBehind {
  const flight = createNextFlight<void>()
  let gathered = new Map<string, Write>()
  let storing: ReadonlyMap<string, Write> = new Map()
  let begunAt = Number.NEGATIVE_INFINITY

  async function storeGathered(): Promise<void> {
    if (gathered.size === 0) return
    const due = begunAt + GROUP_EVERY_MS
    if (clock.now() < due) await new Promise<void>((resolve) => void clock.schedule(due, resolve))
    begunAt = clock.now()
    const writes = gathered
    storing = writes
    gathered = new Map()
    const results = await Promise.allSettled(
      Array.from(writes, ([key, write]) =>
        write === null ? ops.delete(key) : ops.put(key, write.value, write.expiresAt),
      ),
    )
    storing = new Map()
    const failed = results.find((result) => result.status === 'rejected')
    if (!failed) return
    // What was written since then is newer.
    gathered = new Map([...writes, ...gathered])
    throw failed.reason
  }

  const stored = () => flight('', storeGathered)
  return {
    stored,
    unstored: (key) => (gathered.has(key) ? gathered.get(key) : storing.get(key)),
    write(key, write) {
      gathered.set(key, write)
      stored().catch(() => undefined)
    },
  }
}
