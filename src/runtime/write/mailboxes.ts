import type { AnyCommand } from '../../kernel/command.ts'
import type { Entity } from '../../kernel/entity.ts'
import type { Refusal } from '../../kernel/refusal.ts'
import type { CommandContext, CommandResult } from '../../ports/command-handler.ts'
import type { Fold } from './fold.ts'

/** Mailboxes in memory; when there are more, half of those of short streams are dropped with their folds. */
const MAX_MAILBOXES = 5_000

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

/** The pending commands of one stream, and the stream's fold as far as this process knows it. */
export interface Mailbox {
  readonly stream: string
  readonly entity: Entity
  readonly waiting: PendingCommand[]
  busy: boolean
  fold: Fold | null
  /** An append was not acknowledged: the stream may hold more than the fold. */
  stale: boolean
  /** Revision of the last snapshot; -1 for none. */
  snapshotRevision: number
}

/** The mailboxes of a process, one for each stream. */
export interface Mailboxes {
  readonly all: () => Iterable<Mailbox>
  readonly mailboxOf: (entity: Entity, stream: string) => Mailbox
}

/** Creates the mailboxes of a process. */
export function createMailboxes(): Mailboxes {
  const mailboxes = new Map<string, Mailbox>()

  function dropIdle(): void {
    for (const [stream, { busy, waiting, entity }] of mailboxes) {
      if (mailboxes.size <= MAX_MAILBOXES / 2) return
      if (!busy && waiting.length === 0 && !entity.longLived) mailboxes.delete(stream)
    }
  }

  return {
    all: () => mailboxes.values(),
    mailboxOf(entity, stream) {
      const known = mailboxes.get(stream)
      if (known) return known
      const mailbox: Mailbox = {
        stream,
        entity,
        waiting: [],
        busy: false,
        fold: null,
        stale: false,
        snapshotRevision: -1,
      }
      mailboxes.set(stream, mailbox)
      if (mailboxes.size > MAX_MAILBOXES) dropIdle()
      return mailbox
    },
  }
}
