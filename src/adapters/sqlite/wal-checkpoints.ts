import { StoreUnavailable } from '../../ports/read-store.ts'
import type { WalCheckpointCalls } from './wal-checkpoint-thread.ts'
import { type FileThread, openFileThread } from './worker-client.ts'

/** Characters of documents between two checkpoints: with their columns and indexes some 10 MB of the write-ahead log. */
const EVERY_CHARACTERS = 2 * 1024 * 1024

/** Checkpoints of a file's write-ahead log. */
export interface WalCheckpoints {
  /** Counts what was written; begins a checkpoint when it is much. */
  readonly wrote: (characters: number) => void
  readonly close: () => Promise<void>
}

/**
 * Creates the checkpoints of a file of read models. They run in a thread of their own, which is started with the first: one of
 * 64 MB, which SQLite does in the thread that commits, holds it for some 40 ms. That one is left, and finds little to do.
 */
export function createWalCheckpoints(path: string): WalCheckpoints {
  let thread: FileThread<WalCheckpointCalls> | null = null
  let running: Promise<void> | null = null
  let written = 0

  async function run(): Promise<void> {
    thread ??= await openFileThread<WalCheckpointCalls>(
      new URL('./wal-checkpoint-thread.ts', import.meta.url),
      path,
      StoreUnavailable,
    )
    await (await thread.remote()).checkpoint()
  }

  return {
    wrote(characters) {
      written += characters
      if (written < EVERY_CHARACTERS || running) return
      written = 0
      // One that fails is made up for by the next.
      running = run()
        .catch(() => undefined)
        .finally(() => {
          running = null
        })
    },
    async close() {
      await running
      await thread?.close()
    },
  }
}
