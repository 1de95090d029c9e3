import { createKeyedMutex, createMutex } from '../../kernel/async/mutex.ts'
import { createNextFlight } from '../../kernel/async/single-flight.ts'
import { yieldToEventLoop } from '../../kernel/async/yield-to-event-loop.ts'
import { type Entity, typedState } from '../../kernel/entity.ts'
import type { RecordedEvent } from '../../kernel/event.ts'
import type { Clock } from '../../ports/clock.ts'
import type { EventLog } from '../../ports/event-log.ts'
import type { OperationalStore } from '../../ports/operational-store.ts'
import { emptyFold, type Fold, foldEvents, type Mark, markFold } from './fold.ts'
import type { Mailbox } from './mailboxes.ts'
import { snapshotIdOf } from './snapshots/head.ts'
import { loadSnapshot } from './snapshots/load-snapshot.ts'
import { createPace } from './snapshots/pace.ts'
import { packLayers } from './snapshots/pack-layers.ts'
import { saveSnapshot } from './snapshots/save-snapshot.ts'

/** Events of a page when a stream is read. */
const PAGE = 1_000
/** Events that are folded between two turns of the event loop. */
const SLICE = 100
/** Events since the last snapshot for which another one is saved when a fold is dropped. Fewer are soon read again. */
const LEAST_SAVED = 100
/** Wait before a failed snapshot is tried again (ms). */
const RETRY_MS = 10_000

/** Loads the folds of mailboxes, and saves their snapshots. */
export interface FoldLoader {
  /**
   * The stream's fold. `fresh`: read to the tail of the stream after this call; otherwise a known fold is returned as it
   * is. Concurrent fresh loads of a stream share the next read. @throws LogUnavailable, and Error for a stream that lacks events
   */
  readonly foldOf: (mailbox: Mailbox, fresh: boolean) => Promise<Fold>
  /** The fold as it was at most so long ago (ms), without a wait where it is at hand; 0: read to the tail. @throws LogUnavailable */
  readonly recentFoldOf: (mailbox: Mailbox, maxAgeMs: number) => Fold | Promise<Fold>
  /**
   * Checks that the stream still has the newest event of its fold. Drops the fold of a stream that was truncated at its end, since every
   * append to it conflicts. @throws LogUnavailable; Error where the event is missing
   */
  readonly requireStored: (mailbox: Mailbox) => Promise<void>
  /**
   * Packs and saves the newest mark of a long stream, beside whatever else the thread does; null when that was done, or
   * has failed a moment ago. `leaves`: the fold will be dropped, so that it is marked and saved as it is if it has grown
   * by more than a few events. Never rejects: failures are reported.
   */
  readonly keepUp: (mailbox: Mailbox, leaves?: boolean) => Promise<void> | null
}

export interface FoldLoaderPorts {
  readonly log: EventLog
  readonly ops: OperationalStore
  readonly clock: Clock
  /** Name of this process among those that save snapshots. */
  readonly owner: () => string
  /** Events between two marks. */
  readonly markEvery: number
  /** Called for each snapshot that could not be saved or read. */
  readonly onSnapshotFailure: (stream: string, error: unknown) => void
  /** Called when a mailbox has another fold, or takes less memory than before. */
  readonly onChange: (mailbox: Mailbox) => void
}

/** Creates the fold loader of a process. */
export function createFoldLoader(ports: FoldLoaderPorts): FoldLoader {
  const { log, clock, markEvery, onChange } = ports
  const flight = createNextFlight<Fold>()
  const packing = createKeyedMutex()
  const saving = createMutex()

  const pack = (stream: string, mark: Pick<Mark, 'state' | 'commands'>) =>
    packing(stream, () => packLayers(mark, createPace()))

  /** Folds a page in slices; packs what a long read freezes, which would slow it down otherwise. */
  async function foldPage(entity: Entity, start: Fold, page: readonly RecordedEvent[]): Promise<Fold> {
    let fold = start
    for (let from = 0; from < page.length; from += SLICE) {
      if (from > 0) await yieldToEventLoop()
      fold = foldEvents(entity, fold, page.slice(from, from + SLICE), markEvery)
    }
    const [mark, stream] = [fold.marks.at(-1), page[0]?.stream]
    if (mark && stream !== undefined && page.length === PAGE && mark !== start.marks.at(-1)) await pack(stream, mark)
    return fold
  }

  /** Reads a mailbox's fold to the tail of its stream. */
  async function load(mailbox: Mailbox): Promise<Fold> {
    const { entity, stream } = mailbox
    const begun = clock.now()
    let fold = mailbox.fold ?? (await loadStart(ports, mailbox))
    for (let isTail = false; !isTail; ) {
      const page = await log.read(stream, fold.revision + 1, PAGE)
      requireNext(page, fold.revision)
      fold = await foldPage(entity, fold, page)
      isTail = page.length < PAGE
    }
    // A turn of the stream's own mailbox may have folded further during the read.
    if (!mailbox.fold || mailbox.fold.revision < fold.revision) mailbox.fold = fold
    mailbox.readAt = begun
    return mailbox.fold
  }

  function keepUp(mailbox: Mailbox, leaves = false): Promise<void> | null {
    const { entity, snapshots, fold } = mailbox
    if (snapshots.running || !fold || !entity.longLived) return snapshots.running
    if (leaves && fold.revision - snapshots.done >= LEAST_SAVED) mailbox.fold = markFold(entity, fold)
    const mark = mailbox.fold?.marks.at(-1)
    if (!mark || mark.revision <= snapshots.done) return null
    if (snapshots.failedAt !== null && clock.now() - snapshots.failedAt < RETRY_MS) return null
    const packAndSave = async () => {
      try {
        await pack(mailbox.stream, mark)
        await saving(() => save(ports, mailbox, mark))
        snapshots.failedAt = null
      } catch (error) {
        snapshots.failedAt = clock.now()
        ports.onSnapshotFailure(mailbox.stream, error)
      }
      snapshots.running = null
      onChange(mailbox)
    }
    snapshots.running = packAndSave()
    return snapshots.running
  }

  async function foldOf(mailbox: Mailbox, fresh: boolean): Promise<Fold> {
    if (mailbox.fold && !fresh) return mailbox.fold
    mailbox.reads += 1
    const isFirst = mailbox.fold === null
    try {
      return await flight(mailbox.stream, () => load(mailbox))
    } finally {
      mailbox.reads -= 1
      if (isFirst) onChange(mailbox)
      void keepUp(mailbox)
    }
  }

  return {
    foldOf,
    recentFoldOf(mailbox, maxAgeMs) {
      const isRecent = Math.abs(clock.now() - mailbox.readAt) < maxAgeMs && !mailbox.stale
      return (isRecent && mailbox.fold) || foldOf(mailbox, true)
    },
    async requireStored(mailbox) {
      const { fold, stream } = mailbox
      if (!fold || fold.revision < 0) return
      const [newest] = await log.read(stream, fold.revision, 1)
      if (newest) return
      mailbox.fold = null
      throw new Error(
        `Stream ${stream} has no revision ${fold.revision}, which this process has read before: the stream was truncated.`,
      )
    },
    keepUp,
  }
}

/** Checks that a page follows a revision: a state without the events before would be wrong. @throws Error */
function requireNext([first]: readonly RecordedEvent[], revision: number): void {
  if (first === undefined || first.revision <= revision + 1) return
  throw new Error(
    `Stream ${first.stream} goes on with revision ${first.revision} after ${revision < 0 ? 'nothing' : `revision ${revision}`}: the events between are gone from the event log.`,
  )
}

/** The fold from which a stream is read on: that of its snapshot, or none. */
async function loadStart(ports: FoldLoaderPorts, { entity, stream, snapshots }: Mailbox): Promise<Fold> {
  if (!entity.longLived) return emptyFold(entity)
  try {
    const { mark, damaged } = await loadSnapshot(ports, snapshotIdOf(entity, stream))
    if (mark) {
      snapshots.done = mark.revision
      const typed = { ...mark, state: typedState(entity, mark.state) }
      return { ...typed, marks: [typed] }
    }
    snapshots.damaged = damaged
    if (damaged !== null) ports.onSnapshotFailure(stream, new Error('The snapshot is damaged; it is made anew.'))
  } catch (error) {
    ports.onSnapshotFailure(stream, error)
  }
  return emptyFold(entity)
}

async function save(ports: FoldLoaderPorts, mailbox: Mailbox, mark: Mark): Promise<void> {
  const { entity, stream, snapshots, fold } = mailbox
  await saveSnapshot(ports, {
    id: snapshotIdOf(entity, stream),
    mark,
    known: fold?.marks ?? [],
    damaged: snapshots.damaged,
    owner: ports.owner(),
  })
  snapshots.done = mark.revision
  snapshots.damaged = null
}
