import type { Clock } from '../ports/clock.ts'

/** Maximum time that something pending waits for more of its batch. */
const BATCH_MS = 250

/** Writes what is pending in batches, one at a time, beside the requests. */
export interface BatchWriter {
  /** Has the pending things written soon. */
  readonly schedule: () => void
  /** Writes what is pending; resolves also when it cannot be written. */
  readonly flush: () => Promise<void>
  /** Writes what is pending for the last time. Resolves to whether nothing is left. */
  readonly close: () => Promise<boolean>
}

/** Creates a batch writer. `write` resolves to whether nothing is left, and never rejects. */
export function createBatchWriter({
  clock,
  write,
  isEmpty,
}: {
  readonly clock: Clock
  readonly write: () => Promise<boolean>
  readonly isEmpty: () => boolean
}): BatchWriter {
  let writing: Promise<void> | null = null
  let cancel: (() => void) | null = null

  function writeNow(): Promise<void> {
    writing ??= write().then(() => {
      writing = null
    })
    return writing
  }

  function schedule(): void {
    cancel ??= clock.schedule(clock.now() + BATCH_MS, () => {
      cancel = null
      writing ??= write().then(() => {
        writing = null
        if (!isEmpty()) schedule()
      })
    })
  }

  return {
    schedule,
    async flush() {
      await writing
      await writeNow()
    },
    async close() {
      cancel?.()
      await writing
      const isDone = await write()
      cancel?.()
      return isDone
    },
  }
}
