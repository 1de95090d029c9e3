import type { AnyCommand } from '../../kernel/command.ts'
import type { Entity } from '../../kernel/entity.ts'
import type { Refusal } from '../../kernel/refusal.ts'
import type { Clock } from '../../ports/clock.ts'
import type { CommandContext, CommandResult } from '../../ports/command-handler.ts'
import type { EventLog } from '../../ports/event-log.ts'
import type { OperationalStore } from '../../ports/operational-store.ts'
import { emptyFold, type Fold, foldEvents } from './fold.ts'
import { loadSnapshot, saveSnapshot } from './snapshots.ts'

/** Events of a page when a stream is read. */
const PAGE = 1_000
/** Folds of short streams that are kept at hand. */
const MAX_MAILBOXES = 5_000
/** Events after which a long stream's fold is cached anew. */
const SNAPSHOT_EVERY = 2_000

/** A command that waits for its decision. */
export interface PendingCommand {
  readonly command: AnyCommand
  readonly input: unknown
  readonly call: CommandContext
  readonly seed: number
  /** Ids minted for the command, so that deciding again mints the same. */
  readonly ids: string[]
  readonly resolve: (outcome: CommandResult | Refusal) => void
  readonly reject: (error: unknown) => void
}

/** What waits for one stream, and the stream's fold as far as it is known here. */
export interface Mailbox {
  readonly stream: string
  readonly entity: Entity
  readonly waiting: PendingCommand[]
  busy: boolean
  fold: Fold | null
  /** An append was not acknowledged: the stream may hold more than the fold. */
  stale: boolean
  snapshotRevision: number
  /** Settles when no look at the tail is under way; `nextLook` is the one that has not begun, which all who ask meanwhile share. */
  looks: Promise<unknown>
  nextLook: Promise<Fold> | null
}

/** The mailboxes of a process, one for each stream. */
export interface Mailboxes {
  readonly mailboxOf: (entity: Entity, stream: string) => Mailbox
  /** The stream's fold, at its tail as far as it is known here; a fold at hand is only read on when `fresh`. */
  readonly foldOf: (mailbox: Mailbox, fresh: boolean) => Promise<Fold>
  /** Keeps the fold of a long stream that has grown much since it was last kept. */
  readonly saveSnapshot: (mailbox: Mailbox) => Promise<void>
  /** Keeps the folds of all long streams that have grown. */
  readonly saveSnapshots: () => Promise<void>
}

/** Makes the mailboxes of a process. */
export function createMailboxes({
  log,
  ops,
  clock,
}: {
  readonly log: EventLog
  readonly ops: OperationalStore
  readonly clock: Clock
}): Mailboxes {
  const mailboxes = new Map<string, Mailbox>()

  async function tail(entity: Entity, stream: string, from: Fold): Promise<Fold> {
    let fold = from
    for (;;) {
      const page = await log.read(stream, fold.revision + 1, PAGE)
      fold = foldEvents(entity, fold, page)
      if (page.length < PAGE) return fold
    }
  }

  function mailboxOf(entity: Entity, stream: string): Mailbox {
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
      looks: Promise.resolve(),
      nextLook: null,
    }
    mailboxes.set(stream, mailbox)
    if (mailboxes.size > MAX_MAILBOXES) forgetSome()
    return mailbox
  }

  function forgetSome(): void {
    for (const [stream, { busy, waiting, entity }] of mailboxes) {
      if (mailboxes.size <= MAX_MAILBOXES / 2) return
      if (!busy && waiting.length === 0 && !entity.longLived) mailboxes.delete(stream)
    }
  }

  async function foldOf(mailbox: Mailbox, fresh: boolean): Promise<Fold> {
    if (mailbox.fold && !fresh) return mailbox.fold
    if (mailbox.nextLook) return mailbox.nextLook
    const look = mailbox.looks.then(() => {
      mailbox.nextLook = null
      return lookAt(mailbox)
    })
    mailbox.nextLook = look
    mailbox.looks = look.catch(() => undefined)
    return look
  }

  async function lookAt(mailbox: Mailbox): Promise<Fold> {
    const { entity, stream } = mailbox
    const cached = mailbox.fold ?? (entity.longLived ? await loadSnapshot(ops, entity, stream, clock.now()) : null)
    if (cached && !mailbox.fold) mailbox.snapshotRevision = cached.revision
    const folded = await tail(entity, stream, cached ?? emptyFold(entity))
    // A turn of the stream's own mailbox may have folded further while this was read.
    if (!mailbox.fold || mailbox.fold.revision < folded.revision) mailbox.fold = folded
    return mailbox.fold
  }

  async function keep(mailbox: Mailbox, after: number): Promise<void> {
    const { entity, fold, stream, snapshotRevision } = mailbox
    if (!entity.longLived || !fold || fold.revision - snapshotRevision < after) return
    mailbox.snapshotRevision = fold.revision
    await saveSnapshot(ops, entity, stream, fold)
  }

  return {
    mailboxOf,
    foldOf,
    saveSnapshot: (mailbox) => keep(mailbox, SNAPSHOT_EVERY),
    async saveSnapshots() {
      await Promise.all([...mailboxes.values()].map((mailbox) => keep(mailbox, 1)))
    },
  }
}
