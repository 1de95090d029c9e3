import { openConnection, withFileUnavailable } from './database.ts'
import { serveFile } from './worker.ts'

/** Handlers of the thread that moves a write-ahead log into its file. */
export type WalCheckpointCalls = {
  readonly checkpoint: () => void
}

/** A passive checkpoint waits for nobody, and nobody waits for it. */
serveFile<WalCheckpointCalls>((path) => {
  const db = openConnection(path)
  const run = db.prepare('PRAGMA wal_checkpoint(PASSIVE)')
  return {
    handlers: { checkpoint: () => void withFileUnavailable(() => run.all()) },
    close: () => db.close(),
  }
})
