import { LRUCache } from 'lru-cache'
import type { AnyCommand } from '../../kernel/command.ts'
import type { Entity } from '../../kernel/entity.ts'
import type { Refusal } from '../../kernel/refusal.ts'
import type { CommandContext, CommandResult } from '../../ports/command-handler.ts'
import type { Fold } from './fold.ts'
import { foldBytes } from './fold-size.ts'

/** Estimated bytes of all folds in memory; above it, those that were used longest ago are dropped. */
export const MAX_FOLD_BYTES = 512 * 1024 ** 2
/** Mailboxes that are kept whatever they take: a decision uses several folds, and must not drop its own. */
const MIN_MAILBOXES = 16

/** A command that waits for its decision. */
export interface PendingCommand {
  readonly command: AnyCommand
  readonly input: unknown
  readonly context: CommandContext
  readonly seed: number
  /** Ids minted for the command, so that a repeated decision mints the same. */
  readonly ids: string[]
  readonly resolve: (result: CommandResult | Refusal) => void
  readonly reject: (error: unknown) => void
}

/** How far the snapshots of a stream are, as far as this process knows. */
export interface SnapshotProgress {
  /** Revision of the newest mark that was saved, or left to another process; -1 for none. */
  done: number
  /** When the last one failed (ms since the epoch); null when it did not. */
  failedAt: number | null
  /** What identifies the stored snapshot that could not be read; null for none. */
  damaged: string | null
  running: Promise<void> | null
}

/** The pending commands of one stream, and the stream's fold as far as this process knows it. */
export interface Mailbox {
  readonly stream: string
  readonly entity: Entity
  readonly waiting: PendingCommand[]
  busy: boolean
  /** Reads of the stream under way. */
  reads: number
  fold: Fold | null
  /** When the fold was last known to be that of the stream's tail (ms since the epoch). */
  readAt: number
  /** Bytes that the fold takes, estimated. */
  bytes: number
  /** An append was not acknowledged: the stream may hold more than the fold. */
  stale: boolean
  readonly snapshots: SnapshotProgress
}

/** The mailboxes of a process, one for each stream. */
export interface Mailboxes {
  readonly all: () => Iterable<Mailbox>
  readonly mailboxOf: (entity: Entity, stream: string) => Mailbox
  /** The fold of a stream that has a mailbox; null for any other. It does not count as used. */
  readonly knownFoldOf: (stream: string) => Fold | null
  /** Drops a mailbox that nothing uses. */
  readonly drop: (mailbox: Mailbox) => void
  /** Estimates anew what a mailbox takes, and drops others when all take too much. */
  readonly weigh: (mailbox: Mailbox) => void
}

function newMailbox(entity: Entity, stream: string): Mailbox {
  return {
    stream,
    entity,
    waiting: [],
    busy: false,
    reads: 0,
    fold: null,
    readAt: Number.NEGATIVE_INFINITY,
    bytes: 0,
    stale: false,
    snapshots: { done: -1, failedAt: null, damaged: null, running: null },
  }
}

const isIdle = ({ busy, waiting, reads, snapshots }: Mailbox) =>
  !busy && waiting.length === 0 && reads === 0 && snapshots.running === null

/**
 * Creates the mailboxes of a process. `keepUp` saves the snapshot of a mailbox if one is due, before it is dropped; null
 * when none is due.
 */
export function createMailboxes(
  keepUp: (mailbox: Mailbox) => Promise<void> | null,
  maxBytes = MAX_FOLD_BYTES,
): Mailboxes {
  // By last use. Their number has no bound: a mailbox in use is kept, whatever the others take.
  const mailboxes = new LRUCache<string, Mailbox>({ maxSize: Number.MAX_SAFE_INTEGER, sizeCalculation: () => 1 })
  let bytes = 0

  function dropUnused(): void {
    for (const mailbox of mailboxes.rvalues()) {
      if (bytes <= maxBytes || mailboxes.size <= MIN_MAILBOXES) return
      if (!mailbox || !isIdle(mailbox)) continue
      const saved = keepUp(mailbox)
      if (saved) void saved.then(dropUnused)
      else remove(mailbox)
    }
  }

  function remove(mailbox: Mailbox): void {
    mailboxes.delete(mailbox.stream)
    bytes -= mailbox.bytes
  }

  return {
    all: () => mailboxes.values(),
    mailboxOf(entity, stream) {
      const known = mailboxes.get(stream)
      if (known) return known
      const mailbox = newMailbox(entity, stream)
      mailboxes.set(stream, mailbox)
      return mailbox
    },
    drop(mailbox) {
      if (mailboxes.peek(mailbox.stream) === mailbox && isIdle(mailbox)) remove(mailbox)
    },
    knownFoldOf: (stream) => mailboxes.peek(stream)?.fold ?? null,
    weigh(mailbox) {
      if (mailboxes.peek(mailbox.stream) !== mailbox || !mailbox.fold) return
      const size = foldBytes(mailbox.fold, mailbox.entity.longLived)
      bytes += size - mailbox.bytes
      mailbox.bytes = size
      if (bytes > maxBytes) dropUnused()
    },
  }
}
