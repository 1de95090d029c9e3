import { createNextFlight } from '../../kernel/async/single-flight.ts'
import type { Clock } from '../../ports/clock.ts'
import type { EventLog } from '../../ports/event-log.ts'
import type { OperationalStore } from '../../ports/operational-store.ts'
import { emptyFold, type Fold, foldEvents } from './fold.ts'
import type { Mailbox } from './mailboxes.ts'
import { loadSnapshot, saveSnapshot } from './snapshots.ts'

/** Events of a page when a stream is read. */
const PAGE = 1_000
/** Events after which a snapshot of a long stream is saved again. */
const SNAPSHOT_EVERY = 2_000

/** Loads the folds of mailboxes, and saves their snapshots. */
export interface FoldLoader {
  /**
   * The stream's fold. `fresh`: read to the tail of the stream after this call; otherwise a known fold is returned as it
   * is. Concurrent fresh loads of a stream share the next read. @throws LogUnavailable
   */
  readonly foldOf: (mailbox: Mailbox, fresh: boolean) => Promise<Fold>
  /** Saves a snapshot of a long stream that has grown by at least `after` events (default: as often as snapshots are due). */
  readonly snapshot: (mailbox: Mailbox, after?: number) => Promise<void>
}

/** Creates the fold loader of a process. */
export function createFoldLoader(ports: {
  readonly log: EventLog
  readonly ops: OperationalStore
  readonly clock: Clock
}): FoldLoader {
  const { log, ops, clock } = ports
  const flight = createNextFlight<Fold>()

  /** Reads a mailbox's fold to the tail of its stream. */
  async function load(mailbox: Mailbox): Promise<Fold> {
    const { entity, stream } = mailbox
    const known = mailbox.fold ?? (entity.longLived ? await loadSnapshot(ops, entity, stream, clock.now()) : null)
    if (known && !mailbox.fold) mailbox.snapshotRevision = known.revision
    let fold = known ?? emptyFold(entity)
    for (let isTail = false; !isTail; ) {
      const page = await log.read(stream, fold.revision + 1, PAGE)
      fold = foldEvents(entity, fold, page)
      isTail = page.length < PAGE
    }
    // A turn of the stream's own mailbox may have folded further during the read.
    if (!mailbox.fold || mailbox.fold.revision < fold.revision) mailbox.fold = fold
    return mailbox.fold
  }

  return {
    async foldOf(mailbox, fresh) {
      if (mailbox.fold && !fresh) return mailbox.fold
      return flight(mailbox.stream, () => load(mailbox))
    },
    async snapshot(mailbox, after = SNAPSHOT_EVERY) {
      const { entity, fold, stream, snapshotRevision } = mailbox
      if (!entity.longLived || !fold || fold.revision - snapshotRevision < after) return
      mailbox.snapshotRevision = fold.revision
      await saveSnapshot(ops, entity, stream, fold)
    },
  }
}
