import {
  addKeyUsage,
  keyUsageEntry,
  type RoutingKeyUsage,
  type RoutingKeyUse,
  routingKeyUsage,
  UNUSED_KEY,
} from '../domain/supply/routing-key-use.ts'
import type { Clock } from '../ports/clock.ts'
import type { OperationalStore } from '../ports/operational-store.ts'
import { createBatchWriter } from './batch-writer.ts'

/** Counts the uses of routing keys in the operational store: written in batches, beside the calls and pings. */
export interface RoutingKeyUses {
  /** Adds a use, to be written soon. Neither waits nor throws. */
  readonly add: (use: RoutingKeyUse) => void
  /** Writes the pending uses; resolves also when they cannot be written. */
  readonly flush: () => Promise<void>
  /** Writes the pending uses. Those that cannot be written are lost. */
  readonly close: () => Promise<void>
}

type Store = Pick<OperationalStore, 'get' | 'putIf'>

/** Adds to the stored usage of a key by compare-and-set, since other processes add too. @throws StoreUnavailable */
async function addToStored(ops: Store, entryKey: string, added: RoutingKeyUsage, now: number): Promise<void> {
  for (let isWritten = false; !isWritten; ) {
    const entry = await ops.get(entryKey, now)
    const usage = addKeyUsage(entry ? routingKeyUsage.parse(entry.value) : UNUSED_KEY, added)
    isWritten = await ops.putIf(entryKey, entry?.version ?? 0, usage, null, now)
  }
}

/** Creates the counter of routing keys' uses. A process that is killed loses the uses of its last batch at most. */
export function createRoutingKeyUses({
  ops,
  clock,
  onLost = () => {},
}: {
  readonly ops: Store
  readonly clock: Clock
  /** Receives the number of uses lost, and the last error of the store. */
  readonly onLost?: (count: number, error: unknown) => void
}): RoutingKeyUses {
  const pending = new Map<string, RoutingKeyUsage>()
  let lastError: unknown = null

  const addPending = (entryKey: string, usage: RoutingKeyUsage) =>
    pending.set(entryKey, addKeyUsage(pending.get(entryKey) ?? UNUSED_KEY, usage))

  async function write(): Promise<boolean> {
    const batch = [...pending]
    pending.clear()
    const writes = batch.map(async ([entryKey, usage]) => {
      try {
        await addToStored(ops, entryKey, usage, clock.now())
      } catch (error) {
        lastError = error
        addPending(entryKey, usage)
      }
    })
    await Promise.all(writes)
    return pending.size === 0
  }

  const writer = createBatchWriter({ clock, write, isEmpty: () => pending.size === 0 })
  return {
    add({ at, ...key }) {
      addPending(keyUsageEntry(key), { useCount: 1, lastUsedAt: at })
      writer.schedule()
    },
    flush: writer.flush,
    async close() {
      if (await writer.close()) return
      onLost(
        [...pending.values()].reduce((sum, { useCount }) => sum + useCount, 0),
        lastError,
      )
    },
  }
}
