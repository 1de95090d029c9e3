import { PING } from '../../domain/shared/limits.ts'
import type { Clock } from '../../ports/clock.ts'
import type { OperationalStore } from '../../ports/operational-store.ts'

/** The next number of an auction of a workspace. Unique; they rise within the blocks of a process. @throws StoreUnavailable */
export type NextAuctionNumber = (workspaceId: string) => Promise<number>

interface Block {
  next: number
  last: number
}

const keyOf = (workspaceId: string) => `auction-numbers:${workspaceId}`

/**
 * Creates the source of auctions' numbers: each process takes blocks from the operational store. `highest` says the highest number in
 * use, asked once where the store has no entry: it may have been emptied.
 */
export function createAuctionNumbers({
  ops,
  clock,
  highest,
}: {
  readonly ops: Pick<OperationalStore, 'get' | 'putIf'>
  readonly clock: Clock
  readonly highest: (workspaceId: string) => Promise<number>
}): NextAuctionNumber {
  const blocks = new Map<string, Block>()
  const loading = new Map<string, Promise<Block>>()

  async function takeBlock(workspaceId: string): Promise<Block> {
    for (;;) {
      const entry = await ops.get(keyOf(workspaceId), clock.now())
      // Those in use may still be read: a block is left out behind them.
      const taken = entry ? Number(entry.value) : await emptyStart(workspaceId)
      const last = taken + PING.seqBlock
      if (await ops.putIf(keyOf(workspaceId), entry?.version ?? 0, last, null, clock.now()))
        return { next: taken + 1, last }
    }
  }

  async function emptyStart(workspaceId: string): Promise<number> {
    const found = await highest(workspaceId)
    return found === 0 ? 0 : found + 100 * PING.seqBlock
  }

  return async (workspaceId) => {
    for (;;) {
      const block = blocks.get(workspaceId)
      if (block && block.next <= block.last) return block.next++
      const load = loading.get(workspaceId) ?? takeBlock(workspaceId)
      loading.set(workspaceId, load)
      try {
        const taken = await load
        if (loading.get(workspaceId) === load) blocks.set(workspaceId, taken)
      } finally {
        if (loading.get(workspaceId) === load) loading.delete(workspaceId)
      }
    }
  }
}
