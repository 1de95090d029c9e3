import { FileUnavailable } from './database.ts'
import type { WalCheckpointCalls } from './wal-checkpoint-thread.ts'
import { type FileThread, openFileThread } from './worker-client.ts'

/** Bytes of the write-ahead log between two checkpoints, about: a commit waits for the disk while a checkpoint writes, so each is short. */
const EVERY_BYTES = 5 * 1024 * 1024

/** Checkpoints of a file's write-ahead log. */
export interface WalCheckpoints {
  /** Counts what was written to the log (bytes, about); begins a checkpoint when it is much. */
  readonly wrote: (bytes: number) => void
  readonly close: () => Promise<void>
}

/**
 * Creates the checkpoints of a file. They run in a thread of their own, which is started with the first: one of 64 MB, which
 * SQLite does in the thread that commits, holds it for some 40 ms or more. That one is left, and finds little to do.
 */
export function createWalCheckpoints(path: string): WalCheckpoints {
  let thread: FileThread<WalCheckpointCalls> | null = null
  let running: Promise<void> | null = null
  let written = 0

  async function run(): Promise<void> {
    thread ??= await openFileThread<WalCheckpointCalls>(
      new URL('./wal-checkpoint-thread.ts', import.meta.url),
      path,
      FileUnavailable,
    )
    await (await thread.remote()).checkpoint()
  }

  return {
    wrote(bytes) {
      written += bytes
      if (written < EVERY_BYTES || running) return
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
